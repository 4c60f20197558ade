/* run_stderr.h: the value of HEAPTAP_STDERR, which names the stderr of `heaptap run`.
 *
 * "DEVICE:INODE", decimal. Two open files with the same numbers are the same file, even a pipe, a
 * socket or a terminal, because run keeps this file open as long as it lives. */
#ifndef FORMAT_RUN_STDERR_H
#define FORMAT_RUN_STDERR_H

#include "base/fmt.h"

#define RUN_STDERR_NONE "0:0" // Run has no stderr: no file has these numbers.

/* Return true if TEXT names the file INODE of DEVICE. Async-signal-safe. */
static inline bool
run_stderr_is(const char *text, uint64_t device, uint64_t inode)
{
    return parse_uint(&text) == device && *text++ == ':' && parse_uint(&text) == inode &&
           *text == '\0';
}

#endif
