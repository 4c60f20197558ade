/* text_source.c: source text with the allocations of each line in front of it.
 *
 * The numbers of a line cover all stacks with a frame on it; a star marks lines that allocate
 * (their frame is the innermost). Only text near lines with numbers is shown. The caller provides
 * the text of a file. */
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

#include "view/phrases.h"

enum { CONTEXT_LINES = 5, WHOLE_FILE_LINES = 40, TAB_WIDTH = 4 };

/* Columns before the text. They are as wide as their contents, so that the text gets the rest. */
enum { LIVE, PEAK, ALLOCATED, ERROR, CALLS, LINE, NUMBERS };

static const char *const titles[NUMBERS] = {"live", "peak", "alloc", "error", "calls", "line"};

/* A file that is being shown. */
struct shown_file {
    const struct text_view *v;
    const struct source_file *f;
    bool self;
    size_t widths[NUMBERS]; // 0 = the column is omitted.
};

/* The lines of a source file; [0] is unused, so that the index is the line number. */
struct text_lines {
    const char **v;
    size_t count, capacity;
};

/* Return LENGTH bytes at S as a string with tabs expanded. */
static const char *
expand_tabs(const char *s, size_t length, struct arena *arena)
{
    char *out = arena_alloc(arena, length * TAB_WIDTH + 1), *o = out;

    for (size_t i = 0; i < length; i++) {
        if (s[i] == '\t') {
            do
                *o++ = ' ';
            while ((o - out) % TAB_WIDTH != 0);
        } else if (s[i] != '\r' && s[i] != '\0') {
            *o++ = s[i];
        }
    }
    return style_clean(arena, out);
}

static void
split_lines(const struct strbuf *text, struct arena *arena, struct text_lines *ret)
{
    const char *s = strbuf_text(text), *end = s + text->length;

    *ret = (struct text_lines){.count = 1};
    arena_grow(arena, &ret->v, &ret->capacity, 0, sizeof *ret->v);
    while (s < end) {
        const char *newline = memchr(s, '\n', (size_t)(end - s));
        const char *line_end = newline ? newline : end;

        arena_grow(arena, &ret->v, &ret->capacity, ret->count, sizeof *ret->v);
        ret->v[ret->count++] = expand_tabs(s, (size_t)(line_end - s), arena);
        s = line_end + 1;
    }
}

/* Return a count in at most six columns: "1,234", "12.3k", "4.6M". */
static const char *
short_count(struct arena *arena, int64_t count)
{
    static const char units[] = "kMGTPE";
    double v = (double)count / 1000;
    size_t unit = 0;

    if (count > -10000 && count < 10000)
        return style_count(arena, count);
    for (; (v >= 999.95 || v <= -999.95) && units[unit + 1] != '\0'; unit++)
        v /= 1000;
    return arena_printf(arena, "%.1f%c", v, units[unit]);
}

/* Set RET to the texts of LINE's columns; NULL = a line without data. */
static void
line_numbers(const struct shown_file *s, const struct source_line *line, uint32_t number,
             const char *ret[NUMBERS])
{
    struct arena *a = s->v->base.arena;

    for (size_t i = 0; i < NUMBERS; i++)
        ret[i] = "";
    ret[LINE] = arena_printf(a, "%" PRIu32, number);
    if (line != NULL) {
        const struct counters *c = s->self ? &line->self : &line->inclusive;
        const struct errors *e = s->self ? line->self_errors : line->inclusive_errors;

        if (c->allocations == 0 && c->frees == 0)
            return;
        ret[LIVE] = style_bytes_short(a, counters_live_bytes(c));
        ret[PEAK] = c->partial ? "?" : style_bytes_short(a, c->peak_bytes);
        ret[ALLOCATED] = style_bytes_short(a, c->allocated_bytes);
        ret[ERROR] = sampling_mark(a, c, e, METRIC_ALLOC);
        ret[CALLS] = short_count(a, c->allocations);
    }
}

static void
text_source_measure(struct shown_file *s, uint32_t last_line)
{
    const char *numbers[NUMBERS];

    for (size_t k = 0; k < NUMBERS; k++)
        s->widths[k] = strlen(titles[k]);
    for (size_t i = 0; i < s->f->line_count; i++) {
        line_numbers(s, &s->f->lines[i], s->f->lines[i].line, numbers);
        for (size_t k = 0; k < NUMBERS; k++)
            if (style_width(numbers[k]) > s->widths[k])
                s->widths[k] = style_width(numbers[k]);
    }
    line_numbers(s, NULL, last_line, numbers);
    if (style_width(numbers[LINE]) > s->widths[LINE])
        s->widths[LINE] = style_width(numbers[LINE]);
    if (!profile_has_errors(s->v->base.p) && !profile_has_unbounded(s->v->base.p))
        s->widths[ERROR] = 0;
}

