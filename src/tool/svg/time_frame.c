/* time_frame.c: draw the common parts of pictures over time.
 *
 * Ticks are at round times: the step is the smallest in a list of customary steps that leaves room
 * for the labels. Names of snapshots are above the picture in up to three rows, as space permits,
 * with a line down from each. Colours equal the flame graph's, for light and dark pages. A hash of
 * the name selects the colour, so that a function has the same colour in every picture. */
#include "svg/time_frame.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyse/interval.h"
#include "base/hash.h"
#include "export/exporter.h"
#include "profile/collector.h"
#include "svg/flame_page.h"
#include "symbol/demangle.h"
#include "util/amount.h"
#include "util/path.h"

enum { NAME_ROWS = 3, TICKS_MAX = 10, EDGE = 40, NAME_WIDTH_MAX = 60, NAME_MAX = 40 };

enum { NAME_GAP = 4, ENTRY_GAP = 20 }; // Pixels beside a name.

/* Width of a character in the widest common font. */
#define NAME_PIXELS 7.0
#define VALUE_PIXELS 7.4 // Bold.
#define CODE_PIXELS 6.7

// Contents of time_frame.css and time_frame_dark.css, embedded by the build.
extern const char time_frame_css[];
extern const char time_frame_dark_css[];

static uint64_t
start_ns(const struct time_frame *f)
{
    return f->t->points[0].elapsed_ns;
}

static uint64_t
end_ns(const struct time_frame *f)
{
    return f->t->points[f->t->point_count - 1].elapsed_ns;
}

double
frame_x(const struct time_frame *f, uint64_t elapsed_ns)
{
    uint64_t from = start_ns(f), to = end_ns(f);

    if (elapsed_ns <= from || to <= from)
        return FRAME_LEFT;
    if (elapsed_ns >= to)
        return f->right;
    return FRAME_LEFT +
           (f->right - FRAME_LEFT) * ((double)(elapsed_ns - from) / (double)(to - from));
}

double
frame_column_x(const struct time_frame *f, size_t column)
{
    return FRAME_LEFT + (f->right - FRAME_LEFT) * (double)column / FRAME_COLUMNS;
}

