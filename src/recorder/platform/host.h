/* host.h: the process that the recorder is a guest in: its environment, limits and program. All of
 * these may be called by any thread and in signal handlers. */
#ifndef PLATFORM_HOST_H
#define PLATFORM_HOST_H

#include "base/base.h"

/* The value of NAME in the environment, or NULL; always NULL in a setuid program (AT_SECURE). It is
 * the program's memory, and may change when the program changes its environment. */
const char *host_environment(const char *name);

/* The same as a number; 0 if it is none. */
uint64_t host_number(const char *name);

/* How many bytes of address space the program may have (RLIMIT_AS); UINT64_MAX = no limit. */
uint64_t host_address_limit(void);

/* The program's absolute path, as far as it can be told, ended by a NUL. Returns its length. */
size_t host_executable(char *ret_path, size_t path_bytes);

#endif
