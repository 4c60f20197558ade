/* unrecorded_counts.h: memory that `heaptap run --fail-on` shares with the processes of its run.
 *
 * A profile may be lost before the run ends: removed, overwritten, or written in another mount
 * namespace. So each recorder lists its recording here, and the run looks for the profiles.
 *
 * A process without the recorder leaves no profile, so limits on the profiles would not apply to
 * it. The recorder in its parent process counts such processes here. A process whose recorder
 * cannot start recording counts itself. The memory is a file without a name, below /proc.
 *
 * A program executed after a change of the user or of the root directory may not open the file. It
 * sends a struct unrecorded_failure or begun_message as a datagram to a socket of the run; their
 * sizes differ. The socket has an abstract name, which has no permissions. The socket's queue keeps
 * the datagram until the run reads it.
 *
 * HEAPTAP_UNRECORDED is FILE:SOCKET, or FILE if there is no socket. */
#ifndef FORMAT_UNRECORDED_COUNTS_H
#define FORMAT_UNRECORDED_COUNTS_H

#include "base/base.h"

/* Offset of the struct in the file, and size of its mapping. The offset is not 0, because tools
 * take a shared mapping of the beginning of a file for a profile. */
enum { UNRECORDED_OFF = 4096, UNRECORDED_BYTES = 66 * 4096 };

/* A process that should be recorded, and whose recorder could not start. */
struct unrecorded_failure {
    uint64_t session_id;
    char name[64];   // Name of its executable, NUL-terminated; "" = unknown.
    char cause[184]; // Cause and remedy, NUL-terminated.
};

/* Why a program cannot be recorded, whatever its environment is. */
enum unrecordable {
    UNRECORDABLE_NO, // It can.
    UNRECORDABLE_STATIC,
    UNRECORDABLE_FOREIGN, // Another architecture.
    UNRECORDABLE_MUSL,
    UNRECORDABLE_RIGHTS, // Setuid, setgid or capabilities.
};

/* A process with another malloc in front of the recorder's: the program defines it, or a library
 * that was preloaded first. The process is recorded only if that malloc calls the recorder's. Its
 * profile proves nothing: the recorder gets the calls of functions that the other allocator lacks,
 * such as reallocarray. */
struct unrecorded_own_malloc {
    uint32_t pid;
    uint32_t calls_ours; // Atomic; 1 = the recorder's malloc was called.
    char name[56];       // As above, perhaps shortened.
    char library[64]; // Name of the library, NUL-terminated, perhaps shortened; "" = the program.
};

/* A recording that began, in 64 bytes. All members but the name are as in the header of the
 * profile, and identify it. */
struct begun_recording {
    uint64_t process_start, start_unix_ns, start_monotonic_ns;
    uint32_t pid;
    uint32_t is_complete; // Atomic; set after all other members.
    char name[32];        // Name of its executable, NUL-terminated, perhaps shortened.
};

struct begun_message {
    uint64_t session_id;
    struct begun_recording recording;
};

struct unrecorded_counts {
    uint64_t session_id;
    uint64_t only_pid; // The one process to record, if the user excluded its children; 0 = all.
    uint64_t forked;   // Processes forked under a reserve that then had an event.
    uint64_t executed; // Programs executed without the recorder's variables.
    uint64_t nested;   // Programs executed by a nested run without --fail-on.
    uint64_t unrecordable; // Executed programs that cannot be recorded.
    uint64_t failed;   // Processes whose recorder could not start.
    char first[64];    // Name of the first executed program, NUL-terminated; "" = unknown.
    char first_nested[64]; // The same of nested runs.
    char first_unrecordable[64]; // The same of programs that cannot be recorded,
    uint64_t first_why;          // and enum unrecordable.
    char only[1024];   // Patterns of program names to record, separated by commas; "" = all.
    struct unrecorded_failure first_failure;
    uint64_t own_mallocs; // Number of these processes; the list has the first ones.
    struct unrecorded_own_malloc own_malloc[32];
    uint64_t recordings; // Number of recordings that began; the list has the first ones.
    struct begun_recording recording[4096];
};
static_assert(sizeof(struct unrecorded_counts) <= UNRECORDED_BYTES, "one mapping");
static_assert(sizeof(struct begun_message) != sizeof(struct unrecorded_failure), "recognisable");

#endif