void
frame_text(const struct time_frame *f, double x, double y, const char *attributes, const char *text,
           size_t room)
{
    struct strbuf cut = {0};
    size_t length = utf8_count(text);

    for (size_t i = 0; *text != '\0' && i < (length > room ? room - 1 : length); i++) {
        size_t size = utf8_size(text);

        strbuf_add(&cut, text, size ? size : 1);
        text += size ? size : 1;
    }
    strbuf_fmt(f->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    utf8_add_xml(f->out, strbuf_text(&cut));
    strbuf_str(f->out, length > room ? "\xe2\x80\xa6</text>\n" : "</text>\n");
    strbuf_release(&cut);
}

const char *
frame_process(const struct time_frame *f)
{
    const struct profile_process *pr = &f->p->process;

    if (f->p->merged_processes > 0)
        return "";
    return arena_printf(f->arena, "%s; pid %s; ", pr->command ? pr->command : "",
                        profile_pid_text(f->p, f->arena));
}

void
frame_begin(const struct time_frame *f, double height, const char *subject, const char *line)
{
    strbuf_fmt(f->out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
               "viewBox=\"0 0 %d %.0f\">\n<title>",
               FRAME_WIDTH, height, FRAME_WIDTH, height);
    utf8_add_xml(f->out, subject);
    strbuf_fmt(f->out, "</title>\n<style>\n%s", time_frame_css);
    for (int i = 0; i < FLAME_COLOURS; i++)
        strbuf_fmt(f->out, ".c%d{fill:%s}", i, flame_module_colours[i][0]);
    strbuf_fmt(f->out, "\n@media (prefers-color-scheme: dark) {\n%s", time_frame_dark_css);
    for (int i = 0; i < FLAME_COLOURS; i++)
        strbuf_fmt(f->out, ".c%d{fill:%s}", i, flame_module_colours[i][1]);
    strbuf_str(f->out, "\n}\n</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
    frame_text(f, 16, 30, "class=\"title\"", subject, 110);
    frame_text(f, 16, 50, "class=\"muted\"", line, 180);
}

void
frame_end(struct time_frame *f)
{
    functions_release(&f->functions);
    strbuf_str(f->out, "</svg>\n");
}

void
frame_axis(const struct time_frame *f, double top, double bottom)
{
    uint64_t step = timeline_tick_ns(f->t, TICKS_MAX);
    uint64_t tick = start_ns(f) + (step - start_ns(f) % step) % step;

    for (size_t i = 0; i <= TICKS_MAX && tick <= end_ns(f); i++, tick += step) {
        double x = frame_x(f, tick);

        strbuf_fmt(f->out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, top, bottom);
        frame_text(f, x, bottom + 18,
                   x + EDGE > FRAME_WIDTH ? "class=\"muted end\"" : "class=\"muted middle\"",
                   amount_time(f->arena, tick), 30);
    }
    strbuf_fmt(f->out, "<path class=\"axis\" d=\"M%d %.1fH%.1f\"/>\n", FRAME_LEFT, bottom,
               f->right);
}

/* A named snapshot, and the position of the name. */
struct flag {
    const char *name;
    double x, y;
    bool left; // The name is left of the line at x.
};

/* Find room for the name of FLAG, in the first row with enough: right of its line or, near the
 * edge, left of it. FREE_FROM is the end of the used part of each row. Return false if there is
 * none. */
static bool
find_room(struct flag *flag, double free_from[NAME_ROWS])
{
    size_t count = utf8_count(flag->name);
    double width = NAME_PIXELS * (double)(count < NAME_MAX ? count : NAME_MAX) + NAME_GAP;

    flag->left = flag->x + NAME_GAP + width > FRAME_WIDTH;
    for (size_t row = 0; row < NAME_ROWS; row++) {
        double from = flag->left ? flag->x - NAME_GAP - width : flag->x;

        if (from < free_from[row])
            continue;
        free_from[row] = flag->left ? flag->x + NAME_GAP : flag->x + NAME_GAP + width;
        flag->y = FRAME_TOP - 10 - 15 * (double)row;
        return true;
    }
    return false;
}

/* Mark each column of the axis in which a garbage collection ended. */
static void
time_frame_put_collections(const struct time_frame *f, double bottom)
{
    for (size_t i = 0; i < FRAME_COLUMNS; i++) {
        uint64_t n = timeline_collections(f->t, i, FRAME_COLUMNS);

        if (n != 0)
            strbuf_fmt(f->out,
                       "<path class=\"gc\" d=\"M%.1f %.1fv-7\"><title>%" PRIu64
                       " collection%s</title></path>\n",
                       frame_column_x(f, i + 1), bottom, n, n == 1 ? "" : "s");
    }
}

void
frame_names(const struct time_frame *f, double bottom)
{
    struct flag *flags = arena_array(f->arena, f->t->point_count, sizeof *flags);
    double free_from[NAME_ROWS] = {0};
    size_t count = 0;

    for (size_t i = 0; i < f->t->point_count; i++) {
        const struct profile_point *m = &f->t->points[i];
        struct flag flag = {.name = m->name, .x = frame_x(f, m->elapsed_ns)};

        if (*m->name != '\0' && !profile_is_collection(f->p, m) && m->snapshots != 0 &&
            m->snapshots <= f->p->snapshot_count &&
            find_room(&flag, free_from))
            flags[count++] = flag;
    }
    time_frame_put_collections(f, bottom);
    // Draw the lines first, so that no line crosses a name.
    for (size_t i = 0; i < count; i++)
        strbuf_fmt(f->out, "<path class=\"name\" d=\"M%.1f %.1fV%.1f\"/>\n", flags[i].x,
                   flags[i].y - 9, bottom);
    for (size_t i = 0; i < count; i++)
        frame_text(f, flags[i].left ? flags[i].x - NAME_GAP : flags[i].x + NAME_GAP, flags[i].y,
                   flags[i].left ? "class=\"halo end\"" : "class=\"halo\"", flags[i].name,
                   NAME_MAX);
}

void
frame_entry(const struct time_frame *f, double y, const char *name, const char *value,
            const char *attributes)
{
    double value_width = VALUE_PIXELS * (double)utf8_count(value);
    double width = f->right - value_width - 2 * ENTRY_GAP - FRAME_LEFT;

    // Fonts differ, so the inner picture clips text that is wider than estimated.
    strbuf_fmt(f->out, "<svg x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"20\">\n",
               FRAME_LEFT + ENTRY_GAP, y - 14, width);
    frame_text(f, 0, 14, "class=\"code\"", name, (size_t)(width / CODE_PIXELS));
    strbuf_str(f->out, "</svg>\n");
    frame_text(f, f->right, y, attributes, value, 60);
}

const char *
frame_amount(const struct time_frame *f, double value)
{
    const char *text =
        amount_text(f->arena, interval_rounded(trunc(value)), f->t->by != TIMELINE_CALLS);

    return timeline_is_level(f->t->by) ? text : arena_printf(f->arena, "%s/s", text);
}

const char *
frame_colour(const struct time_frame *f, const char *name, uint32_t *taken)
{
    uint32_t colour = (uint32_t)(hash_bytes(name, strlen(name)) % FLAME_COLOURS);

    if (*taken == (1u << FLAME_COLOURS) - 1)
        *taken = 0;
    // Neighbours in the list look alike, so try distant colours first.
    while (*taken & 1u << colour)
        colour = (colour + 5) % FLAME_COLOURS;
    *taken |= 1u << colour;
    return arena_printf(f->arena, "c%u", colour);
}

/* Return NAME behind its first qualifier ("a::b<c>::d" gives "b<c>::d"); NULL if it has none. */
static const char *
without_qualifier(const char *name)
{
    size_t depth = 0;

    for (; *name != '\0' && strncmp(name, "operator", 8) != 0; name++) {
        depth += *name == '<' || *name == '(';
        depth -= depth > 0 && (*name == '>' || *name == ')');
        if (depth == 0 && name[0] == ':' && name[1] == ':')
            return name + 2;
    }
    return NULL;
}

/* Return NAME, shortened for people. A long name keeps the function rather than its namespaces,
 * which many names share. */
static const char *
time_frame_short_name(struct arena *arena, const char *name)
{
    const char *text = symbol_shorten_by(arena, name, NAME_WIDTH_MAX, SYMBOL_ELLIPSIS);
    size_t dots = strlen(SYMBOL_ELLIPSIS);

    while (strlen(text) > dots && strcmp(text + strlen(text) - dots, SYMBOL_ELLIPSIS) == 0) {
        name = without_qualifier(name);
        if (name == NULL)
            break;
        text = arena_printf(
            arena, SYMBOL_ELLIPSIS "%s",
            symbol_shorten_by(arena, name, NAME_WIDTH_MAX - 1, SYMBOL_ELLIPSIS));
    }
    return text;
}

void
frame_name_functions(struct time_frame *f, const struct stacks *stacks)
{
    functions_init_labels(&f->functions, f->p, stacks, f->arena);
    f->names = arena_array(f->arena, f->functions.count, sizeof *f->names);
}

const char *
frame_function(struct time_frame *f, const struct stack *s, uint32_t i)
{
    uint32_t function;

    if (i >= s->depth)
        return stack_root(f->p, s);
    function = functions_of_frame(&f->functions, s->frames[i], s->locations[i]);
    if (f->names[function] == NULL) {
        const char *place = functions_place(&f->functions, function);
        const char *name =
            time_frame_short_name(f->arena, functions_name(&f->functions, function));

        f->names[function] = *place == '\0' ? name : arena_printf(f->arena, "%s (%s)", name, place);
    }
    return f->names[function];
}

void
frame_stack_title(struct time_frame *f, const struct stack *s, const char *first_line)
{
    const char *root = s->depth > 0 ? stack_root(f->p, s) : NULL;
    uint32_t depth = stack_useful_depth(f->p, s);

    strbuf_str(f->out, "<title>");
    utf8_add_xml(f->out, first_line);
    for (uint32_t i = 0; i < depth; i++) {
        const struct profile_frame *frame = &f->p->frames[s->frames[i]];
        const char *file = profile_string(f->p, frame->file);

        strbuf_char(f->out, '\n');
        utf8_add_xml(f->out, frame_function(f, s, i));
        if (*file == '\0')
            continue;
        strbuf_str(f->out, "  ");
        utf8_add_xml(f->out, path_basename(file));
        if (frame->line)
            strbuf_fmt(f->out, ":%u", frame->line);
        strbuf_pause(f->out);
    }
    if (root != NULL) {
        strbuf_char(f->out, '\n');
        utf8_add_xml(f->out, root);
    }
    strbuf_str(f->out, "</title>");
}
