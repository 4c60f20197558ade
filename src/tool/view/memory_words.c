/* memory_words.c: addresses, blocks and signals in words, identical in text and JSON. */
#include "view/phrases.h"

#include <inttypes.h>
#include <string.h>

#include "view/style.h"

enum { SIGNAL_BUS = 7, SIGNAL_FAULT = 11, SIGNAL_ABORT = 6, SIGNAL_TRAP = 5, SIGNAL_STOP = 19,
       CODE_KERNEL = 0x80 };

const char *
memory_abort_words(struct arena *arena, const struct abort_cause *cause)
{
    static const char *const words[] = {
        [ABORT_OVERFLOWED] = " and most likely overflowed",
        [ABORT_OVERWRITTEN] = ", and the word in front of it was overwritten",
        [ABORT_FREED_TWICE] = ", though it was free already",
        [ABORT_EITHER] = "; it was free already, or it overflowed",
    };
    static const char *const calls[] = {
        [ABORT_IN_FREE] = "was being freed",
        [ABORT_IN_REALLOC] = "was being resized",
        [ABORT_IN_MALLOC] = "is the last block of the heap",
    };

    return arena_printf(arena, "%s%s", calls[cause->call], words[cause->kind]);
}

const char *
memory_abort_kind(const struct abort_cause *cause)
{
    static const char *const kinds[] = {
        [ABORT_OVERFLOWED] = "overflowed",
        [ABORT_OVERWRITTEN] = "overwritten",
        [ABORT_FREED_TWICE] = "freed_twice",
        [ABORT_EITHER] = "freed_twice_or_overflowed",
    };

    return kinds[cause->kind];
}

bool
memory_has_died(const struct memory *m)
{
    return !m->lives && m->signal.number != 0 && m->signal.number != SIGNAL_TRAP &&
           m->signal.number != SIGNAL_STOP;
}

const char *
memory_block_size(struct arena *arena, const struct block *b)
{
    if (b->flags & BLOCK_CORRUPTED)
        return "whose size is lost";
    if (b->flags & BLOCK_UNSIZED)
        return "of unknown size";
    return arena_printf(arena, "of %s%s",
                        b->flags & BLOCK_GUESSED     ? "about "
                        : b->flags & BLOCK_INHERITED ? "up to "
                                                     : "",
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
        if (place->region == NULL)
            return arena_printf(arena, "%s a freed, unmapped block",
                                place->off == 0
                                    ? "the start of"
                                    : arena_printf(arena, "%s past the start of",
                                                   style_plural(arena, (int64_t)place->off,
                                                                "byte")));
        return arena_printf(arena, "%s a block that was freed", bytes_into(arena, place->off));
    case PLACE_STACK:
        if (place->thread == NULL)
            return "on the stack of the first thread";
        return arena_printf(arena, "on the stack of thread %s",
                            thread_words(arena, e, place->thread));
    case PLACE_BELOW_STACK:
        return arena_printf(arena,
                            "below the stack of thread %s: the stack overflowed, most likely by "
                            "unbounded recursion",
                            thread_words(arena, e, place->thread));
    case PLACE_MODULE:
        return arena_printf(arena, "in %s, 0x%" PRIx64 " from its beginning", place->mapping->path,
                            place->off);
    case PLACE_OTHER:
        break;
    }
    return "in memory that is no block";
}

/* Return T in words: "4711 (worker)", or "named worker, one of 3". */
static const char *
birth_thread(struct arena *arena, const struct birth_thread *t)
{
    const char *name = style_clean(arena, t->name);

    if (t->tid == 0 && *name == '\0')
        return "without a name";
    if (t->tid == 0)
        return arena_printf(arena, "named %s, one of %u", name, t->uses);
    return *name != '\0' ? arena_printf(arena, "%u (%s)", t->tid, name)
                         : arena_printf(arena, "%u", t->tid);
}

const char *
memory_birth_thread(struct arena *arena, const struct birth *b)
{
    const char *words;

    if (b->thread_count == 0)
        return NULL;
    words = arena_printf(arena, "by %sthread %s", b->thread_count > 1 ? "one of these: " : "",
                         birth_thread(arena, &b->threads[0]));
    for (uint32_t i = 1; i < b->thread_count && i < BIRTH_THREADS; i++)
        words = arena_printf(arena, "%s, %s", words, birth_thread(arena, &b->threads[i]));
    if (b->thread_count > BIRTH_THREADS)
        words = arena_printf(arena, "%s and %u more", words, b->thread_count - BIRTH_THREADS);
    if (!b->has_later)
        return words;
    if (b->later_count == 0)
        return arena_printf(arena, "%s, whose latest block it is", words);
    return arena_printf(arena, "%s, which has allocated %s since", words,
                        style_plural(arena, b->later_count, "block"));
}

/* Return a time range in words: "12.1 s to 12.4 s", or "12.1 s" if both ends read the same. */
static const char *
span_words(struct arena *arena, uint64_t from_ns, uint64_t to_ns)
{
    const char *from = arena_strdup(arena, style_duration(arena, from_ns));
    const char *to = style_duration(arena, to_ns);

    return strcmp(from, to) == 0 ? from : arena_printf(arena, "%s to %s", from, to);
}

const char *
memory_birth_time(struct arena *arena, const struct examined *e, const struct birth *b)
{
    uint64_t now = birth_now(e);
    const char *words;

    if (!b->has_time)
        return NULL;
    if (b->to_ns == UINT64_MAX)
        words = arena_printf(arena, "later than %s after the start",
                             style_duration(arena, b->from_ns));
    else if (b->from_ns == 0 && b->to_ns != 0)
        words = arena_printf(arena, "up to %s after the start", style_duration(arena, b->to_ns));
    else
        words = arena_printf(arena, "%s after the start",
                             span_words(arena, b->from_ns, b->to_ns));
    if (now == 0)
        return words;
    if (!e->memory.lives)
        return arena_printf(arena, "%s; the dump is of %s or a little later", words,
                            style_duration(arena, now));
    if (b->to_ns == UINT64_MAX)
        return arena_printf(arena, "%s, less than %s ago", words,
                            style_duration(arena, now > b->from_ns ? now - b->from_ns : 0));
    return arena_printf(arena, "%s, %s ago", words,
                        span_words(arena, now > b->to_ns ? now - b->to_ns : 0,
                                   now > b->from_ns ? now - b->from_ns : 0));
}

const char *
memory_signal_words(struct arena *arena, const struct memory *m)
{
    const struct memory_signal *s = &m->signal;
    const char *name = phrase_signal(arena, s->number);

    if (s->has_address && (s->number == SIGNAL_FAULT || s->number == SIGNAL_BUS))
        return arena_printf(arena, "Killed by %s: it touched 0x%" PRIx64, name, s->address);
    if (s->has_address)
        return arena_printf(arena, "Killed by %s at the instruction 0x%" PRIx64, name, s->address);
    if (s->number == SIGNAL_FAULT && s->code == CODE_KERNEL)
        return arena_printf(arena, "Killed by %s: it used a pointer that can be no address", name);
    if (s->number == SIGNAL_TRAP && s->code == CODE_KERNEL)
        return arena_printf(arena, "Killed by %s, or dumped by a debugger, at a breakpoint", name);
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
                            "%s; only the allocator has the size of %s, so an equal share of the "
                            "site's bytes is shown",
                            text, style_plural(arena, (int64_t)e->blocks.unsized, "block"));
    return text;
}
