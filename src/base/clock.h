/* Time and memory as the machine tells them; for progress and benchmarks, never for results. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>

double clock_seconds(void);     /* monotonic */
double clock_peak_rss_mb(void); /* largest resident size of this process so far, in MB (10^6) */

/* Lets the peak begin anew at the present size; false where the system cannot. */
bool clock_reset_peak_rss(void);

#endif
