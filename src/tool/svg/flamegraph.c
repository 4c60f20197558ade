/* flamegraph.c: write a flame graph as one SVG file that needs only a browser.
 *
 *     <svg …>
 *       <style>…</style>
 *       <g id="graph">
 *         <g class="box"><title>main…</title><rect class="m3" …/><text …>main</text></g>…
 *       </g>
 *       <g id="head">title, totals, buttons, legend of modules, details…</g>
 *       <script>var data = {…frames, nodes with their values in all metrics…}; …</script>
 *     </svg>
 *
 * Without scripts (in an <img>, a mail, an editor) the file is a static picture of one metric. With
 * scripts, flame_page.js redraws the picture from the embedded numbers, for the window's width, and
 * again for each zoom, search and change of metric. So both must agree on the measures in
 * flame_page.h and on the order of siblings: widest first, then as in the tree.
 *
 * Boxes below a thousandth of the width in every metric are left out (flame_tree.c) and counted in
 * the foot line. Colours separate modules. A module's name hashes to its colour, so the colour is
 * the same in every graph, unless a module with a larger share already has it. With two profiles,
 * colours show growth and shrinkage instead.
 *
 * All untrusted text is written through utf8.c. Equal input gives equal bytes. */
#include "svg/svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/frame_name.h"
#include "base/hash.h"
#include "export/exporter.h"
#include "svg/flame_page.h"
#include "symbol/demangle.h"
#include "util/amount.h"

enum { CUT_FRACTION = 1000, LABEL_WIDTH_MAX = 80, LEGEND_MAX = 24 };

static const char *const metric_labels[METRICS] = {
    [METRIC_INUSE] = "In use",          [METRIC_PEAK] = "Peak",   [METRIC_ALLOC] = "Allocated",
    [METRIC_TEMPORARY] = "Short-lived", [METRIC_COUNT] = "Calls",
};

struct picture {
    const struct flame_tree *tree;
    enum metric metric;
    enum metric shown[METRICS]; // Metrics that are known.
    int shown_count;
    bool root_above;
    bool lifetimes_unknown; // Only temporary blocks are known to be short-lived.
    struct arena *arena;
    struct strbuf *out;
    const char *title, *subtitle; // Not escaped.
    const char *description;      // Comment for readers of the file; NULL or "" = none.
    struct strtab modules;        // Names; id 0 is the unknown module.
    uint32_t *frame_modules;      // By frame: id of its module.
    uint32_t
        *module_colours; // By module id: number of its colour; unknown: FLAME_COLOURS.
    uint32_t *modules_by_area; // Module ids, largest share of the picture first.
    double *left;              // By node: left edge of its box, in pixels.
    uint32_t depth;            // Depth of the deepest visible box in METRIC.
    uint32_t height;
};

static void choose_colours(struct picture *pic);
static void flamegraph_lay_out(struct picture *pic);
static void write_svg(struct picture *pic);

static void
draw(const struct flame_side *before, const struct flame_side *after, struct picture *pic)
{
    struct flame_tree tree;

    for (int m = 0; m < METRICS; m++)
        if (metric_is_known_of(after->p, (enum metric)m) &&
            (before == NULL || metric_is_known_of(before->p, (enum metric)m)))
            pic->shown[pic->shown_count++] = (enum metric)m;
    flame_tree_build(before, after, CUT_FRACTION, pic->arena, &tree);
    // cppcheck-suppress autoVariables; the picture is written before the tree ends.
    pic->tree = &tree;
    choose_colours(pic);
    flamegraph_lay_out(pic);
    write_svg(pic);
    strtab_release(&pic->modules);
}

static const char *
metric_label(const struct picture *pic, enum metric metric)
{
    return metric == METRIC_TEMPORARY && pic->lifetimes_unknown ? "Temporary"
                                                                : metric_labels[metric];
}

static const char *
pid_text(const struct profile *p, struct arena *arena)
{
    return p->merged_processes > 0 ? "" : arena_printf(arena, "pid %" PRIu32 ", ", p->process.pid);
}

