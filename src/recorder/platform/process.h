/* process.h: what the kernel told this process at its start. */
#ifndef PLATFORM_PROCESS_H
#define PLATFORM_PROCESS_H

#include "base/base.h"

/* The value of TYPE (AT_PHDR and so on, below 64) in the auxiliary vector; 0 if it has none. The
 * first call of the process learns it and must come before sys_be_quiet. Signal-safe. */
uint64_t process_value(uint32_t type);

/* libc's own function NAME, even if the program has another of that name; NULL in a static program.
 * Signal-safe. */
void *process_libc_function(const char *name);

/* The environment: libc's, or where libc has none the one that the kernel gave; NULL if there is
 * neither. Signal-safe. */
char **process_environment(void);

/* The one that the kernel gave; NULL in a static program. Signal-safe. */
char **process_first_environment(void);

/* Learn all of it now; find libc and the kernel's clock, and start the unwinder. Signal-safe. */
void process_learn(void);

#endif
