/* run.h: one run of a program under the recorder, from its options to its profiles. */
#ifndef LAUNCH_RUN_H
#define LAUNCH_RUN_H

#include <sys/types.h>
#include <time.h>

#include "format/unrecorded_counts.h"
#include "launch/destination.h"
#include "launch/growth.h"
#include "launch/hook_run.h"
#include "launch/launch.h"
#include "launch/proc.h"
#include "launch/recording.h"
#include "launch/run_notes.h"
#include "profile/listing.h"
#include "profile/profile.h"

/* Options of the user; zero = the default of `heaptap run`. */
struct run_options {
    const char *output; // Pattern for profiles, or a directory.
    struct recording recording;
    bool force;        // Replace an existing profile at the destination.
    bool no_children;  // Record only the first process.
    struct hook_list hooks;
    struct adapter_choice adapters;
    uint64_t snapshot_every_ms;
    bool quiet; // Print errors only.
    bool counts_unrecorded; // Count processes that are not recorded.
};

struct recorded_run {
    const struct run_options *options;
    uint64_t id;      // Id of the session, in the headers of its profiles.
    time_t began;
    const char *path; // Path of the program.
    char **arguments;
    const char *library; // The recorder.
    struct adapters_chosen adapters;
    struct destination to;
    struct hook_run hooks;
    struct unrecorded_counts *unrecorded; // Shared with the processes; NULL = not counted.
    int unrecorded_fd; // Their file.
    int unrecorded_socket; // For processes that may not open the file; -1 = none.
    const char *unrecorded_path; // Names both to the processes.
    struct growth growth;
    uint64_t look_ns; // Time between two samples of the processes' memory.
    uint64_t look_due_ns; // Time of the next sample, by CLOCK_MONOTONIC.
    struct periodic periodic;
    pid_t pid;  // The first process.
    int status; // Status of the first process, as from wait.
    uint64_t oom_kills_before; // oom_kills before its start.
    bool oom_killed;           // SIGKILL ended it, and oom_kills had risen.
    // Times by CLOCK_MONOTONIC, before the process's start and after its end.
    uint64_t started_ns, ended_ns;
    struct arena arena;
};

/* Recordings that began and whose profiles are not among those of the run. */
struct run_lost {
    uint64_t ended, running; // Number of recordings, by the state of their process.
    // Texts about the first of each kind; NULL = unknown.
    const char *first_ended, *first_running;
};

/* Profiles of a run. */
struct run_profiles {
    const char **paths; // The first process's profile comes first, if it has one.
    bool *are_moved;    // For each: the program has moved it, or it is a copy; it stays there.
    bool *are_replaced; // For each: it is a copy without the latest events, and the recorder's file
                        // is gone. It is marked as damaged.
    size_t count;
    const char *directory; // Directory of the other profiles, or of all if they share one.
    struct run_lost lost;
};

/* Prepare to run the COUNT ARGUMENTS, program first: find the program and the recorder, and choose
 * the paths of profiles. OPTIONS must outlive R. Returns 0, or with ERR set HEAPTAP_NOT_FOUND if
 * there is no such program, HEAPTAP_NO_PROGRAM if it cannot be executed, or another error. After an
 * error only run_release is needed. */
int run_prepare(struct recorded_run *r, const struct run_options *options, int count,
                char **arguments, struct err *err);

/* Start the program, wait for its end, and store its id and status in R. Returns 0, or
 * HEAPTAP_BAD_INPUT with ERR set if it could not be started. */
int run_wait(struct recorded_run *r, struct err *err);

/* Find the profiles of the run, which must have ended, and the lost recordings. R owns them. */
void run_find_profiles(struct recorded_run *r, struct run_profiles *ret);

/* Add facts that the run's profiles lack to RET: memory that bypassed malloc, and hooks that were
 * never called. RUNNING is true if a process of the run still lives. */
void run_note(struct recorded_run *r, bool running, struct run_notes *ret);

void run_release(struct recorded_run *r);

/* --- run_unrecorded.c: count processes of a run that are not recorded. */

/* Create R's counts. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int run_unrecorded_begin(struct recorded_run *r, struct err *err);

/* If R's user excluded the program's children from recording, restrict the count of unrecorded
 * programs to the calling process. Call in the process that becomes the program. */
void run_unrecorded_enter(struct recorded_run *r);

/* Add the failures and recordings received by the socket to R's counts. */
void run_unrecorded_receive(struct recorded_run *r);

/* Receive, and return the number of recordings that have begun. Their profiles exist, unless they
 * are lost. */
uint64_t run_unrecorded_recordings(struct recorded_run *r);

/* Find the lost ones among the first BEGUN recordings: those whose profile is not among the COUNT
 * listed files V. */
void run_unrecorded_find_lost(struct recorded_run *r, uint64_t begun, const struct listed *v,
                              size_t count, struct run_lost *ret);

void run_unrecorded_end(struct recorded_run *r);

/* --- run_process.c: processes of a run, by their profiles, and the choice of the main process. */

/* A process between two execs, which has its own profile. The owner of the struct owns its
 * texts. */
struct run_process {
    const char *path; // Path of its profile.
    bool is_moved;    // The program has moved its profile there.
    uint32_t pid;
    uint64_t start_unix_ns;
    const char *executable, *command, *comm; // As in struct profile and session_who.
    struct counters totals;
    struct profile_losses losses;
    bool running; // The process lives and still writes its profile.
};

/* Reason for the choice of the main process. */
enum run_head {
    HEAD_NONE,   // There is not a profile.
    HEAD_FIRST,  // The process that was started.
    HEAD_BECAME, // The process that was started, after its last exec.
    // The process that allocated most: the started process did little itself, or was not recorded.
    HEAD_MOST,
};

/* Choose the main process of the run of FIRST_PID among the COUNT processes V, and store its index
 * in *RET. Return the reason; HEAD_NONE, with *RET unchanged, if COUNT is 0. */
enum run_head run_process_head(const struct run_process *v, size_t count, pid_t first_pid,
                               size_t *ret);

/* Return the index in V of process PID after its last exec, or COUNT. */
size_t run_process_last(const struct run_process *v, size_t count, pid_t pid);

#endif