/* Return the known values of C, totals of P, as text. */
static const char *
totals_text(const struct profile *p, const struct counters *c, struct arena *arena)
{
    const char *text = arena_printf(arena, "%s in use in %s",
                                    amount_text(arena, counters_live_bytes(c), true),
                                    amount_plural(arena, counters_live_blocks(c), "block"));

    if (metric_is_known_of(p, METRIC_PEAK))
        text = arena_printf(arena, "%s, %s at the peak", text,
                            amount_text(arena, c->peak_bytes, true));
    if (metric_is_known_of(p, METRIC_ALLOC))
        text = arena_printf(arena, "%s, %s allocated in %s", text,
                            amount_text(arena, c->allocated_bytes, true),
                            amount_plural(arena, c->allocations, "call"));
    return text;
}

/* Return the period of P as text, such as ", as at 64.0 s"; "" for the whole run. */
static const char *
extent_text(const struct profile *p, struct arena *arena)
{
    double from = (double)p->from.elapsed_ns / 1e9, to = (double)p->to.elapsed_ns / 1e9;

    if (p->extent == EXTENT_WHOLE)
        return "";
    if (p->extent == EXTENT_PEAK)
        return ", as at the peak";
    return p->extent == EXTENT_AT ? arena_printf(arena, ", as at %.1f s", to)
                                  : arena_printf(arena, ", from %.1f s to %.1f s", from, to);
}

int
export_flamegraph(const struct profile *p, const struct stacks *stacks,
                  const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct flame_side side = {p, stacks, options->roots};
    struct picture pic = {
        .metric = options->metric, .root_above = !options->inverted, .arena = &arena, .out = out};

    (void)err;
    pic.lifetimes_unknown = p->totals.lifetimes_unknown;
    pic.title = arena_printf(&arena, "%s: heap by call stack%s", title_program(p, &arena),
                             extent_text(p, &arena));
    pic.subtitle =
        arena_printf(&arena, "%s; %s%.1f s; heaptap %s", totals_text(p, &stacks->total, &arena),
                     pid_text(p, &arena), (double)p->process.elapsed_ns / 1e9,
                     p->process.heaptap ? p->process.heaptap : "");
    pic.description = export_estimate(p, stacks, &arena);
    if (*pic.description)
        pic.title = arena_printf(&arena, "%s (estimates)", pic.title);
    draw(NULL, &side, &pic);
    arena_release(&arena);
    return 0;
}

void
flamegraph_diff(const struct flame_side *before, const struct flame_side *after, enum metric metric,
                struct strbuf *out)
{
    struct arena arena = {0};
    struct picture pic = {.metric = metric, .root_above = true, .arena = &arena, .out = out};
    const char *from = before->p->path, *to = after->p->path;

    // Two builds leave files of one name in two directories.
    if (strcmp(path_basename(from), path_basename(to)) != 0) {
        from = path_basename(from);
        to = path_basename(to);
    }
    pic.lifetimes_unknown = after->p->totals.lifetimes_unknown;
    pic.title =
        arena_printf(&arena, "%s: changes in the heap", title_program(after->p, &arena));
    pic.subtitle = arena_printf(
        &arena, "From %s to %s. Width: the larger of the two sides; red grew, blue shrank.",
        from, to);
    draw(before, after, &pic);
    arena_release(&arena);
}

struct area {
    uint32_t module;
    double width;
};

static int
compare_areas(const void *a, const void *b)
{
    const struct area *x = a, *y = b;

    if (x->width != y->width)
        return x->width < y->width ? 1 : -1;
    return x->module < y->module ? -1 : 1;
}

/* Return the share of the picture of each module, largest first. */
static struct area *
module_areas(const struct picture *pic)
{
    const struct flame_tree *t = pic->tree;
    struct area *areas = arena_array(pic->arena, pic->modules.count, sizeof *areas);

    for (uint32_t i = 0; i < pic->modules.count; i++)
        areas[i].module = i;
    for (size_t i = 1; i < t->node_count; i++)
        areas[pic->frame_modules[t->nodes[i].frame]].width +=
            (double)t->nodes[i].width[pic->metric];
    qsort(areas, pic->modules.count, sizeof *areas, compare_areas);
    return areas;
}

