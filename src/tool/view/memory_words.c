/* memory_words.c: addresses, blocks and signals in words, the same in text and JSON. */
#include "view/memory_words.h"

#include <inttypes.h>
#include <string.h>

#include "view/style.h"

enum { SIGNAL_BUS = 7, SIGNAL_FAULT = 11, SIGNAL_ABORT = 6, SIGNAL_TRAP = 5, SIGNAL_STOP = 19,
       CODE_KERNEL = 0x80 };

const char *
memory_block_size(struct arena *arena, const struct block *b)
{
    if (b->flags & BLOCK_DAMAGED)
        return "whose size is lost";
    if (b->flags & BLOCK_UNSIZED)
        return "of unknown size";
    return arena_printf(arena, "of %s%s", b->flags & BLOCK_GUESSED ? "about " : "",
                        style_plural(arena, (int64_t)b->size_bytes, "byte"));
}

const char *
memory_place_name(enum place_kind kind)
{
    static const char *const names[] = {
        [PLACE_NOWHERE] = "nowhere", [PLACE_NULL] = "null",
        [PLACE_BLOCK] = "block",     [PLACE_BEHIND] = "behind",
        [PLACE_ENDED] = "ended",     [PLACE_STACK] = "stack",
        [PLACE_MODULE] = "module",   [PLACE_BELOW_STACK] = "below_stack",
        [PLACE_OTHER] = "other",
    };

    return names[kind];
}

static const char *
bytes_into(struct arena *arena, uint64_t off)
{
    return off == 0 ? "the beginning of"
                    : arena_printf(arena, "byte %" PRIu64 " of", off);
}

static const char *
thread_words(struct arena *arena, const struct examined *e, const struct memory_thread *t)
{
    (void)e;
    if (t->name != NULL && *t->name != '\0')
        return arena_printf(arena, "%u (%s)", t->tid, t->name);
    return arena_printf(arena, "%u", t->tid);
}

const char *
memory_place_words(struct arena *arena, const struct examined *e, const struct place *place)
{
    const struct block *b = place->block;

    switch (place->kind) {
    case PLACE_NOWHERE:
        return "not mapped: the process had no memory there";
    case PLACE_NULL:
        return "close to zero: a null pointer was followed";
    case PLACE_BLOCK:
        return arena_printf(arena, "%s a block %s", bytes_into(arena, place->off),
                            memory_block_size(arena, b));
    case PLACE_BEHIND:
        if (place->off == 0)
            return arena_printf(arena, "the first byte behind a block %s",
                                memory_block_size(arena, b));
        return arena_printf(arena, "%s behind the end of a block %s",
                            style_plural(arena, (int64_t)place->off, "byte"),
                            memory_block_size(arena, b));
    case PLACE_ENDED:
        return arena_printf(arena, "%s a block that was freed", bytes_into(arena, place->off));
    case PLACE_STACK:
        if (place->thread == NULL)
            return "on the stack of the first thread";
        return arena_printf(arena, "on the stack of thread %s",
                            thread_words(arena, e, place->thread));
    case PLACE_BELOW_STACK:
        return arena_printf(arena,
                            "below the stack of thread %s: its stack has overflowed, most likely "
                            "by recursion without end",
                            thread_words(arena, e, place->thread));
    case PLACE_MODULE:
        return arena_printf(arena, "in %s, 0x%" PRIx64 " from its beginning", place->mapping->path,
                            place->off);
    case PLACE_OTHER:
        break;
    }
    return "in memory that is no block";
}

const char *
memory_signal_name(struct arena *arena, uint32_t number)
{
    const char *name = number < 64 ? sigabbrev_np((int)number) : NULL;

    return name != NULL ? arena_printf(arena, "SIG%s", name)
                        : arena_printf(arena, "signal %u", number);
}

const char *
memory_signal_words(struct arena *arena, const struct memory *m)
{
    const struct memory_signal *s = &m->signal;
    const char *name = memory_signal_name(arena, s->number);

    if (s->has_address)
        return arena_printf(arena, "Killed by %s: it touched 0x%" PRIx64, name, s->address);
    if (s->number == SIGNAL_FAULT && s->code == CODE_KERNEL)
        return arena_printf(arena, "Killed by %s: it used a pointer that can be no address", name);
    if (s->number == SIGNAL_TRAP || s->number == SIGNAL_STOP)
        return arena_printf(arena, "Dumped by a debugger, while it was stopped by %s", name);
    if (s->number == SIGNAL_ABORT)
        return arena_printf(arena, "Ended itself by %s (abort)", name);
    if (s->number == SIGNAL_FAULT || s->number == SIGNAL_BUS)
        return arena_printf(arena, "Killed by %s, which was sent to it", name);
    return arena_printf(arena, "Ended by %s", name);
}

const char *
memory_gaps_words(struct arena *arena, const struct examined *e)
{
    const char *text = "";

    if (e->blocks.missing_leaves > 0)
        text = arena_printf(arena, "; others are not in the dump, as %s of the ledger %s missing",
                            style_plural(arena, (int64_t)e->blocks.missing_leaves, "part"),
                            e->blocks.missing_leaves == 1 ? "is" : "are");
    if (e->blocks.unsized > 0)
        text = arena_printf(arena,
                            "%s; of %s the allocator alone knows the size, which is taken to be "
                            "the mean of its site",
                            text, style_plural(arena, (int64_t)e->blocks.unsized, "block"));
    return text;
}
