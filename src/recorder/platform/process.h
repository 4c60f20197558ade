/* process.h: facts that the kernel passed to this process at its start. */
#ifndef PLATFORM_PROCESS_H
#define PLATFORM_PROCESS_H

#include "base/base.h"

/* Return the value of TYPE (AT_PHDR and so on, below 64) in the auxiliary vector; 0 if the vector
 * has none. The first call in the process reads the vector and must come before sys_be_quiet.
 * Async-signal-safe. */
uint64_t process_value(uint32_t type);

/* Return libc's own function NAME, even if the program defines another one; NULL in a static
 * program. Async-signal-safe. */
void *process_libc_function(const char *name);

/* Return libc's environment, or the kernel's if libc has none; NULL if neither exists.
 * Async-signal-safe. */
char **process_environment(void);

/* Return the environment that the kernel passed; NULL in a static program. Async-signal-safe. */
char **process_first_environment(void);

/* Read all these facts, find libc and the kernel's clock function, and start the unwinder.
 * Async-signal-safe. */
void process_learn(void);

#endif
