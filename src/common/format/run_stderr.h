/* run_stderr.h: the value of HEAPTAP_STDERR, which names the stderr of `heaptap run`.
 *
 * The value is "DEVICE:INODE", decimal. Run keeps this file open until it ends, so an open file
 * with these numbers is the same file, even if it is a pipe, a socket or a terminal. */
#ifndef FORMAT_RUN_STDERR_H
#define FORMAT_RUN_STDERR_H

#include "base/fmt.h"

#define RUN_STDERR_NONE "0:0" // Run has no stderr; no file has these numbers.

/* Return true if TEXT identifies the file INODE of DEVICE. Async-signal-safe. */
static inline bool
run_stderr_is(const char *text, uint64_t device, uint64_t inode)
{
    return parse_uint(&text) == device && *text++ == ':' && parse_uint(&text) == inode &&
           *text == '\0';
}

#endif
