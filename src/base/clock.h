/* Time and memory as the machine tells them; for progress and benchmarks, never for results. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_seconds(void);     /* monotonic */
double clock_peak_rss_mb(void); /* largest resident size of this process so far, in MB (10^6) */

#endif
