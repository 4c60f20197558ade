/* unrecorded_counts.h: memory that `heaptap run --fail-on` shares with the processes of its run.
 *
 * A process without the recorder leaves no profile, so limits on the profiles would not apply to
 * it. The recorder in its parent process counts such processes here. The memory is a file without a
 * name; HEAPTAP_UNRECORDED is its path below /proc. */
#ifndef FORMAT_UNRECORDED_COUNTS_H
#define FORMAT_UNRECORDED_COUNTS_H

#include "base/base.h"

/* Offset of the struct in the file, and size of its mapping. The offset is not 0, because tools
 * take a shared mapping of the beginning of a file for a profile. */
enum { UNRECORDED_OFF = 4096, UNRECORDED_BYTES = 4096 };

struct unrecorded_counts {
    uint64_t session_id;
    uint64_t only_pid; // The one process to record, if the user excluded its children; 0 = all.
    uint64_t forked;   // Processes forked under a reserve that then had an event.
    uint64_t executed; // Programs executed without the recorder's variables.
    char first[64];    // Name of the first of these, NUL-terminated; "" = unknown.
    char only[1024];   // Patterns of program names to record, separated by commas; "" = all.
};
static_assert(sizeof(struct unrecorded_counts) <= UNRECORDED_BYTES, "one mapping");

#endif