/* Return WANTED, or if it is in TAKEN another colour, far from it. Colours beside a taken one look
 * alike and are avoided as long as others are free. Return WANTED if all are taken. */
static uint32_t
free_colour(uint32_t wanted, uint32_t taken)
{
    enum { STEP = 7 }; // A walk in these steps reaches all colours, distant colours first.
    uint32_t around = taken | taken << 1 | taken >> 1 | taken << (FLAME_COLOURS - 1) |
                      taken >> (FLAME_COLOURS - 1);

    for (uint32_t i = 0; i < FLAME_COLOURS; i++)
        if (!(around >> (wanted + i * STEP) % FLAME_COLOURS & 1))
            return (wanted + i * STEP) % FLAME_COLOURS;
    for (uint32_t i = 0; i < FLAME_COLOURS; i++)
        if (!(taken >> (wanted + i * STEP) % FLAME_COLOURS & 1))
            return (wanted + i * STEP) % FLAME_COLOURS;
    return wanted;
}

static void
choose_colours(struct picture *pic)
{
    const struct flame_tree *t = pic->tree;
    struct area *areas;
    uint32_t taken = 0;

    pic->frame_modules = arena_array(pic->arena, t->frame_count, sizeof *pic->frame_modules);
    strtab_id(&pic->modules, "");
    for (size_t i = 0; i < t->frame_count; i++)
        pic->frame_modules[i] = strtab_id(&pic->modules, t->frames[i].module);
    pic->module_colours = arena_array(pic->arena, pic->modules.count, sizeof *pic->module_colours);
    pic->modules_by_area =
        arena_array(pic->arena, pic->modules.count, sizeof *pic->modules_by_area);
    areas = module_areas(pic);
    for (size_t i = 0; i < pic->modules.count; i++) {
        uint32_t id = areas[i].module;
        const char *name = strtab_get(&pic->modules, id);
        uint32_t colour =
            free_colour((uint32_t)(hash_bytes(name, strlen(name)) % FLAME_COLOURS), taken);

        if (id != 0)
            taken |= 1u << colour;
        pic->module_colours[id] = id == 0 ? FLAME_COLOURS : colour;
        pic->modules_by_area[i] = id;
    }
}

/* Return the class of module ID's boxes. */
static const char *
module_class(const struct picture *pic, uint32_t id)
{
    uint32_t colour = pic->module_colours[id];

    return colour == FLAME_COLOURS ? "root" : arena_printf(pic->arena, "m%" PRIu32, colour);
}

/* Return the shade of F, one of three, which distinguish neighbours of one module. */
static unsigned
shade(const struct flame_frame *f)
{
    return (unsigned)(hash_bytes(f->name, strlen(f->name)) % 3);
}

static const char *
box_class(const struct picture *pic, const struct flame_node *n)
{
    int64_t before = n->before[pic->metric], after = n->after[pic->metric];
    int64_t larger = before > after ? before : after;

    if (!pic->tree->two_sided)
        return arena_printf(pic->arena, "%s s%u", module_class(pic, pic->frame_modules[n->frame]),
                            shade(&pic->tree->frames[n->frame]));
    // Round halves up, as the script does.
    return arena_printf(pic->arena, "d%d",
                        larger ? (int)floor(5.5 + 5 * (double)(after - before) / (double)larger)
                               : 5);
}

static double
pixels(const struct picture *pic, const struct flame_node *n)
{
    int64_t whole = pic->tree->nodes[0].width[pic->metric];

    return whole ? (double)n->width[pic->metric] / (double)whole * (FLAME_WIDTH - 2 * FLAME_PAD)
                 : 0;
}

