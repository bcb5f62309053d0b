/* A hash table with open addressing and a secret seed, so that no file can cause collisions on
 * purpose. */
#include "data/table/names.h"
#include "base/os.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#include "io/token.h"

void names_free(struct names *n)
{
    mem_free(n->text);
    mem_free(n->offset);
    mem_free(n->slot);
    *n = (struct names){0};
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t byte_at(const char *text, size_t place)
{
    return (uint64_t)(unsigned char)text[place] << 8 * place;
}

/* The first eight bytes of a text, padded with zeros; overlapping loads agree. */
static inline uint64_t head_of(const char *text, size_t length)
{
    uint64_t head = 0;
    uint32_t front, back;
    if (length >= 8) {
        memcpy(&head, text, 8);
    } else if (length >= 4) {
        memcpy(&front, text, 4);
        memcpy(&back, text + length - 4, 4);
        head = front | (uint64_t)back << 8 * (length - 4);
    } else if (length > 0) {
        head = byte_at(text, 0) | byte_at(text, length / 2) | byte_at(text, length - 1);
    }
    return head;
}

static uint64_t hash_text(const struct names *n, const char *text, size_t length)
{
    uint64_t h = n->secret ^ length;
    for (; length >= 8; text += 8, length -= 8)
        h = mix(h ^ head_of(text, 8), 0x9e3779b97f4a7c15u);
    return mix(h ^ head_of(text, length) ^ n->secret >> 7, 0xd6e8feb86659fd93u ^ n->secret);
}

static uint32_t tag_of(uint64_t h, size_t length)
{
    return (uint32_t)(h >> 40) << 8 | (uint32_t)(length < 255 ? length : 255);
}

/* The slot of that text, or the empty slot where it belongs. */
static struct name_slot *find_slot(const struct names *n, uint64_t h, const char *text,
                                   size_t length)
{
    size_t at = (size_t)h & (n->slots - 1);
    uint64_t head = head_of(text, length);
    uint32_t tag = tag_of(h, length);
    for (; n->slot[at].place; at = (at + 1) & (n->slots - 1)) {
        struct name_slot *s = &n->slot[at];
        int64_t index = (int64_t)s->place - 1;
        if (s->head == head && s->tag == tag &&
            (length <= 8 ||
             (names_length(n, index) == length && memcmp(names_at(n, index), text, length) == 0)))
            break;
    }
    return &n->slot[at];
}

int64_t names_find_hashed(const struct names *n, uint64_t hash, const char *text, size_t length)
{
    return n->slots == 0 ? -1 : (int64_t)find_slot(n, hash, text, length)->place - 1;
}

int64_t names_find(const struct names *n, const char *text, size_t length)
{
    return names_find_hashed(n, hash_text(n, text, length), text, length);
}

static void choose_secret(struct names *n)
{
    while (n->secret == 0)
        if (!os_random(&n->secret, sizeof n->secret))
            n->secret = (uint64_t)(uintptr_t)n;
}

/* A large table is accessed at random: large pages avoid most page table misses. */
static void ask_for_large_pages(void *block, size_t bytes)
{
    const uintptr_t page = 2 << 20;
    uintptr_t begin = ((uintptr_t)block + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)block + bytes) / page * page;
    if (end > begin)
        os_want_huge_pages((void *)begin, end - begin);
}

static consm_status grow_table(struct names *n)
{
    consm_status st = CONSM_OK;
    struct name_slot *slot;
    size_t slots = n->slots ? 2 * n->slots : 64;
    TRY(NEW(slot, slots));
    ask_for_large_pages(slot, slots * sizeof *slot);
    memset(slot, 0, slots * sizeof *slot);
    mem_free(n->slot);
    n->slot = slot;
    n->slots = slots;
    for (int64_t i = 0; i < n->count; i++) {
        const char *text = names_at(n, i);
        size_t length = names_length(n, i);
        uint64_t h = hash_text(n, text, length);
        size_t at = (size_t)h & (slots - 1);
        while (slot[at].place)
            at = (at + 1) & (slots - 1);
        slot[at] = (struct name_slot){head_of(text, length), tag_of(h, length), (uint32_t)i + 1};
    }
done:
    return st;
}

