/* report.html of one training run, for the command and for consm_report_write(). */
#ifndef API_REPORT_H
#define API_REPORT_H

#include "api/objects.h"

/* command is what the page says makes it again, or NULL. */
consm_status report_run(const char *path, const struct trained_run *run, const struct dataset *data,
                        const char *command);

#endif
