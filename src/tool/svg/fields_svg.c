/* fields_svg.c: draw structures as rows of cache lines, a cell per member, coloured by accesses.
 *
 *     node   112 bytes
 *      0  [ key ][ name . . . . . . . . . . . . . . . . . . . . . . . ]
 *     64  [ count ][ never ][ links.left ][ links.right ][ flag ][ total ]
 *
 * The scale starts at the hottest member of the picture, and each colour represents a third of the
 * accesses of the previous one. So one scale holds for all structures of the picture. The picture
 * needs no scripts; browsers show a member's numbers when the pointer rests on it. */
#include "svg/svg.h"

#include <inttypes.h>
#include <math.h>

#include "export/exporter.h"
#include "util/amount.h"

extern const char fields_svg_css[];

enum {
    WIDTH = 1200,
    LEFT = 84,
    BYTE_WIDTH = 17, // 64 bytes are a line.
    LINE_HEIGHT = 30,
    ROW_STEP = 34,
    HEAD = 96,
    GAP = 72, // Between structures, for the next heading.
    LETTER = 7,
    HEATS = 6,
    STEP = 3, // Factor between the accesses of two colours.
    LINES_MAX = 64, // Maximum number of lines of a structure; larger ones are cut.
};

struct picture {
    const struct profile *p;
    struct strbuf *out;
    struct arena *arena;
    double most; // Accesses to the hottest member.
};

static void
fields_svg_put_text(struct picture *pic, double x, double y, const char *class, const char *text)
{
    strbuf_fmt(pic->out, "<text x=\"%.0f\" y=\"%.0f\" class=\"%s\">", x, y, class);
    utf8_add_xml(pic->out, text);
    strbuf_str(pic->out, "</text>\n");
}

static unsigned
heat_of(const struct picture *pic, uint64_t accesses)
{
    double below;

    if (accesses == 0)
        return 0;
    below = log(pic->most / (double)accesses) / log(STEP); // Number of colours below the hottest.
    return below >= HEATS - 1 ? 1 : HEATS - (unsigned)below;
}

static const char *
title_of(struct picture *pic, const struct field_row *r)
{
    const struct profile *p = pic->p;
    const struct field_counts *c = &r->counts;
    const char *size = amount_plural(pic->arena, (int64_t)r->size, "byte");

    if (r->member == NULL)
        return arena_printf(pic->arena, "%s of padding at %" PRIu64, size, r->offset);
    return arena_printf(
        pic->arena,
        "%s %s\n%s at %" PRIu64 "\n%" PRIu64 " %s%s%s\nin %.1f %% of the blocks",
        profile_string(p, r->member->type), profile_string(p, r->member->name), size, r->offset,
        c->accesses, c->accesses == 1 ? "access" : "accesses",
        p->accesses.separate ? arena_printf(pic->arena, ", %" PRIu64 " of them writes", c->writes)
                             : "",
        r->together ? ", counted together with a neighbour's" : "", 100 * field_share(c));
}

/* Draw the part of R that lies on LINE. */
static void
fields_svg_put_cell(struct picture *pic, const struct field_row *r, uint64_t line, double y)
{
    uint64_t from = line * FIELDS_LINE_BYTES, end = from + FIELDS_LINE_BYTES;
    uint64_t first = r->offset > from ? r->offset : from;
    uint64_t last = r->offset + r->size < end ? r->offset + r->size : end;
    double x = LEFT + (double)(first - from) * BYTE_WIDTH, w = (double)(last - first) * BYTE_WIDTH;
    size_t room = (size_t)(w / LETTER);
    const char *name = r->member != NULL ? profile_string(pic->p, r->member->name) : "";

    strbuf_fmt(pic->out, "<g><title>");
    utf8_add_xml(pic->out, title_of(pic, r));
    strbuf_fmt(pic->out,
               "</title><rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%d\" class=\"cell ", x,
               y, w, LINE_HEIGHT);
    if (r->member == NULL)
        strbuf_str(pic->out, "pad\"/></g>\n");
    else
        strbuf_fmt(pic->out, "h%u\"/></g>\n", heat_of(pic, r->counts.accesses));
    if (room >= 3 && *name != '\0') {
        size_t count = utf8_count(name), bytes = 0;

        for (size_t i = 0; i < room - 1 && name[bytes] != '\0'; i++)
            bytes += utf8_size(name + bytes) > 0 ? utf8_size(name + bytes) : 1;
        fields_svg_put_text(pic, x + 5, y + 19, "field",
                            count < room ? name : arena_strndup(pic->arena, name, bytes));
    }
}

