/* text_source.c: source text with what each line allocated in front of it.
 *
 * The numbers of a line are those of all stacks with a frame on it; a star marks lines that
 * allocate themselves (their frame is the innermost). Text is shown around lines with numbers only.
 * Where the text of a file comes from is for the caller to know.
 */
#include "text/text_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/sampling.h"

enum {
    CONTEXT_LINES = 5,
    WHOLE_FILE_LINES = 40,
    NUMBERS_WIDTH = 35,
    ERROR_WIDTH = 9,
    TAB_WIDTH = 4
};

/* The lines of a source file; [0] is unused, so that the index is the line number. */
struct text_lines {
    const char **v;
    size_t count, capacity;
};

/* LENGTH bytes at S as a string with tabs expanded. */
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

static size_t
numbers_width(const struct text_view *v)
{
    return NUMBERS_WIDTH + (profile_has_errors(v->base.p) ? ERROR_WIDTH : 0);
}

static void
put_numbers(const struct text_view *v, const struct source_line *line, bool self)
{
    const struct counters *c = self ? &line->self : &line->inclusive;
    const struct errors *e = self ? &line->self_errors : &line->inclusive_errors;

    if (c->allocations == 0 && c->frees == 0) {
        style_right(v->out, "", numbers_width(v));
        return;
    }
    style_right(v->out, style_bytes_short(v->base.arena, counters_live_bytes(c)), 8);
    style_right(v->out, c->partial ? "?" : style_bytes_short(v->base.arena, c->peak_bytes), 8);
    style_right(v->out, style_bytes_short(v->base.arena, c->allocated_bytes), 8);
    if (profile_has_errors(v->base.p))
        style_right(v->out, sampling_mark(v->base.arena, c, e, METRIC_ALLOC), ERROR_WIDTH);
    style_right(v->out, style_count(v->base.arena, c->allocations), 11);
}

static void
put_line(const struct text_view *v, const struct source_line *line, bool self, uint32_t number,
         const char *text)
{
    char digits[16];
    bool has_data = line != NULL;

    if (has_data)
        put_numbers(v, line, self);
    else
        style_right(v->out, "", numbers_width(v));
    snprintf(digits, sizeof digits, "%" PRIu32, number);
    style_ink(&v->style, v->out, INK_DIM);
    style_right(v->out, digits, 7);
    style_ink(&v->style, v->out, INK_PLAIN);
    strbuf_str(v->out, has_data && line->self.allocations ? " *" : *text ? "  " : "");
    if (*text) {
        strbuf_char(v->out, ' ');
        style_text(
            &v->style, v->out, has_data ? INK_BOLD : INK_PLAIN,
            style_cut_end(v->base.arena, text, style_room(&v->style, numbers_width(v) + 10)));
    }
    strbuf_char(v->out, '\n');
}

static void
put_titles(const struct text_view *v, const char *path)
{
    const char *clean = style_clean(v->base.arena, path);

    style_text(&v->style, v->out, INK_TITLE, style_cut_start(v->base.arena, clean, v->style.width));
    strbuf_char(v->out, '\n');
    style_ink(&v->style, v->out, INK_DIM);
    style_right(v->out, "live", 8);
    style_right(v->out, "peak", 8);
    style_right(v->out, "alloc", 8);
    if (profile_has_errors(v->base.p))
        style_right(v->out, "error", ERROR_WIDTH);
    style_right(v->out, "calls", 11);
    style_right(v->out, "line", 7);
    style_ink(&v->style, v->out, INK_PLAIN);
    strbuf_char(v->out, '\n');
}

/* The data of line NUMBER, and in *NEXT the index of the first line with data after it. */
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
put_text(const struct text_view *v, const struct source_file *f, bool self,
         const struct text_lines *text)
{
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
        if (n != last + 1 && last != 0) {
            style_right(v->out, "", numbers_width(v) + 6);
            style_text(&v->style, v->out, INK_DIM, "\xe2\x80\xa6\n");
        }
        put_line(v, data, self, n, text->v[n]);
        last = n;
    }
    for (line_data(f, (uint32_t)text->count, &next); next < f->line_count; next++)
        put_line(v, &f->lines[next], self, f->lines[next].line, "(beyond the end of the file)");
}

static void
put_file(const struct text_view *v, const struct source_text *t, const struct source_file *f)
{
    struct strbuf text = {0};
    struct text_lines lines;

    put_titles(v, f->path);
    if (t->read(t->read_arg, f->path, v->base.arena, &text)) {
        split_lines(&text, v->base.arena, &lines);
        put_text(v, f, t->self, &lines);
    } else {
        for (size_t i = 0; i < f->line_count; i++)
            put_line(v, &f->lines[i], t->self, f->lines[i].line, "");
    }
    strbuf_release(&text);
}

void
text_source(const struct text_view *v, const struct source_text *t)
{
    const struct source *s = t->source;

    for (size_t i = 0; i < s->file_count; i++) {
        if (i > 0)
            strbuf_char(v->out, '\n');
        put_file(v, t, &s->files[i]);
    }
    style_text(&v->style, v->out, INK_DIM,
               t->self ? "\n* allocates itself; only that is counted\n"
                       : "\n* allocates itself; numbers include what the line calls\n");
}
