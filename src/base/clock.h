/* Time and memory use of this process: for progress and benchmarks, never for results. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>

double clock_seconds(void);           /* monotonic */
double clock_processor_seconds(void); /* of all threads of this process so far */
double clock_peak_rss_mb(void); /* largest resident size of this process so far, in MB (10^6) */

/* Restarts the peak at the current size; false if the system cannot. */
bool clock_reset_peak_rss(void);

#endif
