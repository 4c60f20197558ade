/* output.h: where the profile goes, and the few words the recorder may say. */
#ifndef MONITOR_OUTPUT_H
#define MONITOR_OUTPUT_H

#include "base/base.h"

/* The value of NAME in the environment, or NULL; always NULL in a setuid program (AT_SECURE). */
const char *output_environment(const char *name);

/* Create the profile under the name that HEAPTAP_OUT asks for, never overwriting: a descriptor,
 * with the absolute path in RET_PATH, or a negative error number. */
int output_open(char *ret_path, size_t path_bytes);

/* One line to stderr: "heaptap: TEXT" and DETAIL. */
void output_message(const char *text, const char *detail);

/* What to tell for a negative error number of output_open. */
const char *output_reason(int error);

/* RLIMIT_AS or RLIMIT_FSIZE in bytes; a huge number when unlimited. */
uint64_t output_limit(int resource);

#endif
