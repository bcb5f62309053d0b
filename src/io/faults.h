/*
 * Collects all faults of a file, so that a user can fix them at once. A reader continues after a
 * fault of one row or cell; at the end the first FAULTS_KEPT are listed, one a line.
 */
#ifndef IO_FAULTS_H
#define IO_FAULTS_H

#include "base/status.h"

enum { FAULTS_KEPT = 20, FAULT_LENGTH = 320 };

/* Starts as all zero. */
struct faults {
    int64_t count;
    char text[FAULTS_KEPT][FAULT_LENGTH];
};

/* Takes the status of a reading step: notes a CONSM_EFORMAT with its message and returns CONSM_OK;
 * passes anything else on. */
consm_status faults_take(struct faults *f, consm_status st);

/* CONSM_OK if there are none. One fault is the message; several are listed one a line, and only the
 * first line names the file. */
consm_status faults_status(const struct faults *f, const char *file);

#endif
