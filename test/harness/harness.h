/* harness.h: shared by the parts of the harness; harness.c explains its purpose. */
#ifndef TEST_HARNESS_H
#define TEST_HARNESS_H

#include "base/base.h"

/* --- The intercepted functions, under the names that the build gives them (prefix tap_) ------ */

void *tap_malloc(size_t size_bytes);
void *tap_calloc(size_t count, size_t each_bytes);
void *tap_realloc(void *p, size_t size_bytes);
void *tap_reallocarray(void *p, size_t count, size_t each_bytes);
void tap_free(void *p);
void tap_free_sized(void *p, size_t size_bytes);
int tap_posix_memalign(void **ret_p, size_t align, size_t size_bytes);
void *tap_aligned_alloc(size_t align, size_t size_bytes);
void *tap__Znwm(size_t size_bytes, uintptr_t second, uintptr_t third);
void tap__ZdlPv(void *p, uintptr_t second, uintptr_t third);
void *tap__ZnwmSt11align_val_t(size_t size_bytes, uintptr_t second, uintptr_t third);
void tap__ZdlPvSt11align_val_t(void *p, uintptr_t second, uintptr_t third);
int tap_dlclose(void *handle);

/* --- harness_heap.c: the real allocator ------------------------------------------------------ */

/* How it reports sizes; chosen before the first event. */
enum heap_mode { HEAP_GLIBC, HEAP_CALL, HEAP_NONE };

enum { HEAP_SIZE_MAX = 6000 }; // A request for more fails.

/* The path and the size of a block. Stored in front of the block; survives its free, until the
 * block is handed out again. */
struct heap_note {
    uint32_t path_and_lost; // Path << 1 | 1 if it was freed behind the recorder's back.
    uint32_t size_bytes;
};

void heap_start(enum heap_mode mode);

/* A thread takes a heap before its first event and gives it back at its end. */
void heap_enter(void);
void heap_leave(void);

struct heap_note *heap_note(void *p);

/* Free P without the recorder. */
void heap_release(void *p);

/* Fetch and clear the note of the lost block that this thread's latest block replaced. */
bool heap_take_lost(struct heap_note *ret_note);

/* The bounds of the blocks of all threads. */
void heap_area(uintptr_t *ret_from, uintptr_t *ret_to);

/* --- harness_heap.c too: thread ids that come again ------------------------------------------ */

void id_enter(void);
void id_leave(void);

/* --- harness_steps.c: known stacks ----------------------------------------------------------- */

enum { PATHS = 256, PATH_DEPTH = 6, STEP_KINDS = 8, STEP_PLUGIN = 7 };

struct path {
    uint8_t depth;
    uint8_t steps[PATH_DEPTH];
};

extern struct path paths[PATHS];

/* Make the paths from SEED; the last PLUGIN_PATHS of them lead through the plugin. */
enum { PLUGIN_PATHS = 16 };
void paths_make(uint64_t seed);

/* Calls its argument; defined in a library that was loaded for it. */
typedef void plugin_fn(void (*call)(void *), void *argument);

/* Do DEED(ARGUMENT) at the end of PATH. VARIANT selects among call sites that look the same. */
void path_walk(const struct path *path, uint32_t variant, plugin_fn *plugin, void (*deed)(void *),
               void *argument);

/* The kind of step whose code covers the return address ADDRESS; -1 if none. */
int step_at(uint64_t address);

/* --- harness_check.c: the expected counts, compared with the profile ------------------------- */

struct expected {
    struct {
        int64_t allocations, allocated_bytes, frees, freed_bytes;
    } path[PATHS];
    uint64_t failed_calls, unknown_frees, inherited_frees, overwritten_blocks;
    int64_t live_bytes, peak_bytes; // Only valid with one thread.
};

void expect_add(struct expected *sum, const struct expected *e);

/* Compare the profile at PATH with E; prints each difference and returns their number. EXACT_PEAK
 * if only one thread ran. */
int check_profile(const char *path, const struct expected *e, bool exact_peak);

/* --- harness_valid.c: the consistency of the recorder's structures ---------------------------- */

/* For ENSURE_VALID, while all threads are idle. They only read. */
bool ledger_is_valid(void);
bool nodes_are_valid(void);
bool peak_is_valid(void);

/* Break each word that these functions check, and repair it; print the unnoticed ones and return
 * their number. Events of all kinds must have occurred before. */
int check_validity(void);

#endif