static bool
is_drawn(const struct picture *pic, size_t node)
{
    return pixels(pic, &pic->tree->nodes[node]) >=
           (double)(FLAME_WIDTH - 2 * FLAME_PAD) / CUT_FRACTION;
}

struct sibling {
    uint32_t parent, node;
    int64_t width;
};

static int
compare_siblings(const void *a, const void *b)
{
    const struct sibling *x = a, *y = b;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->width != y->width)
        return x->width > y->width ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Place all boxes. Groups of siblings are visited in the order of their parents' indices. A parent
 * has a smaller index than its child, so each box is placed before its children are. */
static void
flamegraph_lay_out(struct picture *pic)
{
    const struct flame_tree *t = pic->tree;
    struct sibling *order = arena_array(pic->arena, t->node_count, sizeof *order);
    double *next = arena_array(pic->arena, t->node_count, sizeof *next);

    pic->left = arena_array(pic->arena, t->node_count, sizeof *pic->left);
    for (uint32_t i = 1; i < t->node_count; i++)
        order[i - 1] = (struct sibling){t->nodes[i].parent, i, t->nodes[i].width[pic->metric]};
    qsort(order, t->node_count - 1, sizeof *order, compare_siblings);
    pic->left[0] = next[0] = FLAME_PAD;
    for (size_t i = 0; i + 1 < t->node_count; i++) {
        const struct flame_node *n = &t->nodes[order[i].node];

        pic->left[order[i].node] = next[order[i].node] = next[n->parent];
        next[n->parent] += pixels(pic, n);
        if (is_drawn(pic, order[i].node) && n->depth > pic->depth)
            pic->depth = n->depth;
    }
    pic->height = FLAME_HEAD + (pic->depth + 1) * FLAME_ROW + FLAME_FOOT;
}

/* Return the text of F's boxes. */
static const char *
flamegraph_label(const struct picture *pic, const struct flame_frame *f)
{
    const char *name = symbol_shorten_by(pic->arena, f->name, LABEL_WIDTH_MAX, SYMBOL_ELLIPSIS);

    return *f->place == '\0' ? name : arena_printf(pic->arena, "%s (%s)", name, f->place);
}

static void
write_label(struct picture *pic, const struct flame_frame *f, double left, uint32_t top,
            double width)
{
    const double character_pixels = 6.65;
    size_t room = width > 9 ? (size_t)((width - 9) / character_pixels) : 0, length;
    struct strbuf label = {0};
    const char *name;

    if (room < 3)
        return;
    name = flamegraph_label(pic, f);
    length = utf8_count(name);
    for (size_t i = 0; *name != '\0' && i < (length > room ? room - 1 : length); i++) {
        size_t size = utf8_size(name);

        strbuf_add(&label, name, size ? size : 1);
        name += size ? size : 1;
    }
    strbuf_fmt(pic->out, "<text x=\"%.1f\" y=\"%.1f\">", left + 5, top + 13.5);
    utf8_add_xml(pic->out, strbuf_text(&label));
    strbuf_str(pic->out, length > room ? "\xe2\x80\xa6</text>" : "</text>");
    strbuf_release(&label);
}

static void
write_title(struct picture *pic, const struct flame_node *n)
{
    const struct flame_frame *f = &pic->tree->frames[n->frame];
    bool is_bytes = metric_is_bytes(pic->metric);
    int64_t whole = pic->tree->nodes[0].width[pic->metric], value = n->width[pic->metric];

    strbuf_str(pic->out, "<title>");
    utf8_add_xml(pic->out, f->name);
    strbuf_str(pic->out, f->inlined ? " (inlined)\n" : "\n");
    if (pic->tree->two_sided)
        strbuf_fmt(pic->out, "%s \xe2\x86\x92 %s",
                   amount_text(pic->arena, n->before[pic->metric], is_bytes),
                   amount_text(pic->arena, n->after[pic->metric], is_bytes));
    else
        strbuf_fmt(pic->out, "%s, %.1f %%", amount_text(pic->arena, value, is_bytes),
                   100.0 * (double)value / (double)whole);
    strbuf_char(pic->out, '\n');
    utf8_add_xml(pic->out, f->file);
    if (*f->file && n->line)
        strbuf_fmt(pic->out, ":%" PRIu32, n->line);
    strbuf_str(pic->out, *f->file ? "  " : "");
    utf8_add_xml(pic->out, f->module);
    strbuf_str(pic->out, "</title>");
}

