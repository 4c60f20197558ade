/* cmd_source.c: `heaptap source`, the source text with what each line allocated in front of it.
 *
 * The numbers of a line are those of all stacks with a frame on it; a star marks lines that
 * allocate themselves (their frame is the innermost). Text is shown around lines with numbers only.
 * A source file that cannot be read is no failure: its lines are listed without text.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyse/source.h"
#include "option/opts.h"
#include "util/regular.h"
#include "view/sampling.h"
#include "view/view.h"
#include "view/view_json.h"

enum {
    CONTEXT_LINES = 5,
    WHOLE_FILE_LINES = 40,
    NUMBERS_WIDTH = 35,
    ERROR_WIDTH = 9,
    TAB_WIDTH = 4
};

#define SOURCE_BYTES_MAX (64 * MIB)

static struct {
    const char *directory;
    bool self;
} opts;

static int source_set(struct view_set *set, const char *what);

static int
run_source(int count, char **arguments)
{
    struct view_set set;
    int rc = view_open(count > 1 ? arguments[1] : NULL, &set);

    if (rc == 0)
        rc = source_set(&set, arguments[0]);
    view_close(&set);
    return rc;
}

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

/* Read a text file of sensible size. A profile may name any file, so a file that not everybody may
 * read is shown only if its place was ASKED for. */
static bool
read_text(const char *path, bool asked, struct strbuf *ret)
{
    char chunk[65536];
    struct stat st;
    int fd = regular_open(NULL, path, &st);
    ssize_t n = 0;

    if (fd < 0)
        return false;
    if (st.st_size <= (off_t)SOURCE_BYTES_MAX && (asked || (st.st_mode & S_IROTH) != 0))
        while (ret->length < SOURCE_BYTES_MAX && (n = read(fd, chunk, sizeof chunk)) > 0)
            strbuf_add(ret, chunk, (size_t)n);
    close(fd);
    return ret->length > 0 && memchr(ret->text, '\0', ret->length) == NULL;
}

static bool
leads_out(const char *path)
{
    for (const char *s = path; s != NULL; s = strchr(s, '/')) {
        s += strspn(s, "/");
        if (strncmp(s, "..", 2) == 0 && (s[2] == '/' || s[2] == '\0'))
            return true;
    }
    return false;
}

/* PATH as it is, then its ends, the longest first, under --source-dir. */
static bool
find_text(const char *path, struct arena *arena, struct strbuf *ret)
{
    for (const char *tail = path; tail != NULL && opts.directory != NULL;
         tail = strchr(tail, '/')) {
        while (*tail == '/')
            tail++;
        if (!leads_out(tail) &&
            read_text(arena_printf(arena, "%s/%s", opts.directory, tail), true, ret))
            return true;
        strbuf_clear(ret);
    }
    return read_text(path, false, ret);
}

static size_t
numbers_width(const struct text_view *v)
{
    return NUMBERS_WIDTH + (profile_has_errors(v->p) ? ERROR_WIDTH : 0);
}

static void
put_numbers(const struct text_view *v, const struct source_line *line)
{
    const struct counters *c = opts.self ? &line->self : &line->inclusive;
    const struct errors *e = opts.self ? &line->self_errors : &line->inclusive_errors;

    if (c->allocations == 0 && c->frees == 0) {
        style_right(v->out, "", numbers_width(v));
        return;
    }
    style_right(v->out, style_bytes_short(v->arena, counters_live_bytes(c)), 8);
    style_right(v->out, c->partial ? "?" : style_bytes_short(v->arena, c->peak_bytes), 8);
    style_right(v->out, style_bytes_short(v->arena, c->allocated_bytes), 8);
    if (profile_has_errors(v->p))
        style_right(v->out, sampling_mark(v->arena, c, e, METRIC_ALLOC), ERROR_WIDTH);
    style_right(v->out, style_count(v->arena, c->allocations), 11);
}

static void
put_line(const struct text_view *v, const struct source_line *line, uint32_t number,
         const char *text)
{
    char digits[16];
    bool has_data = line != NULL;

    if (has_data)
        put_numbers(v, line);
    else
        style_right(v->out, "", numbers_width(v));
    snprintf(digits, sizeof digits, "%" PRIu32, number);
    style_ink(&v->style, v->out, INK_DIM);
    style_right(v->out, digits, 7);
    style_ink(&v->style, v->out, INK_PLAIN);
    strbuf_str(v->out, has_data && line->self.allocations ? " *" : *text ? "  " : "");
    if (*text) {
        strbuf_char(v->out, ' ');
        style_text(&v->style, v->out, has_data ? INK_BOLD : INK_PLAIN,
                   style_cut_end(v->arena, text, style_room(&v->style, numbers_width(v) + 10)));
    }
    strbuf_char(v->out, '\n');
}

