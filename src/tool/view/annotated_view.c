/* annotated_view.c: words and sizes for blocks found in a copy of memory.
 *
 * The sizes of a stack's blocks reveal much about them, so they are listed: [131071 x4, 131073 x4],
 * as in the article of 2014. The model has only the smallest and the largest size. */
#include "view/annotated_view.h"

#include <inttypes.h>
#include <stdlib.h>

#include "view/style.h"

/* Size of a block, and its stack. */
struct sized {
    uint32_t stack;
    uint64_t size;
};

static int
by_stack_and_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;

    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return x->size < y->size ? -1 : x->size > y->size;
}

/* Convert COUNT blocks, sorted by stack and size, to lists. */
static void
make_lists(const struct sized *blocks, size_t count, struct annotated_sizes *lists,
           struct arena *arena)
{
    struct annotated_size *all = arena_array(arena, count, sizeof *all), *last = all;

    for (size_t i = 0; i < count; i++) {
        struct annotated_sizes *list = &lists[blocks[i].stack];

        if (list->count == 0)
            list->v = last;
        if (list->count == 0 || last[-1].size != blocks[i].size) {
            *last++ = (struct annotated_size){blocks[i].size, 0};
            list->count++;
        }
        last[-1].count++;
    }
}

static void
note_birth(struct annotated_sizes *list, const struct annotated_block *b)
{
    if (!b->has_birth)
        return;
    if (!list->has_birth || b->birth < list->birth_first)
        list->birth_first = b->birth;
    if (!list->has_birth || b->birth > list->birth_last)
        list->birth_last = b->birth;
    list->has_birth = true;
}

struct annotated_sizes *
annotated_sizes(const struct annotated_memory *m, const struct annotated_places *places,
                const struct stacks *stacks, struct arena *arena)
{
    struct annotated_sizes *lists = arena_array(arena, stacks->count, sizeof *lists);
    struct sized *blocks = xmalloc(m->count * sizeof *blocks + 1);
    size_t count = 0;

    for (size_t i = 0; i < m->count; i++) {
        uint32_t stack = stacks->site_stacks[places->site_of[i]];

        if (stack == 0)
            continue;
        blocks[count++] = (struct sized){stack - 1, m->v[i].size};
        note_birth(&lists[stack - 1], &m->v[i]);
    }
    qsort(blocks, count, sizeof *blocks, by_stack_and_size);
    make_lists(blocks, count, lists, arena);
    free(blocks);
    return lists;
}

const char *
annotated_kind_words(enum annotation_kind kind)
{
    static const char *const words[] = {
        [ANNOTATION_32_LITTLE] = "little-endian words of 4 bytes",
        [ANNOTATION_64_LITTLE] = "little-endian words of 8 bytes",
        [ANNOTATION_32_BIG] = "big-endian words of 4 bytes",
        [ANNOTATION_64_BIG] = "big-endian words of 8 bytes",
    };

    return words[kind];
}

const char *
annotated_refusal_words(enum refusal why, uint64_t count, struct arena *arena)
{
    static const char *const one[] = {
        [REFUSED_NOT_ONE] = "is text or code",       [REFUSED_NO_END] = "has no end",
        [REFUSED_CUT_OFF] = "is cut off",            [REFUSED_COPY] = "is a copy",
        [REFUSED_CORRUPTED] = "is damaged",            [REFUSED_INSIDE] = "lies inside a block",
        [REFUSED_OTHER_WORDS] = "is of other words",
    };
    static const char *const several[] = {
        [REFUSED_NOT_ONE] = "are text or code",       [REFUSED_NO_END] = "have no end",
        [REFUSED_CUT_OFF] = "are cut off",            [REFUSED_COPY] = "are copies",
        [REFUSED_CORRUPTED] = "are damaged",            [REFUSED_INSIDE] = "lie inside a block",
        [REFUSED_OTHER_WORDS] = "are of other words",
    };

    return arena_printf(arena, "%s %s", style_count(arena, (int64_t)count),
                        count == 1 ? one[why] : several[why]);
}

const char *
annotated_refused_words(const struct annotated_memory *m, struct arena *arena)
{
    const char *text = NULL;

    for (uint32_t i = 0; i < REFUSALS; i++) {
        const char *more;

        if (m->refused[i] == 0)
            continue;
        more = annotated_refusal_words((enum refusal)i, m->refused[i], arena);
        text = text == NULL ? more : arena_printf(arena, "%s, %s", text, more);
    }
    return text;
}

const char *
annotated_address_words(const struct annotated_memory *m, const struct annotated_block *block,
                        struct arena *arena)
{
    uint64_t address = annotated_address(m, block);

    if (annotated_base_is_whole(m, block->part))
        return arena_printf(arena, "0x%" PRIx64, address);
    return arena_printf(arena, "0x\xe2\x80\xa6%08" PRIx32, (uint32_t)address);
}

const char *
annotated_refusal_name(enum refusal why)
{
    static const char *const names[] = {
        [REFUSED_NOT_ONE] = "not_annotations",  [REFUSED_NO_END] = "without_end",
        [REFUSED_CUT_OFF] = "cut_off",          [REFUSED_COPY] = "copies",
        [REFUSED_CORRUPTED] = "damaged",          [REFUSED_INSIDE] = "inside_blocks",
        [REFUSED_OTHER_WORDS] = "other_words",
    };

    return names[why];
}

const char *
annotated_corruption_name(enum corruption_kind kind)
{
    return kind == CORRUPTION_PAST_END       ? "past-end"
           : kind == CORRUPTION_BEFORE_START ? "before-start"
                                             : "overwritten";
}
