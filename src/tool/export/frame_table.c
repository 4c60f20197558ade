/* frame_table.c: one row per function.
 *
 * Consumers sum by row, so a function that allocates on three lines must be one row. The row has a
 * line only if all its calls are on that line, and a source file only if all are in it; else the
 * module takes its place and shows readers where to look. Functions are equal as in tables
 * (functions of stacks, totals.h). Most viewers list only names, so a name that several functions
 * share is followed by the end of the file's path.
 */
#include "export/frame_table.h"

#include <string.h>

void
frame_table_init(struct frame_table *t, const struct profile *p, const struct stacks *stacks,
                 const struct tag_roots *roots, struct arena *arena)
{
    *t = (struct frame_table){.p = p, .roots = roots, .arena = arena};
    functions_init_labels(&t->functions, p, stacks, arena);
    t->by_function = arena_array(arena, t->functions.count, sizeof *t->by_function);
}

void
frame_table_release(struct frame_table *t)
{
    functions_release(&t->functions);
    strtab_release(&t->roots_seen);
}

static uint32_t
frame_table_add_row(struct frame_table *t, const char *name, const char *file, uint32_t line)
{
    arena_grow(t->arena, &t->v, &t->capacity, t->count, sizeof *t->v);
    t->v[t->count] = (struct frame_row){name, file, line};
    return (uint32_t)t->count++;
}

/* Return the row of NAME, which is no function's. */
static uint32_t
frame_table_root(struct frame_table *t, const char *name)
{
    uint32_t id = strtab_id(&t->roots_seen, name);

    arena_grow(t->arena, &t->by_root, &t->root_capacity, id, sizeof *t->by_root);
    if (t->by_root[id] == 0)
        t->by_root[id] = frame_table_add_row(t, name, "", 0) + 1;
    return t->by_root[id] - 1;
}

static uint32_t
frame_row(struct frame_table *t, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &t->p->frames[frame];
    uint32_t function = functions_of_frame(&t->functions, frame, location);
    const char *module = t->p->modules[f->module].path;
    const char *file = f->file != 0 ? profile_string(t->p, f->file) : module;
    struct frame_row *row;

    if (t->by_function[function] == 0)
        t->by_function[function] =
            frame_table_add_row(t, functions_label(&t->functions, function), file, f->line) + 1;
    row = &t->v[t->by_function[function] - 1];
    if (strcmp(row->file, file) != 0)
        *row = (struct frame_row){row->name, module, 0};
    if (row->line != f->line)
        row->line = 0;
    return t->by_function[function] - 1;
}

const uint32_t *
frame_table_stack(struct frame_table *t, const struct stack *s, size_t *ret_count)
{
    const char *tag = tags_root(t->p, t->roots, s->heap, s->labels, t->arena);
    const char *root = stack_root(t->p, s);
    size_t count = 0;

    arena_grow(t->arena, &t->stack, &t->stack_capacity, (size_t)s->depth + 1, sizeof *t->stack);
    if (tag != NULL)
        t->stack[count++] = frame_table_root(t, tag);
    if (root != NULL)
        t->stack[count++] = frame_table_root(t, root);
    for (uint32_t i = s->depth; i-- > 0;)
        t->stack[count++] = frame_row(t, s->frames[i], s->locations[i]);
    *ret_count = count;
    return t->stack;
}