static void
put_titles(const struct text_view *v, const char *path)
{
    const char *clean = style_clean(v->arena, path);

    style_text(&v->style, v->out, INK_TITLE, style_cut_start(v->arena, clean, v->style.width));
    strbuf_char(v->out, '\n');
    style_ink(&v->style, v->out, INK_DIM);
    style_right(v->out, "live", 8);
    style_right(v->out, "peak", 8);
    style_right(v->out, "alloc", 8);
    if (profile_has_errors(v->p))
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
put_text(const struct text_view *v, const struct source_file *f, const struct text_lines *text)
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
        put_line(v, data, n, text->v[n]);
        last = n;
    }
    for (line_data(f, (uint32_t)text->count, &next); next < f->line_count; next++)
        put_line(v, &f->lines[next], f->lines[next].line, "(beyond the end of the file)");
}

static void
put_file(const struct text_view *v, const struct source_file *f)
{
    struct strbuf text = {0};
    struct text_lines lines;

    put_titles(v, f->path);
    if (find_text(f->path, v->arena, &text)) {
        split_lines(&text, v->arena, &lines);
        put_text(v, f, &lines);
    } else {
        say_hint(
            "%s: the source is not there or not for everybody to read, so only line numbers are "
            "shown; say where it lies with --source-dir DIR",
            f->path);
        for (size_t i = 0; i < f->line_count; i++)
            put_line(v, &f->lines[i], f->lines[i].line, "");
    }
    strbuf_release(&text);
}

static void
source_text(const struct text_view *v, const struct source *s)
{
    for (size_t i = 0; i < s->file_count; i++) {
        if (i > 0)
            strbuf_char(v->out, '\n');
        put_file(v, &s->files[i]);
    }
    style_text(&v->style, v->out, INK_DIM,
               opts.self ? "\n* allocates itself; only that is counted\n"
                         : "\n* allocates itself; numbers include what the line calls\n");
}

static int
source_one(struct profile *p, const char *what, struct arena *arena, struct json *j,
           struct strbuf *out)
{
    struct stacks stacks;
    struct source source;
    struct text_view v;
    int rc = view_symbolise(p);

    if (rc == 0)
        rc = view_stacks(p, !view_options.json || view_options.fold, arena, &stacks);
    if (rc != 0)
        return rc;
    rc = source_find(p, &stacks, what, arena, &source);
    if (rc == 0 && !view_options.json && !source.has_lines) {
        say_error("'%s' was found in the profile, but without line information; compile with -g or "
                  "install its debug information",
                  what);
        return EXIT_BAD_INPUT;
    }
    if (rc != 0)
        return rc;
    v = view_text(p, &stacks, arena, out);
    if (view_options.json)
        json_source(j, &v, &source);
    else
        source_text(&v, &source);
    return 0;
}

static int
source_set(struct view_set *set, const char *what)
{
    struct strbuf out = view_output();
    struct json j;
    size_t found = 0;
    int rc = 0;

    json_begin(&j, &out);
    if (view_options.json && set->count > 1)
        view_session_json(set, &j, &set->arena);
    for (size_t i = 0; i < set->count && (rc == 0 || rc == HEAPTAP_NOT_FOUND); i++) {
        rc = source_one(set->v[i], what, &set->arena, &j, &out);
        found += rc == 0;
    }
    if (found == 0 && rc == HEAPTAP_NOT_FOUND) {
        say_error("no function or file of the profile matches '%s'", what);
        rc = EXIT_BAD_INPUT;
    }
    if (rc > 0) {
        strbuf_release(&out);
        return rc;
    }
    if (view_options.json && set->count > 1)
        view_session_json_end(&j);
    return view_print(&out);
}

static const struct opt options[] = {
    {OPT_STRING, 0, "source-dir", &opts.directory, "DIR",
     "Look for source files under DIR first: DIR followed by the path in the debug information or "
     "any end of it.",
     NULL},
    {OPT_FLAG, 0, "self", &opts.self, NULL,
     "Count only what a line allocates itself, not what it calls.", NULL},
    VIEW_STACK_OPTIONS,
    VIEW_SHOW_OPTIONS,
    {.kind = OPT_END},
};

const struct command command_source = {
    .name = "source",
    .arguments = "FUNCTION|FILE [PROFILE|PID|DIRECTORY]",
    .summary = "show source lines with what they allocated",
    .description =
        "Shows the source of FILE (a path as the debug information has it, or the end of one) or "
        "of all functions whose name contains FUNCTION, with live bytes, bytes at the peak, bytes "
        "allocated and calls in front of each line. A star marks lines that allocate themselves; "
        "other numbers come from what the line calls.",
    .examples =
        "heaptap source parse.c app.heaptap\tthe lines of a file\n"
        "heaptap source 'Parser::next' app.heaptap\tthe lines of a function\n"
        "heaptap source parse.c --source-dir ~/src/app app.heaptap\twhen the source was moved\n",
    .options = options,
    .min_arguments = 1,
    .max_arguments = 2,
    .run = run_source,
};
