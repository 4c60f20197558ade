/* text_core.c: live blocks of a dump, and the cause of its end.
 *
 *     ./server --port 80
 *       core.4711 of process 4711
 *       Killed by SIGSEGV: it touched 0x7f12a0002000
 *         in read_all  read.c:106
 *         0x7f12a0002000 is 2,360 bytes behind the end of a block of 132,072 bytes
 *         0x7f1290001040 was allocated by
 *           make_buffer  read.c:99
 *       12,345 blocks live with 8.1 MiB
 *
 *     #1       1.0 MiB    50.0 %   8 blocks
 *           grow  list.c:12
 *           131071 x4, 131073 x4; the first at 0x55…, 0x55…
 */
#include "text/text_view.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "analyse/group.h"
#include "util/shell_word.h"
#include "view/memory_view.h"
#include "view/phrases.h"

enum { SIZES_SHOWN = 8, ADDRESSES_SHOWN = 4, CORRUPTED_SHOWN = 3 };

void
text_core_site(struct text_view *v, const struct examined *e, uint32_t site)
{
    struct stack stack;

    if (memory_view_stack(&v->base, e, site, &stack))
        text_stack(v, &stack, v->depth, 0);
    else
        text_note(v, "a stack that is not known");
}

void
text_core_place(struct text_view *v, const struct examined *e, uint64_t address)
{
    struct place place = place_of(e, address);

    bool ended = place.kind == PLACE_ENDED;

    text_line(v, ATTR_PLAIN, arena_printf(v->base.arena, "    0x%" PRIx64 " is %s", address,
                                          memory_place_words(v->base.arena, e, &place)));
    if (!ended && place.block == NULL)
        return;
    text_line(v, ATTR_PLAIN,
              arena_printf(v->base.arena, "    0x%" PRIx64 " was allocated by",
                           ended ? place.ended.address : place.block->address));
    text_core_site(v, e, ended ? place.ended.site : place.block->site);
}

/* Write the blocks whose chunk header is corrupted, and the block in front, which has most likely
 * overflowed. */
static void
put_corrupted(struct text_view *v, const struct examined *e)
{
    struct arena *a = v->base.arena;
    size_t shown = 0;

    if (e->blocks.damaged == 0)
        return;
    text_prose(v, ATTR_WARNING,
               arena_printf(a, "  The allocator's word in front of %s has been written over",
                            style_plural(a, (int64_t)e->blocks.damaged, "block")));
    for (size_t i = 0; i < e->blocks.count && shown < CORRUPTED_SHOWN; i++) {
        const struct block *b = &e->blocks.v[i];
        const struct block *before = i > 0 ? b - 1 : NULL;
        struct ended_block front;

        if (!(b->flags & BLOCK_CORRUPTED))
            continue;
        shown++;
        front = place_in_front(e, b->address);
        if (front.address != 0 && (before == NULL || front.address != before->address)) {
            text_line(v, ATTR_PLAIN,
                      arena_printf(a, "    in front of the block at 0x%" PRIx64
                                      ", behind this freed one:", b->address));
            text_note(v, arena_printf(a, "0x%" PRIx64 ", allocated by", front.address));
            text_core_site(v, e, front.site);
            continue;
        }
        text_line(v, ATTR_PLAIN,
                  arena_printf(a, "    in front of the block at 0x%" PRIx64 "%s", b->address,
                               before != NULL ? ", behind this one:" : ""));
        if (before != NULL) {
            text_note(v, arena_printf(a, "0x%" PRIx64 ", %s, which ends %" PRIu64
                                         " bytes before it, allocated by",
                                      before->address, memory_block_size(a, before),
                                      b->address - before->address - before->size_bytes));
            text_core_site(v, e, before->site);
        }
    }
}

/* Write the block B, what has HAPPENED to it, and its stack. */
static void
text_core_put_culprit(struct text_view *v, const struct examined *e, const struct ended_block *b,
                      const char *happened)
{
    struct arena *a = v->base.arena;

    text_line(v, ATTR_PLAIN, arena_printf(a, "    0x%" PRIx64 " %s", b->address, happened));
    text_line(v, ATTR_PLAIN, arena_printf(a, "    0x%" PRIx64 " was allocated by", b->address));
    text_core_site(v, e, b->site);
}

