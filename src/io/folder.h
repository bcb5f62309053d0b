/*
 * Folders that one process at a time may write, and folders that are replaced in one step. Whenever
 * the process is killed, the folder is the complete old one or the complete new one.
 */
#ifndef IO_FOLDER_H
#define IO_FOLDER_H

#include "base/status.h"

/* Locks a folder until it is unlocked or the process ends. CONSM_EIO if another process holds the
 * lock. A file system without locks locks nothing. */
consm_status folder_lock(int *lock, const char *path);
void folder_unlock(int lock); /* -1: nothing */

/* A folder that is being made; the caller fills it with files. */
struct folder_work {
    char *path, *target; /* current and final path */
    int lock;
};

/* Begins a folder beside the target under a temporary name. If the target cannot be replaced,
 * because it is the current folder, it is filled in place. */
consm_status folder_begin(struct folder_work *out, const char *target);

/* Replaces the target. Files that only the target has are kept; a folder inside it cannot be kept
 * and is an error. */
consm_status folder_commit(const struct folder_work *w);

/* Frees the names and removes what was abandoned or replaced. */
void folder_end(struct folder_work *w);

#endif
