/* Compares two trained models: metrics, classes, and different settings. */
#ifndef CLI_REPORT_COMPARE_H
#define CLI_REPORT_COMPARE_H

#include "args.h"

/* `consm report A B`: folders of `consm train -o`, or model files. Prints tables, and writes a page
 * if -o names one. Returns the exit code. */
int report_compare(const struct args *args);

#endif
