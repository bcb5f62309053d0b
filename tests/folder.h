/* A folder in /tmp for each test of a file: setup and teardown of cmocka. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include "check.h"

#include <unistd.h>

static char folder[64];

/* Makes the folder, empty. */
static int fresh(void **state)
{
    (void)state;
    static int number;
    char command[128];
    snprintf(folder, sizeof folder, "/tmp/consm-folder-%ld-%d", (long)getpid(), number++);
    snprintf(command, sizeof command, "mkdir -p %s", folder);
    return system(command);
}

static int clean(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

#endif