/* Write the message of glibc's allocator before it aborted, and the block that it is about. */
static void
text_core_put_abort(struct text_view *v, const struct examined *e)
{
    struct arena *a = v->base.arena;
    struct abort_cause cause;

    abort_cause_find(e, a, &cause);
    if (cause.message == NULL)
        return;
    text_line(v, ATTR_PLAIN,
              arena_printf(a, "    malloc's message: %s", style_clean(a, cause.message)));
    if (cause.kind == ABORT_UNKNOWN)
        text_prose(v, ATTR_PLAIN,
                   "    the message does not show which block was damaged; `heaptap core --check` "
                   "checks all");
    else
        text_core_put_culprit(v, e, &cause.block, memory_abort_words(a, &cause));
    if (cause.front.address != 0)
        text_core_put_culprit(v, e, &cause.front, "is in front of that and most likely overflowed");
}

static void
put_end(struct text_view *v, const struct examined *e)
{
    const struct memory_signal *s = &e->memory.signal;
    struct stack stack;

    if (s->number == 0)
        return;
    text_prose(v, ATTR_WARNING,
               arena_printf(v->base.arena, "  %s", memory_signal_words(v->base.arena, &e->memory)));
    memory_view_crash(&v->base, e, &stack);
    if (stack.depth > 0)
        text_stack(v, &stack, stack.depth, 0);
    text_core_put_abort(v, e);
    if (s->has_address)
        text_core_place(v, e, s->address);
}

/* Write the data that a forked child has from its parent. */
static void
text_core_put_inherited(struct text_view *v, const struct examined *e)
{
    const struct inherited *i = &e->inherited;
    struct arena *a = v->base.arena;

    if (i->count > 0)
        text_prose(v, ATTR_PLAIN,
                   arena_printf(a, "  %s of them, with up to %s, %s allocated before the fork: %s "
                                   "not known",
                                style_count(a, (int64_t)i->count),
                                style_bytes(a, (int64_t)i->bytes), i->count == 1 ? "was" : "were",
                                i->count == 1 ? "its stack is" : "their stacks are"));
    if (i->sampled)
        text_prose(v, ATTR_WARNING,
                   "  Blocks allocated before the fork are left out: they look like the child's "
                   "unsampled blocks");
    else if (i->unknown)
        text_prose(v, ATTR_WARNING,
                   "  Some inherited memory cannot be separated into blocks: each word of the heap "
                   "counts as a pointer");
    if (i->silent && !e->stacks_carried)
        text_prose(v, ATTR_PLAIN,
                   arena_printf(a,
                                "  It has recorded no event: names are from the profile of its "
                                "parent, process %" PRIu32,
                                i->parent));
}

/* Note that the ledger of a dump only has malloc's blocks; objects of other heaps are in a
 * profile. */
static void
put_own_heaps(struct text_view *v, const struct examined *e)
{
    const struct profile *p = v->base.p;
    struct arena *a = v->base.arena;

    if (!memory_view_lacks_heaps(p, e))
        return;
    if (e->profile == NULL) {
        text_prose(v, ATTR_PLAIN,
                   "  Objects of the program's heaps are not among them: `heaptap core -o FILE` "
                   "writes a profile that counts them");
        return;
    }
    text_prose(v, ATTR_PLAIN,
               "  Objects of its own heaps are not among them. A dump after `heaptap run "
               "--self-contained-core` has them, and this command counts them:");
    // Not cut at the width: the reader copies the command.
    style_text(&v->style, v->out, ATTR_PLAIN,
               arena_printf(a, "    heaptap report %s\n", shell_word(a, e->profile)));
}

