/* Fuzzes without libFuzzer and without sanitizers, for many executions. Takes the files of the
 * given folders, changes a few bytes, inserts, removes, joins two of them, and calls the target as
 * often as the time allows. It measures no coverage; it starts from what libFuzzer found. An input
 * that ends the process is left in the file named second. */

/*
 * usage: fuzz SECONDS FOUND FOLDER…
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
    __attribute__((weak));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

enum { MOST = 1 << 14, MOST_FILES = 20000, HANG_SECONDS = 60 };
static struct {
    uint8_t *bytes;
    size_t size;
} file[MOST_FILES];
static int files;
static uint8_t input[MOST];
static size_t input_size;
static const char *found;

/* xorshift64* */
static uint64_t state;
static uint32_t draw(uint32_t below)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545f4914f6cdd1du) >> 33) % below;
}

static void ended(int signal_number)
{
    int fd = open(found, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd >= 0)
        (void)!write(fd, input, input_size);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static size_t change(uint8_t *data, size_t size, size_t most)
{
    static const uint64_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff};
    const size_t at = size ? draw((uint32_t)size) : 0;
    size_t count = 1 + draw(8);
    switch (draw(7)) {
    case 0: /* a bit */
        if (size)
            data[at] ^= (uint8_t)(1u << draw(8));
        break;
    case 1: /* a byte */
        if (size)
            data[at] = (uint8_t)draw(256);
        break;
    case 2: /* a digit */
        if (size)
            data[at] = (uint8_t)('0' + draw(10));
        break;
    case 3: /* a number at an edge */
        count = count < size - at ? count : size - at;
        memcpy(data + at, &odd[draw(sizeof odd / sizeof *odd)], count);
        break;
    case 4: /* a piece twice */
        if (size && size + count <= most && at + count <= size) {
            memmove(data + at + count, data + at, size - at);
            size += count;
        }
        break;
    case 5: /* a piece less */
        if (at + count < size) {
            memmove(data + at, data + at + count, size - at - count);
            size -= count;
        }
        break;
    default: { /* another file's piece */
        const int other = (int)draw((uint32_t)files);
        count = file[other].size ? draw((uint32_t)file[other].size) : 0;
        count = at + count < most ? count : most - at;
        memcpy(data + at, file[other].bytes, count);
        size = at + count > size ? at + count : size;
    }
    }
    return size;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    for (uint32_t k = 1 + draw(4); k > 0; k--)
        size = change(data, size, most);
    return size;
}

static void read_folder(const char *path)
{
    DIR *dir = opendir(path);
    char name[1024];
    for (struct dirent *e; dir && files < MOST_FILES && (e = readdir(dir));) {
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(name, "rb");
        if (!f)
            continue;
        file[files].bytes = malloc(MOST);
        file[files].size = file[files].bytes ? fread(file[files].bytes, 1, MOST, f) : 0;
        files++;
        fclose(f);
    }
    if (dir)
        closedir(dir);
}

int main(int argc, char **argv)
{
    uint64_t runs = 0;
    if (argc < 4)
        return 2;
    const time_t end = time(NULL) + atol(argv[1]);
    found = argv[2];
    state = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15u + (uint64_t)getpid();
    for (int i = 3; i < argc; i++)
        read_folder(argv[i]);
    if (!files)
        return 2;
    for (int s = 0; s < 5; s++)
        signal((const int[]){SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGALRM}[s], ended);
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (; runs % 64 || time(NULL) < end; runs++) {
        const int k = (int)draw((uint32_t)files);
        memcpy(input, file[k].bytes, input_size = file[k].size);
        input_size = LLVMFuzzerCustomMutator && draw(2)
                         ? LLVMFuzzerCustomMutator(input, input_size, MOST, draw(1u << 30))
                         : LLVMFuzzerMutate(input, input_size, MOST);
        uint8_t *exact = malloc(
            input_size + !input_size); /* exact size, so that reading past the end is detected */
        if (!exact)
            return 1;
        memcpy(exact, input, input_size);
        alarm(HANG_SECONDS);
        LLVMFuzzerTestOneInput(exact, input_size);
        free(exact);
    }
    printf("%llu\n", (unsigned long long)runs);
    return 0;
}