/* Write NUMBERS in their columns, the last one dim. Return the total width. */
static size_t
put_columns(const struct shown_file *s, const char *const *numbers)
{
    size_t used = 0;

    for (size_t k = 0; k < NUMBERS; k++) {
        if (s->widths[k] == 0)
            continue;
        if (k == LINE)
            style_attr(&s->v->style, s->v->out, ATTR_DIM);
        style_right(s->v->out, numbers[k], s->widths[k] + (k == LIVE ? 0 : 1));
        used += s->widths[k] + (k == LIVE ? 0 : 1);
    }
    style_attr(&s->v->style, s->v->out, ATTR_PLAIN);
    return used;
}

static void
text_source_put_line(const struct shown_file *s, const struct source_line *line, uint32_t number,
                     const char *text)
{
    const struct text_view *v = s->v;
    const char *numbers[NUMBERS];
    bool has_data = line != NULL;
    size_t used;

    line_numbers(s, line, number, numbers);
    used = put_columns(s, numbers);
    strbuf_str(v->out, has_data && line->self.allocations ? "*" : *text ? " " : "");
    if (*text) {
        strbuf_char(v->out, ' ');
        style_text(&v->style, v->out, has_data ? ATTR_BOLD : ATTR_PLAIN,
                   style_cut_end(v->base.arena, text, style_room(&v->style, used + 2)));
    }
    strbuf_char(v->out, '\n');
}

static void
text_source_put_titles(const struct shown_file *s)
{
    const struct text_view *v = s->v;
    const char *clean = style_clean(v->base.arena, s->f->path);

    style_text(&v->style, v->out, ATTR_TITLE,
               style_cut_start(v->base.arena, clean, v->style.width));
    strbuf_char(v->out, '\n');
    style_attr(&v->style, v->out, ATTR_DIM);
    put_columns(s, titles);
    strbuf_char(v->out, '\n');
}

/* Return the data of line NUMBER, or NULL. Set *NEXT to the index of the first line with data after
 * it. */
static const struct source_line *
line_data(const struct source_file *f, uint32_t number, size_t *next)
{
    while (*next < f->line_count && f->lines[*next].line < number)
        ++*next;
    if (*next < f->line_count && f->lines[*next].line == number)
        return &f->lines[(*next)++];
    return NULL;
}

static void
text_source_put_text(const struct shown_file *s, const struct text_lines *text)
{
    const struct source_file *f = s->f;
    size_t next = 0;
    uint32_t last = 0, last_data = 0;
    bool whole = text->count <= WHOLE_FILE_LINES;

    for (uint32_t n = 1; n < text->count; n++) {
        const struct source_line *data = line_data(f, n, &next);
        bool before = next < f->line_count && f->lines[next].line - n <= CONTEXT_LINES;
        bool after = last_data != 0 && n - last_data <= CONTEXT_LINES;

        if (data)
            last_data = n;
        if (!whole && !data && !before && !after)
            continue;
        if (n != last + 1 && last != 0)
            style_text(&s->v->style, s->v->out, ATTR_DIM, "\xe2\x80\xa6\n");
        text_source_put_line(s, data, n, text->v[n]);
        last = n;
    }
    for (line_data(f, (uint32_t)text->count, &next); next < f->line_count; next++)
        text_source_put_line(s, &f->lines[next], f->lines[next].line,
                             "(beyond the end of the file)");
}

static void
put_file(const struct text_view *v, const struct source_text *t, const struct source_file *f)
{
    struct shown_file s = {.v = v, .f = f, .self = t->self};
    struct strbuf text = {0};
    struct text_lines lines = {0};
    bool found = t->read(t->read_arg, f->path, v->base.arena, &text);

    if (found)
        split_lines(&text, v->base.arena, &lines);
    text_source_measure(&s, found ? (uint32_t)lines.count - 1 : 0);
    text_source_put_titles(&s);
    if (found)
        text_source_put_text(&s, &lines);
    for (size_t i = 0; !found && i < f->line_count; i++)
        text_source_put_line(&s, &f->lines[i], f->lines[i].line, "");
    strbuf_release(&text);
}

void
text_source(struct text_view *v, const struct source_text *t)
{
    const struct source *s = t->source;

    for (size_t i = 0; i < s->file_count; i++) {
        if (i > 0)
            strbuf_char(v->out, '\n');
        put_file(v, t, &s->files[i]);
    }
    style_text(&v->style, v->out, ATTR_DIM,
               t->self ? "\n* allocates itself; only that is counted\n"
                       : "\n* allocates itself; numbers include callees\n");
    if (!t->self)
        text_truncated(v);
}
