/* watch.h: read recorded processes again and again in a thread, for the screen and the server.
 *
 *     struct watch *w = watch_new(&options, &err);        the thread begins to read
 *     poll(watch_descriptor(w))                           something is new
 *     watch_processes(w, &arena, &count)                  the processes with their latest readings
 *     reading_release(r)                                  for each reading that was returned
 *
 * A profile is read again when an interval has passed, and not before 20 times the duration of the
 * last reading, so that all readings together take at most 5 % of a processor. Only the thread
 * touches profiles, /proc and symbols: other threads must not call functions of load, symbol, open
 * and profile's processes while a watch exists. */
#ifndef LIVE_WATCH_H
#define LIVE_WATCH_H

#include "open/symbolise.h"
#include "profile/profile.h"
#include "util/err.h"

struct watch;

/* The sums of a profile at the time of a reading; small enough to be kept. */
struct moment {
    uint64_t monotonic_ns; // When the reading began; 0 = no such moment.
    struct counters totals;
};

/* One reading of a profile. Readings are shared between threads and read-only. */
struct reading {
    const struct profile *p; // Symbolised, with the frames that the options select.
    void *digest;            // Result of watch_options.digest; NULL = none.
    uint32_t process;        // Id of the struct watched.
    bool repeated;           // Only the digest is new.
    uint64_t number;         // The readings of a process are numbered from 1; a repeated digest
                             // has a new number.
    uint64_t cost_ns;        // Duration of the reading.
    uint64_t unix_ns;        // Wall clock when it began.
    struct moment now;       // Sums of P.
    struct moment before;    // Sums of the reading before; without a time if this is the first.
};

/* A process, or a profile, that is watched. Entries are never removed: ended processes stay. */
struct watched {
    uint32_t id;          // From 1, constant.
    uint32_t pid;         // Process id in our namespace; 0 = unknown.
    const char *what;     // Argument for the other commands: a path or a process id.
    const char *trouble;  // Why the latest reading failed, as a sentence; NULL = it succeeded.
    bool ended;           // Its process has ended, and the latest reading is the last.
    struct reading *latest; // NULL = not read yet.
};

struct watch_options {
    const char *what;     // Directory, profile or process id; NULL = all recorded processes.
    uint64_t interval_ns; // Least time between two readings of a profile; 0 = read once.
    const struct view_options *view; // Symbols, and the frames to show.
    // Called in the thread with a new reading: returns what to keep with it. PREVIOUS is the digest
    // of the reading before, or NULL. P may be changed here, before others see it. May be NULL.
    void *(*digest)(void *arg, struct profile *p, const struct reading *reading,
                    const void *previous);
    void (*release)(void *digest); // Frees a digest.
    void *arg;
};

/* Watch OPTIONS, whose texts must live as long as the result. Returns NULL with ERR set if the
 * directory cannot be read, or the process is not recorded. A directory may be empty. */
struct watch *watch_new(const struct watch_options *options, struct err *err);

/* End the thread and free W. Waits for a reading in progress. */
void watch_free(struct watch *w);

/* Return true if a reading is in progress. A command that ends need not wait for it. */
bool watch_is_busy(struct watch *w);

/* Return a descriptor that is readable when there is something new since watch_processes. */
int watch_descriptor(const struct watch *w);

/* Return the processes from ARENA, the first found first. The caller releases each
 * reading. */
struct watched *watch_processes(struct watch *w, struct arena *arena, size_t *ret_count);

/* Read only the process ID from now on; 0 = all of them. */
void watch_only(struct watch *w, uint32_t id);

/* Do not read until this is called with false. */
void watch_pause(struct watch *w, bool pause);

/* Call `digest` again for the latest reading of process ID, without reading its profile. Without a
 * reading yet, the first one gets a digest made after this call. */
void watch_repeat(struct watch *w, uint32_t id);

/* Read process ID again when the rule permits, also if it has ended, because the user has chosen
 * other frames, or types. */
void watch_renew(struct watch *w, uint32_t id);

/* Call JOB in the thread, between two readings, also if W is freed before that. It may use
 * everything that the thread may. */
void watch_do(struct watch *w, void (*job)(void *arg), void *arg);

/* Release R, which may be NULL. */
void reading_release(struct reading *r);

/* Return another reference to R. */
struct reading *reading_keep(struct reading *r);

/* The change from one moment to a later one. */
struct moment_change {
    double seconds; // 0 = unknown: there is no earlier moment.
    struct profile_amounts amounts;
    int64_t live_bytes, live_blocks;
    int64_t short_lived; // Blocks that died within 16 allocations.
};

/* Return the change between two moments of one process. */
struct moment_change moment_difference(const struct moment *before, const struct moment *after);

/* Return the time to wait after a reading that took COST_NS, if COUNT profiles are read in turn. */
uint64_t watch_rest_ns(uint64_t interval_ns, uint64_t cost_ns, size_t count);

#endif
