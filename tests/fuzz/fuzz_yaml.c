/* Fuzzes `--config` files: the flags of `consm train` from YAML. */
#include "commands.h"
#include "config_file.h"
#include "fuzz/scratch.h"

/* Discards error messages, which would hide libFuzzer's own lines. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere)
        stderr = nowhere;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct args args;
    struct config_file file = {0};
    char verb[] = "--config", path[64];
    char *argv[] = {verb, path, NULL};
    snprintf(path, sizeof path, "%s", scratch_file(data, size));
    if (args_parse(&args, &cmd_train, 2, argv) == EXIT_DONE)
        (void)config_file_apply(&file, &args);
    config_file_free(&file);
    return 0;
}