uint64_t names_hash(struct names *n, const char *text, size_t length)
{
    choose_secret(n);
    uint64_t h = hash_text(n, text, length);
    if (n->slots)
        __builtin_prefetch(&n->slot[h & (n->slots - 1)]);
    return h;
}

consm_status names_add_hashed(int64_t *index, struct names *n, uint64_t hash, const char *text,
                              size_t length)
{
    consm_status st = CONSM_OK;
    if ((size_t)n->count >= n->slots / 2)
        TRY(grow_table(n));
    struct name_slot *slot = find_slot(n, hash, text, length);
    *index = (int64_t)slot->place - 1;
    if (*index >= 0)
        return CONSM_OK;
    if (n->count >= INT32_MAX - 1)
        TRY(status_fail(CONSM_ELIMIT, "too many different names: the limit is %d", INT32_MAX - 1));
    TRY(GROW(n->text, n->text_used, n->text_capacity, length + 1));
    TRY(GROW(n->offset, n->count, n->offset_capacity, 1));
    n->offset[n->count] = n->text_used;
    memcpy(n->text + n->text_used, text, length);
    n->text[n->text_used + length] = 0;
    n->text_used += length + 1;
    *index = n->count++;
    *slot = (struct name_slot){head_of(text, length), tag_of(hash, length), (uint32_t)n->count};
done:
    return st;
}

consm_status names_add(int64_t *index, struct names *n, const char *text, size_t length)
{
    return names_add_hashed(index, n, names_hash(n, text, length), text, length);
}

/* A block of count pointers followed by room for `characters` bytes. */
static consm_status new_block(char ***out, char **text, int64_t count, size_t characters)
{
    size_t pointers = (size_t)count * sizeof(char *);
    *out = mem_alloc(pointers + characters, 1);
    if (!*out)
        return CONSM_ENOMEM;
    *text = (char *)*out + pointers;
    return CONSM_OK;
}

consm_status names_pack(char ***out, const struct names *n, const int32_t *order)
{
    consm_status st = CONSM_OK;
    char *text;
    TRY(new_block(out, &text, n->count, n->text_used));
    for (int64_t i = 0; i < n->count; i++) {
        int64_t from = order ? order[i] : i;
        size_t length = names_length(n, from) + 1;
        (*out)[i] = memcpy(text, names_at(n, from), length);
        text += length;
    }
done:
    return st;
}

consm_status names_pack_text(char ***out, const char *text, size_t bytes, int64_t count, bool copy)
{
    consm_status st = CONSM_OK;
    char *place;
    int64_t found = 0;
    *out = NULL;
    for (size_t i = 0; i < bytes; i++)
        found += text[i] == 0;
    if (found != count || (bytes > 0 && text[bytes - 1] != 0) || !utf8_valid(text, bytes))
        return CONSM_EFORMAT;
    TRY(new_block(out, &place, count, copy ? bytes : 0));
    const char *at = copy ? memcpy(place, text, bytes) : text;
    for (int64_t i = 0; i < count; i++) {
        (*out)[i] = (char *)at;
        at += strlen(at) + 1;
    }
done:
    return st;
}

bool names_are_places(const struct names *n)
{
    for (int64_t i = 0; i < n->count; i++)
        if (token_number(names_at(n, i), names_length(n, i)) != i)
            return false;
    return true;
}

struct sorted_name {
    int64_t number; /* or -1 */
    const char *text;
    int32_t index;
};

static int by_number_then_text(const void *a, const void *b)
{
    const struct sorted_name *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->text, y->text);
}

consm_status names_sort(int32_t **order, const struct names *n)
{
    consm_status st = CONSM_OK;
    struct sorted_name *list = NULL;
    bool numbers = true;
    *order = NULL;
    TRY(NEW(list, n->count));
    for (int64_t i = 0; i < n->count; i++) {
        int64_t number = token_number(names_at(n, i), names_length(n, i));
        list[i] = (struct sorted_name){number, names_at(n, i), (int32_t)i};
        numbers = numbers && number >= 0;
    }
    for (int64_t i = 0; !numbers && i < n->count; i++)
        list[i].number = -1;
    qsort(list, (size_t)n->count, sizeof *list, by_number_then_text);
    TRY(NEW(*order, n->count));
    for (int64_t i = 0; i < n->count; i++)
        (*order)[i] = list[i].index;
done:
    mem_free(list);
    return st;
}
