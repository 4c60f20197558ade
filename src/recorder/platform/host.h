/* host.h: the environment, limits and executable of the host process. Thread-safe and
 * async-signal-safe. */
#ifndef PLATFORM_HOST_H
#define PLATFORM_HOST_H

#include "base/base.h"

/* Return the value of NAME in the environment, or NULL; always NULL in a setuid program
 * (AT_SECURE). The program owns the memory and may change it together with its environment. */
const char *host_environment(const char *name);

/* Use SETTINGS, "NAME=VALUE" strings that end with an empty one, instead of the environment, and
 * the open file FD as the profile. For a recorder that a tool has attached: such a tool has all
 * rights over the process, so AT_SECURE does not matter. */
void host_use_settings(const char *settings, int fd);

/* Return the descriptor of the profile that host_use_settings has set; -1 = none. */
int host_given_profile(void);

/* Note that the caller closes this descriptor. host_drop_profile closes it otherwise. */
void host_profile_is_taken(void);
void host_drop_profile(void);

/* Note ERROR, a negative number, as the reason why recording does not start, for the tool. Only the
 * first one counts. host_failure returns it; 0 = none. */
void host_note_failure(int error);
int host_failure(void);

/* Return the value of NAME as a number; 0 if it is not set or not a number. */
uint64_t host_number(const char *name);

/* Return the limit on the program's address space in bytes (RLIMIT_AS); UINT64_MAX = no limit. */
uint64_t host_address_limit(void);

/* Store the program's path, NUL-terminated, and return its length. The path is absolute unless the
 * working directory is unknown. */
size_t host_executable(char *ret_path, size_t path_bytes);

/* --- dormant: decides if this copy of the recorder is active in this process. */

/* Owner and type of the note with which a linked recorder marks an executable. A tool or a second
 * recorder finds it in the file or in the running program, even after strip. Type 1 of the same
 * owner belongs to heaptap.h. */
#define DORMANT_NOTE_OWNER "heaptap"
enum { DORMANT_NOTE_TYPE = 2 };

/* Return true if the recorder must stay inactive. The result is constant in a process image and its
 * forked children. */
bool dormant_here(void);

/* Return true if recording must begin before the first event, because two threads could have their
 * first events concurrently. For a preloaded recorder this is impossible: events of the dynamic
 * linker or of thread creation come first. */
bool dormant_starts_early(void);

#endif
