/* language_runs.c: caches the nodes of language frames that share a C frame.
 *
 * An interpreter may run all functions of a recursion in one C frame. The spine (language_path.c)
 * has one entry for that C frame, which changes with each call. Moreover, the interpreter calls the
 * allocator from different places, and the C frame has another node for each:
 *
 *     main ─► eval at 1 ─► f ─► f ─► f ─► g         each row is a run: the nodes of the language
 *       └───► eval at 2 ─► f ─► f ─► f ─► g ─► h    frames below one node of the C frame
 *
 * A run depends only on the node before its first frame, the number of frames that the path must
 * omit, and the language frames themselves. For each run, `run_same` is a lower bound of the number
 * of outer frames that no answer has changed since they were added. The nodes of these are valid.
 *
 * The bounds of the C frame are also part of a run's key. So the language frames that are unchanged
 * are still inside this C frame. */
#define HEAPTAP_IS_RECORDER

#include "mixed/language_frames.h"

struct language_run *
language_run_of(struct language_memo *m, uint32_t number, uint32_t node, uint32_t left_out,
                uint32_t before)
{
    uint64_t hash = ((uint64_t)left_out << 32 | node) * UINT64_C(0x9e3779b97f4a7c15);
    struct language_run *r = &m->runs[hash >> 32 & (LANGUAGE_RUNS - 1)];
    uint64_t slot = language_native_at(m, number)->slot;
    uint64_t end = language_native_at(m, number - 1)->slot;

    if (likely(r->node == node) && likely(r->left_out == left_out) && likely(r->before == before) &&
        likely(r->slot == slot) && likely(r->end == end))
        return r;
    // Mark the run as unused until it is complete, because a handler may jump out of here.
    r->slot = 0;
    signal_fence();
    r->node = node;
    r->left_out = left_out;
    r->end = end;
    r->before = before;
    r->last = before;
    signal_fence();
    r->slot = slot;
    return r;
}
