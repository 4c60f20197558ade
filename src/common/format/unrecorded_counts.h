/* unrecorded_counts.h: memory that `heaptap run --fail-on` shares with the processes of its run.
 *
 * A process without the recorder leaves no profile, so limits on the profiles would not apply to
 * it. The recorder in its parent process counts such processes here. A process whose recorder
 * cannot start recording counts itself. The memory is a file without a name, below /proc.
 *
 * A program executed after a change of the user may not open the file. It sends a struct
 * unrecorded_failure as a datagram to a socket of the run. The socket has an abstract name, which
 * has no permissions. The socket's queue keeps the datagram until the run reads it.
 *
 * HEAPTAP_UNRECORDED is FILE:SOCKET, or FILE if there is no socket. */
#ifndef FORMAT_UNRECORDED_COUNTS_H
#define FORMAT_UNRECORDED_COUNTS_H

#include "base/base.h"

/* Offset of the struct in the file, and size of its mapping. The offset is not 0, because tools
 * take a shared mapping of the beginning of a file for a profile. */
enum { UNRECORDED_OFF = 4096, UNRECORDED_BYTES = 4096 };

/* A process that should be recorded, and whose recorder could not start. */
struct unrecorded_failure {
    uint64_t session_id;
    char name[64];   // Name of its executable, NUL-terminated; "" = unknown.
    char cause[184]; // Cause and remedy, NUL-terminated.
};

/* A process whose program has its own malloc. The recorder gets no event from the process, unless
 * that malloc calls the recorder's. So a process without a profile was not recorded. */
struct unrecorded_own_malloc {
    uint32_t pid;
    char name[60]; // As above, perhaps shortened.
};

struct unrecorded_counts {
    uint64_t session_id;
    uint64_t only_pid; // The one process to record, if the user excluded its children; 0 = all.
    uint64_t forked;   // Processes forked under a reserve that then had an event.
    uint64_t executed; // Programs executed without the recorder's variables.
    uint64_t failed;   // Processes whose recorder could not start.
    char first[64];    // Name of the first of these, NUL-terminated; "" = unknown.
    char only[1024];   // Patterns of program names to record, separated by commas; "" = all.
    struct unrecorded_failure first_failure;
    uint64_t own_mallocs; // Number of processes with their own malloc; the list has the first ones.
    struct unrecorded_own_malloc own_malloc[32];
};
static_assert(sizeof(struct unrecorded_counts) <= UNRECORDED_BYTES, "one mapping");

#endif