static void
write_box(struct picture *pic, size_t node)
{
    const struct flame_node *n = &pic->tree->nodes[node];
    const struct flame_frame *f = &pic->tree->frames[n->frame];
    double width = pixels(pic, n);
    uint32_t top = pic->root_above ? FLAME_HEAD + n->depth * FLAME_ROW
                                   : pic->height - FLAME_FOOT - (n->depth + 1) * FLAME_ROW;

    strbuf_fmt(pic->out, "<g class=\"box%s\">", f->inlined ? " inlined" : "");
    write_title(pic, n);
    strbuf_fmt(
        pic->out,
        "<rect class=\"%s\" x=\"%.1f\" y=\"%" PRIu32 "\" width=\"%.1f\" height=\"%d\" rx=\"%d\"/>",
        box_class(pic, n), pic->left[node], top, width > 3 ? width - 1 : width, FLAME_ROW - 1,
        width > 8   ? 3
        : width > 3 ? 1
                    : 0);
    write_label(pic, f, pic->left[node], top, width);
    strbuf_str(pic->out, "</g>\n");
    strbuf_pause(pic->out);
}

static void
write_graph(struct picture *pic)
{
    strbuf_str(pic->out, "<g id=\"graph\">\n");
    for (size_t i = 0; i < pic->tree->node_count; i++)
        if (is_drawn(pic, i))
            write_box(pic, i);
    if (pic->tree->nodes[0].width[pic->metric] == 0)
        strbuf_fmt(pic->out,
                   "<text class=\"muted\" x=\"%d\" y=\"%d\">Nothing was counted here.</text>\n",
                   FLAME_PAD, FLAME_HEAD + 14);
    strbuf_str(pic->out, "</g>\n");
}

static void
write_legend_entry(struct picture *pic, const char *name, const char *class, double *left)
{
    double width = 34 + 6.3 * (double)utf8_count(name);

    if (*left + width > FLAME_WIDTH - FLAME_PAD)
        return;
    strbuf_fmt(pic->out,
               "<rect class=\"%s\" x=\"%.1f\" y=\"101\" width=\"11\" height=\"11\" rx=\"3\"/>",
               class, *left);
    strbuf_fmt(pic->out, "<text x=\"%.1f\" y=\"111\">", *left + 16);
    utf8_add_xml(pic->out, name);
    strbuf_str(pic->out, "</text>");
    *left += width;
}

struct legend_entry {
    const char *name, *class;
};

static const struct legend_entry change_legend[] = {
    {"only after", "d10"}, {"grew", "d8"},        {"the same", "d5"},
    {"shrank", "d2"},      {"only before", "d0"},
};

/* Store the meaning of the colours in RET, most important first. RET has room for LEGEND_MAX.
 * Return their number. */
static size_t
legend(const struct picture *pic, struct legend_entry *ret)
{
    size_t count = 0;

    if (pic->tree->two_sided) {
        memcpy(ret, change_legend, sizeof change_legend);
        return countof(change_legend);
    }
    for (size_t i = 0; i < pic->modules.count && count < LEGEND_MAX; i++) {
        uint32_t id = pic->modules_by_area[i];

        if (id != 0)
            ret[count++] =
                (struct legend_entry){strtab_get(&pic->modules, id), module_class(pic, id)};
    }
    return count;
}

static void
flamegraph_write_text(struct picture *pic, const char *attributes, const char *text)
{
    strbuf_fmt(pic->out, "<text %s>", attributes);
    utf8_add_xml(pic->out, text);
    strbuf_str(pic->out, "</text>\n");
}

