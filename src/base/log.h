/* Messages from the library to the program that uses it. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "consm.h"

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
