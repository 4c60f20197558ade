/* stackdiff_recorder.c: compare the recorder's unchanged slow walk with the other walkers.
 *
 * walk.c steps out of most frames by compiled rules, also behind a signal. The reference is a walk
 * by unwind_step alone, with all registers. Frames, interrupted or not, and the end of the stack
 * must match, wherever a signal interrupted the program. If it fails, allocations in handlers are
 * charged to wrong stacks.
 *
 * The file also counts the frames behind a signal, and the recorder's steps by the tables. If there
 * are many such steps, walks are correct but handlers are slow.
 *
 * walk.c uses the real parts of the recorder, except for memory, modules and the call tree, and
 * determines the bounds of stacks itself. */
#include "account/account_state.h"
#include "stack/stack_state.h"
#include "stackdiff.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "unwind/unwind.h"

static atomic_ulong steps_by_tables, frames_behind, frames_walked;

static enum unwind_step_result
counted_step(struct unwind_registers *r, const struct unwind_bounds *bounds)
{
    atomic_fetch_add(&steps_by_tables, 1);
    return unwind_step(r, bounds);
}

// This renames the step function in walk.c and the files it includes.
#define unwind_step counted_step
#include "stack/bounds.c"
#include "stack/rules.c"
#include "platform/sys.c"
#include "stack/path_ids.c"
#include "stack/walk.c"
#undef unwind_step

static struct state the_state;
static struct first_child no_children[DISK_NODE_FIRST];
static struct children no_others[1];
struct state *state = &the_state;
static _Thread_local struct thread *own;
static _Thread_local struct disk_thread own_row;

void
mem_touch(const void *start, const void *end)
{
    (void)start;
    (void)end;
}

void *
mem_private(size_t size_bytes)
{
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        abort();
    return p;
}

void
thread_invalidate(struct thread *t)
{
    (void)t; // Each walk here begins with an empty memo.
}

uint64_t
process_value(uint32_t type)
{
    return getauxval(type);
}

/* All functions here have unwind tables, so no stack ends for lack of one. */
uint64_t
process_stack_start(void)
{
    return 0;
}

uint32_t
modules_id(const struct unwind_object *object)
{
    (void)object;
    return 1;
}

/* No node is beyond the first segment. */
struct first_child *
nodes_far_first_child(uint32_t node)
{
    (void)node;
    return no_children;
}

/* A child is reported as its parent, so the node of a whole stack is the root. */
uint32_t
nodes_find_child(uint32_t parent, uint64_t frame, uint32_t flags)
{
    (void)frame;
    (void)flags;
    return parent;
}

uint32_t
nodes_shorten(const struct nodes_frame *frames, uint32_t count, uint32_t root)
{
    (void)frames;
    (void)count;
    return root;
}

void
recorder_start(void)
{
    account_state()->first_children = no_children;
    account_state()->children = no_others;
    stack_state()->depth_max = LIMIT_DEPTH;
    unwind_begin(&(struct unwind_process){.headers = getauxval(AT_PHDR),
                                          .header_count = getauxval(AT_PHNUM)});
    bounds_process_begins();
    rules_start();
}

void
recorder_begin(void)
{
    own = mem_private(sizeof *own);
    own->disk = &own_row;
    bounds_thread_begins(own);
}

void
recorder_stop(void)
{
    munmap(own, sizeof *own);
}

void
recorder_flush(void)
{
    add_relaxed(&state->generation, 1u);
}

/* Return true if the recorder's stack of COUNT frames below PARENT ends as WANTED. */
static bool
ends_as(const struct diff_stack *wanted, uint32_t count, uint32_t parent)
{
    if (wanted->end == END_LIMIT)
        return count >= wanted->count;
    if (wanted->end == END_NO_TABLE && count > wanted->count)
        return own->walked[wanted->count - 1].flags & DISK_NODE_GUESSED;
    return count == wanted->count &&
           (wanted->end == END_NO_TABLE ||
            parent == (wanted->end == END_WHOLE ? DISK_NODE_ROOT : DISK_NODE_BROKEN));
}

bool
recorder_agrees(uint64_t slot, uint64_t rbp, const struct diff_stack *wanted)
{
    uint64_t before = own_row.frames_unwound;
    uint32_t parent = walk_full(own, (struct arch_caller){slot, rbp});
    uint32_t count = (uint32_t)(own_row.frames_unwound - before);
    bool behind = false;

    atomic_fetch_add(&frames_walked, count);
    if (!ends_as(wanted, count, parent))
        return false;
    for (uint32_t i = 0; i < wanted->count; i++) {
        const struct stack_frame *f = &own->walked[i];
        bool exact = f->flags & DISK_NODE_EXACT;

        if ((f->frame & DISK_ADDRESS_MASK) != (wanted->pc[i] & DISK_ADDRESS_MASK) ||
            exact != wanted->exact[i] ||
            (f->flags & DISK_NODE_GUESSED && i + 1 < wanted->count))
            return false;
        atomic_fetch_add(&frames_behind, behind);
        behind |= exact;
    }
    return true;
}

bool
recorder_report(void)
{
    printf("  recorder: frames %lu, behind signals %lu, steps by tables %lu", frames_walked,
           frames_behind, steps_by_tables);
    return frames_behind > 0 && steps_by_tables * 4 < frames_walked;
}
