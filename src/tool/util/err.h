/* err.h: results of functions that can fail, in the tools. They return 0 or a negative enum
 * heaptap_errc, and store one complete sentence in struct err: the problem, its place and the
 * remedy. They print nothing; only src/tool/command prints.
 */
#ifndef UTIL_ERR_H
#define UTIL_ERR_H

#include "base/base.h"

enum heaptap_errc {
    HEAPTAP_OK = 0,
    HEAPTAP_USAGE = -2,         // The caller's options make no sense. Exit code 2.
    HEAPTAP_BAD_INPUT = -3,     // A file or process is invalid. Exit code 3.
    HEAPTAP_BUG = -4,           // Our mistake. Exit code 4.
    HEAPTAP_NOT_FOUND = -5,     // Absence, not failure; ERR is not set.
    HEAPTAP_NO_DEBUG_INFO = -6, // Absence, not failure; ERR is not set.
    HEAPTAP_NO_PROGRAM = -7,    // A file to run is no program. Exit code 126 of `heaptap run`.
};

struct err {
    char text[1024]; // One sentence without a final newline; empty = no error.
};

/* Set E's text (E may be NULL) and return CODE, for use as `return err_set(...)`. */
int err_set(struct err *e, enum heaptap_errc code, const char *format, ...) PRINTF(3, 4);

/* Like err_set, and append ": " and the text of errno as it was on entry. */
int err_errno(struct err *e, enum heaptap_errc code, const char *format, ...) PRINTF(3, 4);

#endif
