/* patching.c: write and remove the jumps of an attached recorder while all threads are stopped.
 *
 * Three parts of a thread's state could be in the overwritten bytes: its next instruction, which is
 * moved to the trampoline; a return address, which cannot be, because every call returns behind
 * them; and the instruction that a signal handler interrupted. The last one is a word on the
 * stack. If any word there looks like one, all threads are resumed, and we try again later. */
#include "attach/patching.h"

#include <errno.h>
#include <sys/ptrace.h>

#include "attach/control_block.h"

/* Return the number of words on the stacks that look like the address of an instruction which a
 * jump would overwrite, and which a signal handler interrupted. */
static size_t
words_in_patches(const struct threads *s, const struct region *region)
{
    struct word_range ranges[REGION_PATCHES_MAX];

    for (uint64_t i = 0; i < region->patch_count; i++)
        ranges[i] = (struct word_range){region->patches[i].at + 1,
                                        region->patches[i].function +
                                            region->patches[i].left_bytes};
    return threads_words_in(s, ranges, region->patch_count);
}

bool
patching_move_thread(struct stopped *t, const struct region *region, bool into)
{
    for (uint64_t i = 0; i < region->patch_count; i++) {
        uint64_t to = patch_moves(&region->patches[i], t->registers.rip, into);

        if (to == 0)
            continue;
        t->registers.rip = to;
        t->is_changed = true;
        return true;
    }
    return false;
}

/* Undo a change, with a second attempt, because the recorder stays in the process otherwise. */
static bool
undo_branch(const struct target *t, const struct branch *b)
{
    return target_write(t, b->at, &b->original, sizeof b->original) ||
           target_write(t, b->at, &b->original, sizeof b->original);
}

static bool
undo_patch(const struct target *t, const struct patch *p)
{
    return patch_remove(t, p) || patch_remove(t, p);
}

bool
patching_write(const struct target *t, const struct region *region, bool jumps)
{
    uint64_t count = region->patch_count - (jumps ? 0 : region->has_finder);
    bool ok = true;

    for (uint64_t i = 0; i < region->branch_count; i++) {
        const struct branch *b = &region->branches[i];

        ok = (jumps ? target_write(t, b->at, &b->changed, sizeof b->changed)
                    : undo_branch(t, b)) && ok;
    }
    for (uint64_t i = 0; i < count; i++)
        ok = (jumps ? patch_apply(t, &region->patches[i]) : undo_patch(t, &region->patches[i])) &&
             ok;
    return ok;
}

bool
patching_restore_finder(const struct target *t, const struct region *region)
{
    return region->has_finder == 0 ||
           undo_patch(t, &region->patches[region->patch_count - 1]);
}

/* Stop all threads, without any that a jump would hurt. */
static int
stop_for_patches(const struct plan *p, struct threads *s, struct attach_cost *cost,
                 struct err *err)
{
    for (cost->attempts = 1; cost->attempts <= PATCHING_ATTEMPTS_MAX; cost->attempts++) {
        int r;

        target_read_maps(p->target); // Before the stop, which must be short.
        r = threads_stop(p->target, s, err);

        if (r == 0)
            r = control_block_check_all(p, s, err);
        if (r != 0) {
            threads_resume(s);
            return r;
        }
        for (size_t i = 0; i < s->count; i++)
            cost->moved += patching_move_thread(&s->v[i], p->region, true);
        if (words_in_patches(s, p->region) == 0)
            return 0;
        for (size_t i = 0; i < s->count; i++)
            patching_move_thread(&s->v[i], p->region, false);
        threads_resume(s);
        cost->moved = 0;
        threads_pause(p->target, PATCHING_PAUSE_NS * cost->attempts);
    }
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "process %u has signal handlers that interrupt its allocator all the time; try "
                   "again later", p->target->pid);
}

/* Write the registers of the threads that were moved. Return false on failure. */
static bool
write_registers(const struct threads *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->v[i].is_changed && !s->v[i].has_ended &&
            ptrace(PTRACE_SETREGS, s->v[i].tid, NULL, &s->v[i].registers) != 0 && errno != ESRCH)
            return false;
    return true;
}

int
patching_begin(const struct plan *p, struct attach_cost *cost, struct err *err)
{
    struct threads all;
    int r = stop_for_patches(p, &all, cost, err);

    if (r != 0)
        return r;
    cost->threads = all.count;
    p->region->is_active = 1;
    // We may be killed at any instant. So the region says that there may be jumps before there are,
    // and no thread is where one will be.
    if (!target_write(p->target, p->base, p->region, sizeof *p->region) ||
        !write_registers(&all) || !patching_write(p->target, p->region, true)) {
        r = err_errno(err, HEAPTAP_BAD_INPUT, "the code of process %u cannot be changed",
                      p->target->pid);
        p->region->is_active = !patching_write(p->target, p->region, false) ||
                               !patching_restore_finder(p->target, p->region);
    }
    cost->stopped_ns = threads_now_ns() - all.began_ns;
    threads_resume(&all);
    return r;
}