static uint64_t
lines_of(const struct field_structure *f)
{
    uint64_t lines = (f->s->size + FIELDS_LINE_BYTES - 1) / FIELDS_LINE_BYTES;

    return lines < LINES_MAX ? lines : LINES_MAX;
}

static double
fields_svg_put_structure(struct picture *pic, const struct field_structure *f, double y)
{
    uint64_t lines = lines_of(f);

    fields_svg_put_text(pic, LEFT, y + 28, "name", profile_string(pic->p, f->s->name));
    fields_svg_put_text(
        pic, LEFT, y + 46, "muted",
        arena_printf(pic->arena,
                     "%s, blocks: %" PRIu64 ", sites: %" PRIu64 ", accesses: %" PRIu64 "%s",
                     amount_plural(pic->arena, (int64_t)f->s->size, "byte"), f->blocks, f->sites,
                     f->accesses,
                     lines * FIELDS_LINE_BYTES < f->s->size ? ", the first lines of it" : ""));
    y += GAP - 14;
    for (uint64_t line = 0; line < lines; line++, y += ROW_STEP) {
        fields_svg_put_text(pic, LEFT - 10, y + 19, "muted end",
                            arena_printf(pic->arena, "%" PRIu64, line * FIELDS_LINE_BYTES));
        for (size_t i = 0; i < f->row_count; i++) {
            const struct field_row *r = &f->rows[i];

            if (r->offset < (line + 1) * FIELDS_LINE_BYTES &&
                r->offset + r->size > line * FIELDS_LINE_BYTES)
                fields_svg_put_cell(pic, r, line, y);
        }
        strbuf_pause(pic->out);
    }
    return y;
}

/* Return true if uncounted code may have used blocks of the first COUNT structures of F. */
static bool
is_any_unproven(const struct fields *f, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (f->v[i].unproven)
            return true;
    return false;
}

static void
fields_svg_put_legend(struct picture *pic, bool unproven)
{
    const struct profile_accesses *accesses = &pic->p->accesses;
    double x = LEFT;

    for (unsigned i = 0; i <= HEATS; i++, x += 26)
        strbuf_fmt(pic->out,
                   "<rect x=\"%.0f\" y=\"64\" width=\"24\" height=\"14\" class=\"h%u\"/>\n", x, i);
    fields_svg_put_text(
        pic, x + 8, 76, "muted",
        arena_printf(pic->arena,
                     "grey was %s; each colour has %d times the accesses of the "
                     "one before, up to %.0f; a row is a cache line of %d bytes",
                     unproven ? "not seen used" : "never touched", STEP, pic->most,
                     FIELDS_LINE_BYTES));
    if (unproven)
        fields_svg_put_text(
            pic, LEFT, 93, "muted",
            accesses->looked && !access_is_complete(accesses)
                ? arena_printf(pic->arena, "May use blocks without counting: %s",
                               accesses->uncounted)
                : "Code that uses blocks without counting is not known");
}

void
fields_svg(const struct profile *p, const struct fields *f, size_t limit, struct strbuf *out)
{
    struct arena arena = {0};
    struct picture pic = {.p = p, .out = out, .arena = &arena};
    double height = HEAD, y = HEAD - 14;

    limit = limit < f->count ? limit : f->count;
    for (size_t i = 0; i < limit; i++) {
        height += GAP + (double)lines_of(&f->v[i]) * ROW_STEP;
        for (size_t k = 0; k < f->v[i].row_count; k++)
            if ((double)f->v[i].rows[k].counts.accesses > pic.most)
                pic.most = (double)f->v[i].rows[k].counts.accesses;
    }
    strbuf_fmt(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
               "viewBox=\"0 0 %d %.0f\">\n<title>",
               WIDTH, height, WIDTH, height);
    utf8_add_xml(out, profile_title(p, &arena));
    strbuf_fmt(out, "</title>\n<style>\n%s</style>\n<rect class=\"page\" width=\"100%%\" "
                    "height=\"100%%\"/>\n",
               fields_svg_css);
    fields_svg_put_text(&pic, LEFT, 36, "title", "Which fields are used");
    fields_svg_put_text(&pic, LEFT, 54, "muted", profile_title(p, &arena));
    fields_svg_put_legend(&pic, is_any_unproven(f, limit));
    for (size_t i = 0; i < limit; i++)
        y = fields_svg_put_structure(&pic, &f->v[i], y);
    strbuf_str(out, "</svg>\n");
    arena_release(&arena);
}
