/* source.c: sum stacks by source line.
 *
 * WHAT is first taken for a file, because a function name rarely contains a file name, then for the
 * name of a function, and then for a part of one. "main" thus shows no lines of
 * __libc_start_main. Each string is compared once, and `wanted` stores the result by string id. A
 * stack counts once in the `inclusive` of a line, however often the line is on it: each line stores
 * the last stack counted. */
#include "analyse/source.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/fold.h"

struct finder {
    const struct profile *p;
    struct arena *arena;
    struct source *ret;
    enum named { NAMED_FILE, NAMED_FUNCTION, NAMED_PART, NAMED_COUNT } by;
    bool *wanted; // By string id: true if WHAT names it.
    size_t file_capacity, function_capacity;
    struct map files;      // File string to index.
    struct map lines;      // File string and line to index in its file's lines.
    struct map last_stack; // File string and line to the last stack counted, plus 1.
    struct map functions;  // Function strings already in ret->functions.
};

static void source_add_stack(struct finder *f, const struct stacks *stacks, size_t index);
static void source_sort_lines(struct source *s);

static bool
is_path(const char *path, const char *what)
{
    size_t n = strlen(path), m = strlen(what);

    if (m == 0 || m > n || strcmp(path + n - m, what) != 0)
        return false;
    return m == n || path[n - m - 1] == '/';
}

/* Return true if WHAT names the function FUNCTION, or with PART a part of it. */
static bool
is_function(const char *function, const char *what, bool part)
{
    char plain[FOLD_NAME_MAX];

    if (part || strcmp(function, what) == 0 || strstr(function, what) == NULL)
        return strstr(function, what) != NULL;
    fold_plain_name(function, plain);
    return strcmp(plain, what) == 0;
}

/* Set `wanted` for the files or functions that WHAT names. Return false if no frame has such a
 * name. */
static bool
mark_wanted(struct finder *f, const char *what)
{
    bool any = false;

    for (size_t i = 0; i < f->p->frame_count; i++) {
        const struct profile_frame *frame = &f->p->frames[i];
        uint32_t id = f->by == NAMED_FILE ? frame->file : frame->function;
        const char *text = profile_string(f->p, id);

        if (id != 0 && (f->by == NAMED_FILE ? is_path(text, what)
                                            : is_function(text, what, f->by == NAMED_PART)))
            any = f->wanted[id] = true;
    }
    return any;
}

int
source_find(const struct profile *p, const struct stacks *stacks, const char *what,
            struct arena *arena, struct source *ret)
{
    struct finder f = {.p = p, .arena = arena, .ret = ret};

    *ret = (struct source){0};
    f.wanted = arena_alloc(arena, p->strings.count);
    while (!mark_wanted(&f, what))
        if (++f.by == NAMED_COUNT)
            return HEAPTAP_NOT_FOUND;
    for (size_t i = 0; i < stacks->count; i++)
        source_add_stack(&f, stacks, i);
    source_sort_lines(ret);
    map_release(&f.files);
    map_release(&f.lines);
    map_release(&f.last_stack);
    map_release(&f.functions);
    return ret->file_count > 0 || ret->function_count > 0 ? 0 : HEAPTAP_NOT_FOUND;
}

static struct source_file *
source_find_file(struct finder *f, uint32_t file)
{
    bool is_new;
    uint64_t *slot = map_put(&f->files, file, &is_new);
    size_t i = f->ret->file_count;

    if (!is_new)
        return &f->ret->files[*slot];
    arena_grow(f->arena, &f->ret->files, &f->file_capacity, i, sizeof *f->ret->files);
    f->ret->files[i] =
        (struct source_file){.path = profile_string(f->p, file), .line_min = UINT32_MAX};
    f->ret->file_count++;
    *slot = i;
    return &f->ret->files[i];
}

static struct source_line *
source_find_line(struct finder *f, const struct profile_frame *frame)
{
    struct source_file *file = source_find_file(f, frame->file);
    bool is_new;
    uint64_t *slot = map_put(&f->lines, (uint64_t)frame->file << 32 | frame->line, &is_new);
    size_t i = file->line_count;

    if (!is_new)
        return &file->lines[*slot];
    arena_grow(f->arena, &file->lines, &file->line_capacity, i, sizeof *file->lines);
    file->lines[i] = (struct source_line){
        .line = frame->line, .inclusive = COUNTERS_ZERO, .self = COUNTERS_ZERO};
    file->line_count++;
    file->line_min = frame->line < file->line_min ? frame->line : file->line_min;
    file->line_max = frame->line > file->line_max ? frame->line : file->line_max;
    *slot = i;
    return &file->lines[i];
}

static void
note_function(struct finder *f, uint32_t function)
{
    bool is_new;

    map_put(&f->functions, function, &is_new);
    if (!is_new)
        return;
    arena_grow(f->arena, &f->ret->functions, &f->function_capacity, f->ret->function_count,
               sizeof *f->ret->functions);
    f->ret->functions[f->ret->function_count++] = profile_string(f->p, function);
}

static void
count_line(struct source_line *line, const struct stacks *stacks, const struct stack *s,
           uint32_t frame, bool is_new, struct arena *arena)
{
    if (frame == 0) {
        counters_add(&line->self, &s->counters);
        stack_errors_add(&line->self_errors, stacks, s, 0, arena);
    }
    if (is_new) {
        counters_add(&line->inclusive, &s->counters);
        stack_errors_add(&line->inclusive_errors, stacks, s, frame, arena);
    }
}

static void
source_add_stack(struct finder *f, const struct stacks *stacks, size_t index)
{
    const struct stack *s = &stacks->v[index];

    for (uint32_t i = 0; i < s->depth; i++) {
        const struct profile_frame *frame = &f->p->frames[s->frames[i]];
        struct source_line *line;
        uint64_t *last;

        if (!f->wanted[f->by == NAMED_FILE ? frame->file : frame->function])
            continue;
        if (f->by != NAMED_FILE)
            note_function(f, frame->function);
        if (frame->file == 0 || frame->line == 0)
            continue;
        f->ret->has_lines = true;
        line = source_find_line(f, frame);
        last = map_put(&f->last_stack, (uint64_t)frame->file << 32 | frame->line, NULL);
        count_line(line, stacks, s, i, *last != index + 1, f->arena);
        *last = index + 1;
    }
}

static int
source_compare_lines(const void *a, const void *b)
{
    const struct source_line *x = a, *y = b;

    return x->line < y->line ? -1 : x->line > y->line;
}

static int64_t
largest_line(const struct source_file *f)
{
    int64_t largest = 0;

    for (size_t i = 0; i < f->line_count; i++)
        if (f->lines[i].inclusive.allocated_bytes > largest)
            largest = f->lines[i].inclusive.allocated_bytes;
    return largest;
}

static int
compare_files(const void *a, const void *b)
{
    int64_t x = largest_line(a), y = largest_line(b);

    return x > y ? -1 : x < y;
}

static void
source_sort_lines(struct source *s)
{
    for (size_t i = 0; i < s->file_count; i++)
        qsort(s->files[i].lines, s->files[i].line_count, sizeof *s->files[i].lines,
              source_compare_lines);
    if (s->file_count > 1)
        qsort(s->files, s->file_count, sizeof *s->files, compare_files);
}
