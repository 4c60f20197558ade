/* output.h: where the profile goes, and the few words the recorder may say. */
#ifndef PLATFORM_OUTPUT_H
#define PLATFORM_OUTPUT_H

#include "base/base.h"

/* Create the profile under the name that HEAPTAP_OUT asks for, never overwriting: a descriptor,
 * with the absolute path in RET_PATH, or a negative error number. */
int output_open(char *ret_path, size_t path_bytes);

/* What the recorder may have to say; each process says one of them, once. */
enum output_event {
    OUTPUT_NOT_RECORDING, // This process will not be recorded.
    OUTPUT_CANNOT_GROW,   // It goes on without a file.
    OUTPUT_CUT_SHORT,     // Somebody else has cut the file short.
};

/* Tell EVENT, its cause (a negative error number) and the file's PATH in one line on stderr, unless
 * descriptor 2 is not what it was when the program began, is not that of `heaptap run`, or cannot
 * take the line at once. Signal-safe. */
void output_message(enum output_event event, int error, const char *path);

#endif
