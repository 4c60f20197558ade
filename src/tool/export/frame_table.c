/* frame_table.c: one row per function.
 *
 * Consumers sum by row, so a function that allocates on three lines must be one row. The row has a
 * line only if all its calls are on that line. Functions are equal if name and file are. Without a
 * source file the module takes its place. This separates equally named functions of two libraries
 * and shows readers where to look.
 *
 * A frame is looked up by its text once. After that, its index in the profile leads to its row, or
 * its location if it has no function. */
#include "export/frame_table.h"

#include "analyse/frame_name.h"

void
frame_table_init(struct frame_table *t, const struct profile *p, const struct tag_roots *roots,
                 struct arena *arena)
{
    *t = (struct frame_table){.p = p, .roots = roots, .arena = arena};
    t->by_frame = arena_array(arena, p->frame_count, sizeof *t->by_frame);
    t->by_location = arena_array(arena, p->location_count, sizeof *t->by_location);
}

void
frame_table_release(struct frame_table *t)
{
    strtab_release(&t->keys);
    strbuf_release(&t->key);
}

static uint32_t
frame_table_row_of(struct frame_table *t, const char *name, const char *file, uint32_t line)
{
    uint32_t index;

    strbuf_clear(&t->key);
    strbuf_fmt(&t->key, "%s\n", file);
    strbuf_str(&t->key, name);
    index = strtab_id(&t->keys, strbuf_text(&t->key)) - 1; // No key is empty, so no id is 0.
    if (index >= t->count) {
        arena_grow(t->arena, &t->v, &t->capacity, index, sizeof *t->v);
        t->v[index] = (struct frame_row){name, file, line};
        t->count = (size_t)index + 1;
    } else if (t->v[index].line != line) {
        t->v[index].line = 0;
    }
    return index;
}

static uint32_t
frame_row(struct frame_table *t, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &t->p->frames[frame];
    uint32_t *known = f->function != 0 ? &t->by_frame[frame] : &t->by_location[location];

    if (*known == 0) {
        const char *file = f->file != 0 ? profile_string(t->p, f->file)
                                        : t->p->modules[f->module].path;

        *known =
            frame_table_row_of(t, frame_name(t->p, frame, location, t->arena), file, f->line) + 1;
    }
    return *known - 1;
}

const uint32_t *
frame_table_stack(struct frame_table *t, const struct stack *s, size_t *ret_count)
{
    const char *tag = tags_root(t->p, t->roots, s->heap, s->labels, t->arena);
    const char *root = stack_root(t->p, s);
    size_t count = 0;

    arena_grow(t->arena, &t->stack, &t->stack_capacity, (size_t)s->depth + 1, sizeof *t->stack);
    if (tag != NULL)
        t->stack[count++] = frame_table_row_of(t, tag, "", 0);
    if (root != NULL)
        t->stack[count++] = frame_table_row_of(t, root, "", 0);
    for (uint32_t i = s->depth; i-- > 0;)
        t->stack[count++] = frame_row(t, s->frames[i], s->locations[i]);
    *ret_count = count;
    return t->stack;
}