static void
flamegraph_write_head(struct picture *pic)
{
    struct legend_entry entries[LEGEND_MAX];
    size_t count = legend(pic, entries);
    double left = FLAME_PAD;
    const char *shown = arena_printf(pic->arena, "%s: %s", metric_label(pic, pic->metric),
                                     amount_text(pic->arena, pic->tree->nodes[0].after[pic->metric],
                                                 metric_is_bytes(pic->metric)));

    strbuf_fmt(pic->out,
               "<g id=\"head\">\n<rect id=\"bar\" class=\"page\" width=\"%d\" height=\"%d\"/>\n",
               FLAME_WIDTH, FLAME_HEAD - 6);
    flamegraph_write_text(pic, "class=\"title\" x=\"16\" y=\"30\"", pic->title);
    flamegraph_write_text(pic, "class=\"sub\" x=\"16\" y=\"50\"", pic->subtitle);
    strbuf_str(pic->out, "<g id=\"tabs\">");
    flamegraph_write_text(pic, "x=\"16\" y=\"80\"", shown);
    strbuf_str(pic->out, "</g>\n<g id=\"legend\">");
    for (size_t i = 0; i < count; i++)
        write_legend_entry(pic, entries[i].name, entries[i].class, &left);
    strbuf_str(pic->out, "</g>\n<text id=\"detail\" x=\"16\" y=\"135\"></text>\n</g>\n");
}

static void
write_foot(struct picture *pic)
{
    size_t left_out = pic->tree->cut_count;
    const char *boxes = left_out == 1 ? "box" : "boxes";
    const char *cut =
        left_out == 0
            ? ""
            : arena_printf(pic->arena,
                           " %s %s of less than 0.1 %% in every metric %s left out.",
                           amount_count(pic->arena, (int64_t)left_out), boxes,
                           left_out == 1 ? "is" : "are");
    const char *attributes =
        arena_printf(pic->arena, "id=\"foot\" x=\"16\" y=\"%" PRIu32 "\"", pic->height - 18);

    flamegraph_write_text(
        pic, attributes,
        arena_printf(pic->arena,
                     "The width of a box is the amount that its function and callees "
                     "allocated.%s",
                     cut));
}

static void
write_colours(struct picture *pic, int page)
{
    for (int i = 0; i < FLAME_COLOURS && !pic->tree->two_sided; i++)
        strbuf_fmt(pic->out, ".m%d{fill:%s}", i, flame_module_colours[i][page]);
    for (int i = 0; i < FLAME_CHANGES && pic->tree->two_sided; i++)
        strbuf_fmt(pic->out, ".d%d{fill:%s}", i, flame_change_colours[i][page]);
    strbuf_char(pic->out, '\n');
}

static void
write_style(struct picture *pic)
{
    strbuf_str(pic->out, "<style>\n");
    write_colours(pic, 0);
    strbuf_str(pic->out, flame_page_css);
    strbuf_str(pic->out, "@media (prefers-color-scheme: dark) {\n");
    write_colours(pic, 1);
    strbuf_str(pic->out, flame_page_dark_css);
    strbuf_str(pic->out, "}\n</style>\n");
}

static void
write_node_values(struct picture *pic, const struct flame_node *n)
{
    for (int i = 0; i < pic->shown_count; i++)
        strbuf_fmt(pic->out, ",%" PRId64, n->width[pic->shown[i]]);
    for (int i = 0; i < pic->shown_count && pic->tree->two_sided; i++)
        strbuf_fmt(pic->out, ",%" PRId64, n->before[pic->shown[i]]);
    for (int i = 0; i < pic->shown_count && pic->tree->two_sided; i++)
        strbuf_fmt(pic->out, ",%" PRId64, n->after[pic->shown[i]]);
}

