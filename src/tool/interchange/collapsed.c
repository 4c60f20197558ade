/* collapsed.c: write collapsed (folded) stacks, the simplest format.
 *
 *     main;work;make 300
 *     main;work;std::vector<int>::push_back(int) 4096
 *
 * Each distinct stack is a line: frames root first, separated by ';', a blank, a positive integer.
 * Consumers reject zero, negative numbers and fractions, so stacks with such values are left out.
 * In names, ';' is replaced by ':', a line break by a blank, and terminal control characters by
 * '?'. A name that several functions share is followed by their files, because consumers sum frames
 * of equal name. Inlined frames are ordinary frames. Lines are sorted by their bytes, and stacks
 * with equal text share a line, so that diff(1) can compare two exports.
 *
 * The format has one number per stack, so a file has one metric. It has no heaps or labels; they
 * can be the outermost frame, "[heap parser arena];main;…" (options.roots). */
#include "interchange/interchange.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/totals.h"
#include "util/amount.h"

/* A line to write: a name for each frame, outermost first. The text of all lines is never in
 * memory, because it may be a thousand times larger than the profile. */
struct line {
    const uint32_t *names; // Ids in the table of names.
    size_t count;
    int64_t value;
};

struct lines {
    const struct profile *p;
    const struct tag_roots *roots;
    struct arena *arena;
    struct functions functions; // For labels.
    struct strtab names;        // Names as they are written.
    struct strbuf scratch;      // Name being built.
    uint32_t *known;            // By frame: id of its name plus 1; 0 = not yet known.
    struct line *v;
    size_t count;
};

static void
collapsed_add_name(struct strbuf *b, const char *name)
{
    size_t skip;

    for (; *name != '\0'; name += skip) {
        size_t shown = character_shown(name, &skip);

        if (*name == ';')
            strbuf_char(b, ':');
        else if (*name == '\n' || *name == '\r')
            strbuf_char(b, ' ');
        else if (shown == 0)
            strbuf_char(b, '?');
        else
            strbuf_add(b, name, shown);
    }
}

static uint32_t
collapsed_name_id(struct lines *l, const char *name)
{
    strbuf_clear(&l->scratch);
    collapsed_add_name(&l->scratch, name);
    return strtab_id(&l->names, strbuf_text(&l->scratch));
}

static uint32_t
collapsed_frame_id(struct lines *l, uint32_t frame, uint32_t location)
{
    uint32_t id;

    if (l->known[frame] != 0)
        return l->known[frame] - 1;
    id = collapsed_name_id(l, functions_frame_label(&l->functions, frame, location));
    // Without a function, the location determines the name.
    if (l->p->frames[frame].function != 0)
        l->known[frame] = id + 1;
    return id;
}

static void
collapsed_add_line(struct lines *l, const struct stack *s, int64_t value)
{
    const char *tag = tags_root(l->p, l->roots, s->heap, s->labels, l->arena);
    const char *root = stack_root(l->p, s);
    uint32_t *names = arena_array(l->arena, s->depth + 2, sizeof *names);
    size_t count = 0;

    if (tag != NULL)
        names[count++] = collapsed_name_id(l, tag);
    if (root != NULL)
        names[count++] = collapsed_name_id(l, root);
    for (uint32_t i = s->depth; i-- > 0;)
        names[count++] = collapsed_frame_id(l, s->frames[i], s->locations[i]);
    l->v[l->count++] = (struct line){names, count, value};
}

/* Compare as strcmp of the two lines would. No name contains a ';', so lines are equal up to the
 * first name that differs. */
static int
collapsed_compare_lines(const void *a, const void *b, void *arg)
{
    const struct lines *l = arg;
    const struct line *x = a, *y = b;
    size_t i = 0, k = 0;
    const unsigned char *s, *t;
    unsigned c, d;

    while (i < x->count && i < y->count && x->names[i] == y->names[i])
        i++;
    if (i == x->count || i == y->count)
        return i < y->count ? -1 : i < x->count;
    s = (const unsigned char *)strtab_get(&l->names, x->names[i]);
    t = (const unsigned char *)strtab_get(&l->names, y->names[i]);
    while (s[k] == t[k] && s[k] != '\0')
        k++;
    c = s[k] == '\0' && i + 1 < x->count ? ';' : s[k];
    d = t[k] == '\0' && i + 1 < y->count ? ';' : t[k];
    return c < d ? -1 : c > d;
}

static void
write_lines(struct lines *l, struct strbuf *out)
{
    qsort_r(l->v, l->count, sizeof *l->v, collapsed_compare_lines, l);
    for (size_t i = 0; i < l->count;) {
        const struct line *first = &l->v[i];
        int64_t sum = 0;

        for (; i < l->count && collapsed_compare_lines(&l->v[i], first, l) == 0; i++)
            sum = counters_sum(sum, l->v[i].value);
        if (sum <= 0)
            continue;
        for (size_t k = 0; k < first->count; k++) {
            strbuf_str(out, k > 0 ? ";" : "");
            strbuf_str(out, strtab_get(&l->names, first->names[k]));
            strbuf_pause(out);
        }
        strbuf_fmt(out, " %" PRId64 "\n", sum);
    }
}

int
export_collapsed(const struct profile *p, const struct stacks *stacks,
                 const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct lines l = {.p = p, .roots = &options->roots, .arena = &arena};

    (void)err;
    l.v = arena_array(&arena, stacks->count, sizeof *l.v);
    functions_init_labels(&l.functions, p, stacks, &arena);
    l.known = arena_array(&arena, p->frame_count, sizeof *l.known);
    for (size_t i = 0; i < stacks->count; i++) {
        int64_t value = metric_value(&stacks->v[i].counters, options->metric);

        if (value != 0)
            collapsed_add_line(&l, &stacks->v[i], value);
    }
    write_lines(&l, out);
    strbuf_release(&l.scratch);
    functions_release(&l.functions);
    strtab_release(&l.names);
    arena_release(&arena);
    return 0;
}
