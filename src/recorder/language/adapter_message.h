/* adapter_message.h: an adapter's one message. */
#ifndef LANGUAGE_ADAPTER_MESSAGE_H
#define LANGUAGE_ADAPTER_MESSAGE_H

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/environment.h"
#include "format/run_stderr.h"

/* Write LINE of SIZE_BYTES to descriptor 2, unless that is not the stderr of `heaptap run`: then it
 * belongs to a program that reads what this one writes. Called while the program is loaded. */
static inline void
adapter_message(const char *line, size_t size_bytes)
{
    const char *wanted = secure_getenv(ENVIRONMENT_STDERR);
    struct stat st;
    ssize_t written;

    if (fstat(STDERR_FILENO, &st) != 0 ||
        (wanted != NULL && !run_stderr_is(wanted, st.st_dev, st.st_ino)))
        return;
    written = write(STDERR_FILENO, line, size_bytes);
    (void)written;
}

#endif
