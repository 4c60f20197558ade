/* collapsed.c: collapsed (folded) stacks, the plainest format there is.
 *
 *     main;work;make 300
 *     main;work;std::vector<int>::push_back(int) 4096
 *
 * One line per distinct stack: frames root first, separated by ';', a blank, a positive integer.
 * Consumers reject zero, negative numbers and fractions, so such stacks are left out; a ';' or a
 * line break inside a name would split it and is replaced by ':' or a blank, and what would drive a
 * terminal by '?'. Inlined frames are
 * ordinary frames. Lines are sorted by their bytes, and stacks that read the same are one line, so
 * that two exports can be compared with diff(1).
 *
 * One metric per file: the format has room for one number. Of heaps and labels it knows nothing:
 * they can stand as the outermost frame, "[heap parser arena];main;…" (options.roots).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "export/export.h"
#include "util/character.h"

struct line {
    const char *text;
    int64_t value;
};

static void
add_name(struct strbuf *b, const char *name)
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

static const char *
stack_text(const struct profile *p, const struct stack *s, const struct tag_roots *roots,
           struct strbuf *scratch, struct arena *arena)
{
    const char *root = tags_root(p, roots, s->heap, s->labels, arena);

    strbuf_clear(scratch);
    if (root != NULL) {
        add_name(scratch, root);
        strbuf_char(scratch, ';');
    }
    if (s->depth == 0)
        strbuf_str(scratch, FRAME_NAME_OTHER);
    for (uint32_t i = s->depth; i-- > 0;) {
        add_name(scratch, frame_name(p, s->frames[i], s->locations[i], arena));
        if (i > 0)
            strbuf_char(scratch, ';');
    }
    return arena_strndup(arena, strbuf_text(scratch), scratch->length);
}

static int
compare_lines(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void
write_lines(struct line *lines, size_t count, struct strbuf *out)
{
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count;) {
        int64_t sum = 0;
        size_t first = i;

        for (; i < count && strcmp(lines[i].text, lines[first].text) == 0; i++)
            sum += lines[i].value;
        if (sum > 0)
            strbuf_fmt(out, "%s %" PRId64 "\n", lines[first].text, sum);
    }
}

int
export_collapsed(const struct profile *p, const struct stacks *stacks,
                 const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct strbuf scratch = {0};
    struct line *lines = arena_array(&arena, stacks->count, sizeof *lines);
    size_t count = 0;

    (void)err;
    for (size_t i = 0; i < stacks->count; i++) {
        int64_t value = metric_value(&stacks->v[i].counters, options->metric);

        if (value != 0)
            lines[count++] = (struct line){
                stack_text(p, &stacks->v[i], &options->roots, &scratch, &arena), value};
    }
    write_lines(lines, count, out);
    strbuf_release(&scratch);
    arena_release(&arena);
    return 0;
}
