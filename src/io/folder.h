/*
 * Folders that belong to one process at a time, and folders that are replaced in one step: what is
 * there is the old one or the new one, whole, whenever the process is killed.
 */
#ifndef IO_FOLDER_H
#define IO_FOLDER_H

#include "base/status.h"

/* Keeps others from writing into a folder until it is unlocked or the process ends. CONSM_EIO when
 * another process holds it. A file system without locks locks nothing. */
consm_status folder_lock(int *lock, const char *path);
void folder_unlock(int lock); /* -1: nothing */

/* A folder that is being made: the caller fills it with files. */
struct folder_work {
    char *path, *target; /* where it is now; where it will be */
    int lock;
};

/* Begins a folder beside the target under a name of its own. Where the target cannot be replaced,
 * because it is where the process stands, it is filled in its place. */
consm_status folder_begin(struct folder_work *out, const char *target);

/* Puts it in the target's place. Files that are in the target alone come along; a folder inside it
 * cannot, and is an error. */
consm_status folder_commit(const struct folder_work *w);

/* Frees the names, and removes what was given up or replaced. */
void folder_end(struct folder_work *w);

#endif
