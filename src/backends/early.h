/* Opens a card's driver while the command still reads data. */
#ifndef BACKENDS_EARLY_H
#define BACKENDS_EARLY_H

#include <stdbool.h>

/* A thread loads the library of the device and wakes the driver, which take a third of a second;
 * products: cuBLAS as well. Nothing happens for other devices; failures are found again, and
 * reported, by backend_open(). One at a time: backend_early_end() waits for it, before the process
 * ends. */
void backend_early(const char *name, bool products);
void backend_early_end(void);

#endif
