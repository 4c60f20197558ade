/* recording.h: the recorder's settings, and passing them to it. */
#ifndef LAUNCH_RECORDING_H
#define LAUNCH_RECORDING_H

#include "util/arena.h"
#include "util/err.h"

/* Settings of the recorder. 0 and NULL mean the recorder's default. */
struct recording {
    const char *only; // Patterns of program names, separated by commas.
    uint64_t reserve_bytes;
    bool self_contained; // Keep the profile in memory that core dumps include.
    // Annotated blocks: number of return addresses, and bytes of the guard; OPT_ALONE = the
    // default. Every check_every events, a part of the blocks is checked.
    uint64_t annotate_frames, guard_bytes, check_every;
    uint64_t callers_period; // One allocation in this number has its callers recorded; 0 = all.
    uint64_t max_overhead; // Permitted cost in thousandths of a percent; 0 = any.
    uint64_t sample_bytes, sample_count; // Sampling period in bytes or calls.
    uint64_t frames;                     // Maximum number of innermost frames per stack.
    uint64_t delay_ms, duration_ms;
    uint64_t max_memory_bytes;
    uint64_t snapshot_growth_bytes;
    int snapshot_signal;
};

/* A run, and its libraries. */
struct recording_run {
    uint64_t session_id;
    const char *library; // The recorder.
    const char *adapters; // Entries of LD_PRELOAD to load after it, each with ':' in front.
    const char *node_options; // Value of NODE_OPTIONS; NULL = unchanged.
    const char *stubs;   // Entry of LD_PRELOAD to load before it; NULL = none.
    const char *pattern; // Path of the first process's profile.
    const char *others;  // Pattern of the other profiles; "" = record none, NULL = as the first.
    const char *unrecorded; // File that counts processes which are not recorded; NULL = none.
};

/* Find the recorder's library, beside this executable or where make install puts it. *RET_PATH is
 * from ARENA. Returns 0, or HEAPTAP_BAD_INPUT with ERR set if it does not exist. */
int recording_library(struct arena *arena, const char **ret_path, struct err *err);

/* Find the library that heaptap attach maps into a process, likewise. */
int recording_attached(struct arena *arena, const char **ret_path, struct err *err);

/* Return the entry of LD_PRELOAD for the recorder's library or an adapter at PATH. By this entry,
 * 64-bit programs load PATH and 32-bit programs an empty library. Returns PATH if the installation
 * or kernel does not support that; ld.so then prints an error in 32-bit programs. From ARENA. */
const char *recording_preload_entry(struct arena *arena, const char *path);

/* Return the environment of RUN's first process: the current one with the recorder's settings
 * replaced. Call it in that process. From ARENA. */
char **recording_environment(const struct recording *r, const struct recording_run *run,
                             struct arena *arena);

#endif
