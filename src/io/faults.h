/*
 * The faults of a file, all of them at once: whoever mends a table wants to know what is wrong with
 * it, not what is wrong first. A reader goes on behind a fault of one row or cell; in the end the
 * first FAULTS_KEPT are listed, one a line.
 */
#ifndef IO_FAULTS_H
#define IO_FAULTS_H

#include "base/status.h"

enum { FAULTS_KEPT = 20, FAULT_LENGTH = 320 };

/* All zero: none yet. */
struct faults {
    int64_t count;
    char text[FAULTS_KEPT][FAULT_LENGTH];
};

/* What a step of reading returned: a CONSM_EFORMAT is noted, with its message, and CONSM_OK comes
 * back; anything else passes. */
consm_status faults_take(struct faults *f, consm_status st);

/* CONSM_OK where there are none. A single one is the message; several stand below each other,
 * without the name of the file that the first line has. */
consm_status faults_status(const struct faults *f, const char *file);

#endif
