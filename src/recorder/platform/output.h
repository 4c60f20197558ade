/* output.h: creates the profile, and writes the recorder's few messages. */
#ifndef PLATFORM_OUTPUT_H
#define PLATFORM_OUTPUT_H

#include "base/base.h"

/* Create the profile under the name in HEAPTAP_OUT; never overwrite a file. Return a descriptor,
 * with the absolute path in RET_PATH, or a negative error number. */
int output_open(char *ret_path, size_t path_bytes);

/* Events that cause a message. A process writes at most one message. */
enum output_event {
    OUTPUT_NOT_RECORDING, // Starting has failed: this process will not be recorded.
    OUTPUT_CANNOT_GROW,   // The file cannot grow; recording continues in memory only.
    OUTPUT_CUT_SHORT,     // Another process has truncated the file, or its disk failed.
};

/* Return the cause and the remedy of EVENT, which the negative ERROR number caused. A constant. */
const char *output_cause(enum output_event event, int error);

/* Write one line to stderr: EVENT, its cause (a negative error number) and the file's PATH. Write
 * nothing if descriptor 2 is another file than at the program's start, or another than the stderr
 * of `heaptap run`. Write nothing either if the line cannot be written at once.
 * Async-signal-safe. */
void output_message(enum output_event event, int error, const char *path);

#endif