static void
flamegraph_write_frame(struct picture *pic, size_t frame)
{
    const struct flame_frame *f = &pic->tree->frames[frame];
    const char *label = flamegraph_label(pic, f);

    strbuf_str(pic->out, frame ? ",\n[" : "[");
    utf8_add_script(pic->out, f->name);
    strbuf_char(pic->out, ',');
    utf8_add_script(pic->out, strcmp(label, f->name) == 0 ? "" : label);
    strbuf_fmt(pic->out, ",%" PRIu32 ",", pic->frame_modules[frame]);
    utf8_add_script(pic->out, f->file);
    strbuf_fmt(pic->out, ",%d,%u]", f->inlined, shade(f));
}

/* Write the frames of kept nodes, and the nodes with their frames renumbered accordingly. */
static void
flamegraph_write_tree(struct picture *pic)
{
    const struct flame_tree *t = pic->tree;
    uint32_t *number = arena_array(pic->arena, t->frame_count, sizeof *number), next = 0;

    strbuf_str(pic->out, "frames: [");
    for (size_t i = 0; i < t->node_count; i++)
        if (i == 0 || number[t->nodes[i].frame] == 0) {
            number[t->nodes[i].frame] = next++;
            flamegraph_write_frame(pic, t->nodes[i].frame);
        }
    strbuf_str(pic->out, "],\nnodes: [");
    for (size_t i = 0; i < t->node_count; i++) {
        strbuf_fmt(pic->out, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu32, i ? ",\n" : "",
                   t->nodes[i].parent, number[t->nodes[i].frame], t->nodes[i].line);
        write_node_values(pic, &t->nodes[i]);
    }
    strbuf_str(pic->out, "]");
}

static void
write_pair(struct picture *pic, const char *before, const char *name, const char *class)
{
    strbuf_fmt(pic->out, "%s[", before);
    utf8_add_script(pic->out, name);
    strbuf_fmt(pic->out, ",\"%s\"]", class);
}

static void
write_data(struct picture *pic)
{
    struct legend_entry entries[LEGEND_MAX];
    size_t count = legend(pic, entries);
    int first = 0;

    while (first + 1 < pic->shown_count && pic->shown[first] != pic->metric)
        first++;
    strbuf_fmt(pic->out, "var data = {metric: %d, above: %s, two: %s,\nmetrics: [",
               first, pic->root_above ? "true" : "false",
               pic->tree->two_sided ? "true" : "false");
    for (int i = 0; i < pic->shown_count; i++)
        strbuf_fmt(pic->out, "%s[\"%s\",%d,\"%s\"]", i ? "," : "",
                   metric_label(pic, pic->shown[i]), metric_is_bytes(pic->shown[i]),
                   metric_name(pic->shown[i]));
    strbuf_str(pic->out, "],\nmodules: [");
    for (uint32_t i = 0; i < pic->modules.count; i++)
        write_pair(pic, i ? "," : "", strtab_get(&pic->modules, i), module_class(pic, i));
    strbuf_str(pic->out, "],\nlegend: [");
    for (size_t i = 0; i < count; i++)
        write_pair(pic, i ? "," : "", entries[i].name, entries[i].class);
    strbuf_str(pic->out, "],\n");
    flamegraph_write_tree(pic);
    strbuf_str(pic->out, "};\n");
}

static void
write_svg(struct picture *pic)
{
    strbuf_fmt(pic->out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu32 "\" "
               "viewBox=\"0 0 %d %" PRIu32 "\">\n<title>",
               FLAME_WIDTH, pic->height, FLAME_WIDTH, pic->height);
    utf8_add_xml(pic->out, pic->title);
    strbuf_str(pic->out, "</title>\n");
    if (pic->description != NULL && *pic->description) {
        strbuf_str(pic->out, "<desc>");
        utf8_add_xml(pic->out, pic->description);
        strbuf_str(pic->out, "</desc>\n");
    }
    write_style(pic);
    strbuf_str(pic->out, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
    write_graph(pic);
    write_foot(pic);
    flamegraph_write_head(pic);
    strbuf_str(pic->out, "<script><![CDATA[\n");
    write_data(pic);
    strbuf_str(pic->out, flame_page_js);
    strbuf_str(pic->out, "]]></script>\n</svg>\n");
}
