/* output.h: create the profile, and write the recorder's few messages. */
#ifndef PLATFORM_OUTPUT_H
#define PLATFORM_OUTPUT_H

#include "base/base.h"

/* Create the profile under the name in HEAPTAP_OUT, never overwriting. Return a descriptor, with
 * the absolute path in RET_PATH; or a negative error number. */
int output_open(char *ret_path, size_t path_bytes);

/* Reasons for a message. Each process writes at most one message, once. */
enum output_event {
    OUTPUT_NOT_RECORDING, // This process will not be recorded.
    OUTPUT_CANNOT_GROW,   // It continues without a file.
    OUTPUT_CUT_SHORT,     // Another process has truncated the file.
};

/* Write EVENT, its cause (a negative error number) and the file's PATH to stderr, in one line. Does
 * nothing if descriptor 2 is another file than at the program's start or than in `heaptap run`, or
 * cannot take the line at once. Async-signal-safe. */
void output_message(enum output_event event, int error, const char *path);

#endif
