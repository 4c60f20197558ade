/* run_stderr.h: the value of HEAPTAP_STDERR, which names the stderr of `heaptap run`.
 *
 * "DEVICE:INODE", decimal. Two open files with the same numbers are the same file, also where it is
 * a pipe, a socket or a terminal, because the one in question stays open while run lives.
 */
#ifndef FORMAT_RUN_STDERR_H
#define FORMAT_RUN_STDERR_H

#include "base/fmt.h"

#define RUN_STDERR_NONE "0:0" // Run has none: no file is called so.

/* Does TEXT name the file INODE of DEVICE? Signal-safe. */
static inline bool
run_stderr_is(const char *text, uint64_t device, uint64_t inode)
{
    return parse_uint(&text) == device && *text++ == ':' && parse_uint(&text) == inode &&
           *text == '\0';
}

#endif
