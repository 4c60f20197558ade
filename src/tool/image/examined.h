/* examined.h: data read from the memory of a recorded process, for all views of it. */
#ifndef IMAGE_EXAMINED_H
#define IMAGE_EXAMINED_H

#include "format/core_record.h"
#include "image/blocks.h"
#include "image/memory.h"
#include "profile/raw.h"

/* Memory that a forked child has inherited from its parent. */
struct inherited {
    bool forked;  // The process is a forked child.
    bool silent;  // The child has recorded nothing: stacks and names are its parent's.
    bool unknown; // Some inherited memory cannot be separated into blocks.
    // Inherited blocks are left out, because the child sampled: its unsampled blocks look the same.
    bool sampled;
    uint32_t parent; // Process id; 0 = unknown.
    size_t count;    // Number of blocks.
    uint64_t bytes;
};

/* Stack of the thread that died: consecutive locations of the profile, innermost first. */
struct crash_stack {
    uint32_t first_location;
    uint32_t location_count; // 0 = unknown, or no thread died.
};

struct examined {
    struct memory memory;
    struct core_record record;
    struct blocks blocks;
    struct arena arena;  // Owns the blocks and the profile.
    struct raw_file raw; // Profile with the blocks' sites, read after the blocks.
    const char *profile; // Path of the profile; NULL = in the memory, or gone.
    bool part_walked;    // UNRECORDED: some blocks are not known.
    bool unrecorded;     // Nothing of the process was recorded: no record, blocks or profile.
    bool live_only;      // The profile has only live blocks, and none of the program's heaps.
    bool stacks_carried; // The profile is gone: stacks are from the annotated blocks.
    struct inherited inherited;
    struct crash_stack crash; // Set by crash_stack_add.
    uint64_t read_ns;    // Time when reading blocks began, by the clock of `raw`.
    size_t running; // Number of threads that could not be stopped.
    size_t held;    // Number of threads held by the kernel, whose registers are unknown.
    uint64_t excluded_bytes; // See excluded_count.
    uint64_t stopped_ns; // Duration of a live process's stop; 0 = not stopped.
    bool copied;         // The process was stopped only while its memory was copied.
    const char *refusal; // Reason why it was stopped for longer, as a clause; NULL = asked for.
};

/* --- excluded.c: memory that a dump lists without bytes. */

/* Return the size of the writable memory in E's dump that may have pointers and has no bytes: the
 * program excluded it from dumps, or never wrote to it. 0 for a running process, and if the
 * recorder is too old to list its own excluded memory. */
uint64_t excluded_count(const struct examined *e);

/* --- inherited.c: blocks that a forked child has inherited from its parent. */

/* Frame that represents the unknown stacks of inherited blocks. */
#define INHERITED_FRAME "[allocated before the fork]"

/* Add the blocks that E inherited, if its process was forked, to E. They get one site, which is
 * added to the profile. Requires that E's blocks and profile were read. */
void inherited_read(struct examined *e);

/* --- annotated_leaves.c: the recorder's map of annotated blocks, in the memory of a process. */

/* Called with the ADDRESS of a live block and the BYTE of the map for that block (enum
 * core_annotated). */
typedef void annotated_fn(void *arg, uint64_t address, uint8_t byte);

/* Call FN for each live block in the map of record R in M. */
void annotated_leaves_each(const struct memory *m, const struct core_record *r, annotated_fn *fn,
                           void *arg);

/* --- annotated_stacks.c: stacks stored in annotated blocks, for a dump whose profile is gone. */

/* Fill E->raw with the stacks in E's annotated blocks and set the site of each block in E->blocks,
 * which must have been read. Append annotated blocks that the ledger does not list: a forked child
 * has them from its parent. *RET_FRAMES is the maximum number of frames in a block. Requires
 * E->memory to be a dump. Returns 0, HEAPTAP_NOT_FOUND if no block is annotated, or another error
 * with ERR set. */
int annotated_stacks_read(struct examined *e, uint32_t *ret_frames, struct err *err);

/* --- birth.c: time and thread of a block's allocation, as far as they can be determined. See
 * birth.c. */

enum { BIRTH_THREADS = 4 };

/* A thread that may have allocated the block. */
struct birth_thread {
    uint32_t tid;     // 0 = unknown: any thread that used the row.
    uint32_t uses;    // Number of threads that used the row.
    const char *name; // "" = unknown.
};

struct birth {
    // Threads that may have allocated the block: the first BIRTH_THREADS of thread_count.
    // thread_count 0: unknown.
    struct birth_thread threads[BIRTH_THREADS];
    uint32_t thread_count;
    bool annotated;    // Time or thread is from the block's annotation.
    bool has_time;     // Bounds of the time of the allocation; elapsed times as in the profile.
    uint64_t from_ns, to_ns; // to_ns is UINT64_MAX if only the time of reading bounds it.
    bool has_later;       // The block is among the latest of its thread.
    uint32_t later_count; // Number of later allocations of that thread.
};

/* Find time and thread of the allocation of block B of E and store them in *RET. Strings are from
 * ARENA. */
void birth_find(const struct examined *e, const struct block *b, struct arena *arena,
                struct birth *ret);

/* Return the elapsed time at which E's memory was read; for a dump, when the recorder last read a
 * clock. 0 = unknown. */
uint64_t birth_now(const struct examined *e);

#endif
