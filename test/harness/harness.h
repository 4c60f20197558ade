/* harness.h: declarations shared by the parts of the harness; harness.c explains its purpose. */
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

/* The recorder's source for the sizes of blocks; set before the first event. */
enum heap_mode { HEAP_GLIBC, HEAP_CALL, HEAP_NONE };

enum { HEAP_SIZE_MAX = 6000 }; // Maximum size of an allocation; larger ones fail.

/* Path and size of a block, stored in front of it. After a free, the note stays until the block is
 * allocated again. */
struct heap_note {
    uint32_t path_and_lost; // Path << 1, plus 1 if the block was freed behind the recorder's back.
    uint32_t size_bytes;
};

void heap_start(enum heap_mode mode);

/* Reserve a heap for the calling thread, before its first event; release it when the thread
 * ends. */
void heap_enter(void);
void heap_leave(void);

struct heap_note *heap_note(void *p);

/* Free P without the recorder. */
void heap_release(void *p);

/* Store the note of the lost block that this thread's latest block replaced in *RET_NOTE, and clear
 * it. Return false if there is none. */
bool heap_take_lost(struct heap_note *ret_note);

/* Store the bounds of the blocks of all threads. */
void heap_area(uintptr_t *ret_from, uintptr_t *ret_to);

/* --- harness_heap.c: thread ids that are reused ----------------------------------------------- */

void id_enter(void);
void id_leave(void);

/* --- harness_steps.c: known stacks ----------------------------------------------------------- */

enum { PATHS = 256, PATH_DEPTH = 6, STEP_KINDS = 8, STEP_PLUGIN = 7 };

struct path {
    uint8_t depth;
    uint8_t steps[PATH_DEPTH];
};

extern struct path paths[PATHS];

/* Create the paths from SEED. The last PLUGIN_PATHS of them call through the plug-in. */
enum { PLUGIN_PATHS = 16 };
void paths_make(uint64_t seed);

/* A function of a loaded library, which calls CALL(ARGUMENT). */
typedef void plugin_fn(void (*call)(void *), void *argument);

/* Call DEED(ARGUMENT) at the end of PATH. VARIANT selects a call site among several with the
 * same callee. */
void path_walk(const struct path *path, uint32_t variant, plugin_fn *plugin, void (*deed)(void *),
               void *argument);

/* Return the kind of step whose code contains the return address ADDRESS, or -1. */
int step_at(uint64_t address);

/* --- harness_check.c: the expected counts, compared with the profile ------------------------- */

struct expected {
    struct {
        int64_t allocations, allocated_bytes, frees, freed_bytes;
    } path[PATHS];
    uint64_t failed_calls, unknown_frees, inherited_frees, overwritten_blocks;
    int64_t live_bytes, peak_bytes; // Valid only if one thread ran.
};

void expect_add(struct expected *sum, const struct expected *e);

/* Compare the profile at PATH with E, print each difference and return the number of differences.
 * With EXACT_PEAK, when only one thread ran, compare the peak as well. */
int check_profile(const char *path, const struct expected *e, bool exact_peak);

/* --- harness_valid.c: the consistency of the recorder's structures ---------------------------- */

/* Return true if the structure is consistent. For ENSURE_VALID, while all threads are idle. */
bool ledger_is_valid(void);
bool nodes_are_valid(void);
bool peak_is_valid(void);

/* Break each word that these functions check, then repair it. Print each break that went unnoticed
 * and return their number. Events of all kinds must have occurred before. */
int check_validity(void);

#endif