void
text_core_head(struct text_view *v, const struct examined *e)
{
    struct arena *a = v->base.arena;
    const struct profile *p = v->base.p;

    style_text(&v->style, v->out, ATTR_TITLE,
               style_cut_end(a, style_clean(a, profile_title(p, a)), v->style.width));
    strbuf_char(v->out, '\n');
    text_line(v, ATTR_PLAIN,
              e->memory.lives
                  ? arena_printf(a, "  %s, which %s", e->memory.name,
                                 e->memory.stopped ? "is stopped" : "runs")
                  : arena_printf(a, "  %s of process %s", e->memory.name, profile_pid_text(p, a)));
    if (e->stopped_ns != 0)
        text_prose(v, ATTR_DIM,
                   arena_printf(a, "  It was stopped for %s%s%s.", style_duration(a, e->stopped_ns),
                                e->refusal != NULL ? "; its memory could not be copied: " : "",
                                e->refusal != NULL ? e->refusal : ""));
    if (e->unrecorded)
        text_prose(v, ATTR_PLAIN,
                   e->memory.lives
                       ? "  It is not recorded, so stacks and requested sizes are not known; "
                         "`heaptap attach` records from now on."
                       : "  It was not recorded, so stacks and requested sizes are not known; "
                         "`heaptap run` records them.");
    if (e->unrecorded && e->blocks.count == 0)
        return;
    put_end(v, e);
    put_corrupted(v, e);
    text_line(v, ATTR_PLAIN,
              arena_printf(a, "  %s live with %s%s",
                           style_plural(a, counters_live_blocks(&p->totals), "block"),
                           style_bytes(a, counters_live_bytes(&p->totals)),
                           memory_gaps_words(a, e)));
    text_core_put_inherited(v, e);
    put_own_heaps(v, e);
}

/* Return the sizes of a stack's blocks: "131071 x4, 131073 x4". */
static const char *
text_core_sizes_text(struct text_view *v, const struct block_stacks *b, size_t stack)
{
    struct block_size *sizes;
    size_t unknown, count = block_stacks_sizes(b, stack, v->base.arena, &sizes, &unknown);
    const char *text = "";

    for (size_t i = 0; i < count && i < SIZES_SHOWN; i++)
        text = arena_printf(v->base.arena, "%s%s%" PRIu64 "%s", text, i ? ", " : "",
                            sizes[i].size_bytes,
                            sizes[i].blocks > 1
                                ? arena_printf(v->base.arena, " x%" PRIu64, sizes[i].blocks)
                                : "");
    if (count > SIZES_SHOWN)
        text = arena_printf(v->base.arena, "%s and %s up to %" PRIu64, text,
                            style_plural(v->base.arena, (int64_t)(count - SIZES_SHOWN),
                                         "more size"),
                            sizes[count - 1].size_bytes);
    if (unknown > 0)
        text = arena_printf(v->base.arena, "%s%sunknown x%zu", text, count ? ", " : "", unknown);
    return text;
}

static void
text_core_put_blocks(struct text_view *v, const struct block_stacks *b, size_t stack)
{
    struct arena *a = v->base.arena;
    size_t count = b->first[stack + 1] - b->first[stack];
    const char *at = "";

    if (count == 0)
        return;
    for (size_t i = 0; i < count && i < ADDRESSES_SHOWN; i++)
        at = arena_printf(a, "%s%s0x%" PRIx64, at, i ? ", " : "",
                          b->blocks->v[b->order[b->first[stack] + i]].address);
    text_note(v, arena_printf(a, "sizes: %s", text_core_sizes_text(v, b, stack)));
    text_note(v, arena_printf(a, "at: %s%s", at, count > ADDRESSES_SHOWN ? ", \xe2\x80\xa6" : ""));
}

void
text_core_stacks(struct text_view *v, const struct block_stacks *b)
{
    const struct stack **top = group_sorted_stacks(v->base.stacks, METRIC_INUSE, v->base.arena);
    size_t count = group_positive(v->base.stacks, top, METRIC_INUSE);
    size_t limit = v->base.limit ? v->base.limit : TEXT_LIMIT;

    for (size_t i = 0; i < count && i < limit; i++) {
        text_site(v, top[i], METRIC_INUSE);
        text_core_put_blocks(v, b, (size_t)(top[i] - v->base.stacks->v));
    }
    if (count > limit)
        strbuf_char(v->out, '\n');
    text_more(v, limit, count, "stack");
}
