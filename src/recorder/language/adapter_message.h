/* adapter_message.h: writes the one message of an adapter. */
#ifndef LANGUAGE_ADAPTER_MESSAGE_H
#define LANGUAGE_ADAPTER_MESSAGE_H

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/environment.h"
#include "format/run_stderr.h"

/* Write LINE of SIZE_BYTES to descriptor 2 if that is the stderr of `heaptap run`. Otherwise write
 * nothing, because another program may parse what arrives there. Call while the program is
 * loaded. */
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
