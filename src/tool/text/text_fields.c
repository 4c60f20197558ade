/* text_fields.c: a structure as a picture of the cache lines.
 *
 *     struct node, certainly: 100 blocks of 1 site, 10.9 KiB
 *     112 bytes, 5.0M accesses, 1.8 cache lines touched of each
 *
 *       -- line 0 -------------------------------- 40.0 %, 100.0 % of the blocks
 *           0     8  key                     2.0M   100.0 %  ##############
 *           8    56  name                       -         -
 *       -- line 1 ------------ …
 *
 *       * never touched, 64 of 112 bytes: name, never
 *
 * A line is 64 bytes, counted from the front of the block. malloc may put a block 16, 32 or 48
 * bytes after the start of a real cache line; the number of touched lines takes this into account.
 * Bars show accesses, relative to the most accessed member.
 *
 * Most lines of a large structure are cold and would hide the hot ones. Therefore each line with
 * less than COLD_SHARE of the accesses is a single row.
 *
 * Structures may cover only a small part of a program whose hot blocks have no type or are pools.
 * Therefore the covered share comes first, with the sites that have most of the rest. */
#include "text/text.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/fields.h"
#include "text/text_view.h"
#include "view/phrases.h"

enum {
    STRUCTURES = 5,
    PLACE_WIDTH = 6,
    NAME_WIDTH = 23, // If there is room.
    COUNT_WIDTH = 11,
    SHARE_WIDTH = 8,
    BAR_WIDTH_MIN = 4,
    FULL_WIDTH = 80, // Width of lines if they have no limit.
    LARGE_LINES = 4, // Minimum number of lines of a structure for folding cold lines.
};

#define COLD_SHARE 0.005

static const char *
text_fields_percent(struct text_view *v, double part, double whole)
{
    return arena_printf(v->base.arena, "%.1f %%", whole > 0 ? 100 * part / whole : 0);
}

/* Return the width of a row's numbers, which are never cut. */
static size_t
numbers_width(bool separate)
{
    return 2 * PLACE_WIDTH + 2 + (separate ? 2 : 1) * COUNT_WIDTH + SHARE_WIDTH;
}

/* Return the number of columns for names. They shrink only on lines without room for a bar. */
static size_t
name_room(const struct text_view *v, bool separate)
{
    size_t room = style_room(&v->style, numbers_width(separate));

    return room < NAME_WIDTH ? room : NAME_WIDTH;
}

/* Return the number of columns for bars; 0 = rows have none. */
static size_t
bar_room(const struct text_view *v, bool separate)
{
    size_t used = numbers_width(separate) + NAME_WIDTH + 2;
    size_t width = text_is_wide(v) ? FULL_WIDTH : v->style.width;

    return width >= used + BAR_WIDTH_MIN ? width - used : 0;
}

static void
put_count(struct text_view *v, uint64_t count, bool together)
{
    const char *text = count == 0 ? "-" : access_number(v->base.arena, (double)count);

    style_right(v->out, arena_printf(v->base.arena, "%s%s", text, together ? "~" : " "),
                COUNT_WIDTH);
}

static void
text_fields_put_bar(struct text_view *v, uint64_t count, uint64_t most, bool separate)
{
    size_t room = bar_room(v, separate);
    size_t blocks = most > 0 ? (size_t)((double)count / (double)most * (double)room + 0.5) : 0;

    if (count == 0 || room == 0)
        return;
    strbuf_str(v->out, "  ");
    style_attr(&v->style, v->out, ATTR_WARNING);
    if (blocks == 0)
        strbuf_str(v->out, "\xe2\x96\x8f"); // Hardly any, but not none.
    for (size_t i = 0; i < blocks && i < room; i++)
        strbuf_str(v->out, "\xe2\x96\x88");
    style_attr(&v->style, v->out, ATTR_PLAIN);
}

/* End the line that begins at START after removing blanks at its end. */
static void
end_line(struct text_view *v, size_t start)
{
    struct strbuf *out = v->out;

    while (out->length > start && out->text[out->length - 1] == ' ')
        out->text[--out->length] = '\0';
    strbuf_char(out, '\n');
    strbuf_pause(out);
}

static void
text_fields_put_row(struct text_view *v, const struct field_row *r, uint64_t most)
{
    struct arena *a = v->base.arena;
    bool separate = v->base.p->accesses.separate;
    const char *name = field_name(v->base.p, r);
    size_t name_width = name_room(v, separate);
    enum attr attr = r->member == NULL || r->counts.accesses == 0 ? ATTR_DIM : ATTR_PLAIN;
    size_t start = v->out->length;

    style_right(v->out, arena_printf(a, "%" PRIu64, r->offset), PLACE_WIDTH);
    style_right(v->out,
                r->member != NULL && r->member->bits > 0
                    ? arena_printf(a, ":%" PRIu32, r->member->bits)
                    : arena_printf(a, "%" PRIu64, r->size),
                PLACE_WIDTH);
    strbuf_str(v->out, "  ");
    style_attr(&v->style, v->out, attr);
    if (r->member == NULL) {
        strbuf_str(v->out, name);
        style_attr(&v->style, v->out, ATTR_PLAIN);
        strbuf_char(v->out, '\n');
        return;
    }
    style_left(v->out, style_cut_end(a, style_clean(a, name), name_width), name_width);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    if (separate) {
        put_count(v, r->counts.accesses - r->counts.writes, false);
        put_count(v, r->counts.writes, r->together);
    } else {
        put_count(v, r->counts.accesses, r->together);
    }
    if (r->counts.accesses > 0)
        style_right(v->out, text_fields_percent(v, field_share(&r->counts), 1), SHARE_WIDTH);
    text_fields_put_bar(v, r->counts.accesses, most, separate);
    end_line(v, start);
}

/* Return the number of accesses to LINE of F. Set *RET_SHARE to a lower bound of the share of
 * blocks with an access to it. */
static uint64_t
line_accesses(const struct fields *all, const struct field_structure *f, uint64_t line,
              double *ret_share)
{
    uint64_t first = line * FIELDS_LINE_BYTES / all->granule_bytes;
    uint64_t end = (line + 1) * FIELDS_LINE_BYTES / all->granule_bytes, accesses = 0;

    *ret_share = 0;
    for (uint64_t g = first; g < end && g < f->granule_count; g++) {
        double share = field_share(&f->granules[g]);

        accesses += f->granules[g].accesses;
        *ret_share = share > *ret_share ? share : *ret_share;
    }
    return accesses;
}

static uint64_t
text_fields_line_of(const struct field_row *r)
{
    return r->offset / FIELDS_LINE_BYTES;
}

/* Return the number of rows from I on that begin on the same line. Set *RET_NAMES to their
 * names. */
static size_t
rows_on_line(struct text_view *v, const struct field_structure *f, size_t i, const char **ret_names)
{
    struct arena *a = v->base.arena;
    const struct field_row *first = NULL, *last = NULL;
    size_t members = 0, end = i;

    for (; end < f->row_count &&
           text_fields_line_of(&f->rows[end]) == text_fields_line_of(&f->rows[i]);
         end++) {
        if (f->rows[end].member == NULL)
            continue;
        last = &f->rows[end];
        first = members++ == 0 ? last : first;
    }
    *ret_names = members == 0   ? "(padding)"
                 : members == 1 ? field_name(v->base.p, first)
                 : members == 2 ? arena_printf(a, "%s, %s", field_name(v->base.p, first),
                                               field_name(v->base.p, last))
                                : arena_printf(a, "%s to %s, %zu fields",
                                               field_name(v->base.p, first),
                                               field_name(v->base.p, last), members);
    return end - i;
}

/* Write the heading of the line where row I of F starts. For a cold line it replaces the rows.
 * Return the number of rows replaced. */
static size_t
text_fields_put_line(struct text_view *v, const struct fields *all, const struct field_structure *f,
                     size_t i)
{
    struct arena *a = v->base.arena;
    uint64_t line = text_fields_line_of(&f->rows[i]);
    double share;
    uint64_t accesses = line_accesses(all, f, line, &share);
    bool is_large = f->s->size > LARGE_LINES * FIELDS_LINE_BYTES;
    const char *text, *names;
    size_t rows = rows_on_line(v, f, i, &names);

    if (accesses == 0)
        text = access_unused_words(f->unproven);
    else
        text = arena_printf(a, "%s of the accesses, in %s of them",
                            text_fields_percent(v, (double)accesses, (double)f->accesses),
                            text_fields_percent(v, share, 1));
    if (is_large && (double)accesses < (double)f->accesses * COLD_SHARE) {
        text = accesses == 0 ? text
                             : access_plural(a, accesses);
        text_line(v, ATTR_DIM,
                  style_clean(a, arena_printf(a, "  line %" PRIu64 ": %s: %s", line, text, names)));
        return rows;
    }
    text_line(v, ATTR_DIM, arena_printf(a, "  line %" PRIu64 ": %s", line, text));
    return 0;
}

static void
put_picture(struct text_view *v, const struct fields *all, const struct field_structure *f)
{
    uint64_t line = UINT64_MAX, most = 0;
    bool separate = v->base.p->accesses.separate;

    for (size_t i = 0; i < f->row_count; i++)
        if (f->rows[i].counts.accesses > most)
            most = f->rows[i].counts.accesses;
    strbuf_char(v->out, '\n');
    style_attr(&v->style, v->out, ATTR_DIM);
    strbuf_str(v->out, "    at  size  ");
    style_left(v->out, "field", name_room(v, separate));
    style_right(v->out, separate ? "reads " : "accesses ", COUNT_WIDTH);
    if (separate)
        style_right(v->out, "writes ", COUNT_WIDTH);
    strbuf_str(v->out, "  blocks\n");
    style_attr(&v->style, v->out, ATTR_PLAIN);
    for (size_t i = 0; i < f->row_count;) {
        size_t folded =
            text_fields_line_of(&f->rows[i]) != line ? text_fields_put_line(v, all, f, i) : 0;

        line = text_fields_line_of(&f->rows[i]);
        if (folded == 0)
            text_fields_put_row(v, &f->rows[i], most);
        i += folded > 0 ? folded : 1;
    }
}

/* Write TEXT after a mark, wrapped. */
static void
text_fields_put_sentence(struct text_view *v, const char *text)
{
    size_t width = text_is_wide(v) ? SIZE_MAX : v->style.width - 4;
    const char *mark = "  \xe2\x80\xa2 ";

    text = style_clean(v->base.arena, text);
    while (*text != '\0') {
        size_t length = strlen(text), cut = length;

        if (style_width(text) > width) {
            cut = 0;
            for (size_t i = 0; i < length && i < width; i++)
                cut = text[i] == ' ' ? i : cut;
            cut = cut > 0 ? cut : width < length ? width : length;
        }
        strbuf_str(v->out, mark);
        strbuf_add(v->out, text, cut);
        strbuf_char(v->out, '\n');
        text += cut;
        text += strspn(text, " ");
        mark = "    ";
    }
}

static void
text_fields_put_structure(struct text_view *v, const struct fields *all,
                          const struct field_structure *f)
{
    struct arena *a = v->base.arena;
    const struct profile *p = v->base.p;
    const char *sentences[FIELD_SENTENCES];
    struct field_advice advice;
    size_t count;
    double lines = fields_lines(f, all->granule_bytes, NULL);

    field_advise(p, all, f, a, &advice);
    count = field_sentences(p, f, &advice, a, sentences);
    text_title(v, style_clean(a, profile_string(p, f->s->name)),
               arena_printf(a, "%s %s of %s, %s", field_verdict_words(f->verdict),
                            style_plural(a, (int64_t)f->blocks, "block"),
                            style_plural(a, (int64_t)f->sites, "site"),
                            style_bytes(a, (int64_t)f->bytes)));
    text_prose(v, ATTR_PLAIN,
               arena_printf(a, "%s%s, %s (%s of all)%s",
                            style_plural(a, (int64_t)f->s->size, "byte"),
                            f->elements > f->blocks
                                ? arena_printf(a, ", %s of them in arrays",
                                               style_count(a, (int64_t)f->elements))
                                : "",
                            access_plural(a, f->accesses),
                            text_fields_percent(v, (double)f->accesses,
                                                (double)all->accesses +
                                                    (double)all->other_accesses),
                            lines > 0 ? arena_printf(a, ", %.1f cache lines touched of each", lines)
                                      : ""));
    put_picture(v, all, f);
    if (count > 0)
        strbuf_char(v->out, '\n');
    for (size_t i = 0; i < count; i++)
        text_fields_put_sentence(v, sentences[i]);
}

/* Write the share of the program that the pictures cover, and the sites with most of the rest. */
static void
text_fields_put_known(struct text_view *v, const struct fields *f)
{
    struct arena *a = v->base.arena;
    double accesses = (double)f->accesses + (double)f->other_accesses;

    text_wrapped(v, ATTR_PLAIN, "  Fields known       ",
                 arena_printf(a, "of %s of the accesses and %s of the bytes",
                              text_fields_percent(v, (double)f->accesses, accesses),
                              text_fields_percent(v, (double)f->bytes,
                                                  (double)f->bytes + (double)f->other_bytes)));
    if (f->beyond_bytes > 0)
        text_wrapped(v, ATTR_DIM, "  Not of             ",
                     arena_printf(a, "%s of the accesses, behind the first %s of a block",
                                  text_fields_percent(v, (double)f->beyond_accesses, accesses),
                                  style_bytes(a, (int64_t)v->base.p->accesses.granules_max *
                                                     v->base.p->accesses.granule_bytes)));
    for (size_t i = 0; i < f->largest_count; i++) {
        const struct field_other *o = &f->largest[i];
        const struct profile_frame *top =
            o->stack->depth > 0 ? &v->base.p->frames[o->stack->frames[0]] : NULL;

        text_line(v, ATTR_DIM,
                  style_clean(a, arena_printf(
                      a, "  %-18s %s in %s of %s%s%s", i == 0 ? "Not of" : "",
                      text_fields_percent(v, (double)o->accesses, accesses),
                      style_plural(a, (int64_t)o->blocks, "block"),
                      top != NULL ? profile_string(v->base.p, top->function) : "unknown",
                      *o->type != '\0' ? ", " : "", o->type)));
    }
}

static void
put_remarks(struct text_view *v, const struct fields *f)
{
    const struct profile_accesses *x = &v->base.p->accesses;
    bool together = false;

    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->v[i].row_count; k++)
            together = together || f->v[i].rows[k].together;
    strbuf_char(v->out, '\n');
    if (together)
        text_prose(v, ATTR_DIM,
                   arena_printf(v->base.arena,
                                "~ shares its %" PRIu32 " bytes with a neighbour: both have what "
                                "was counted of them",
                                x->granule_bytes));
    if (x->granule_bytes != 8)
        text_prose(v, ATTR_DIM,
                   "Advice needs counts of words: build with --granule=8 (docs/guide/access.md)");
}

void
text_fields(struct text_view *v, const struct fields *f)
{
    size_t limit = v->base.limit ? v->base.limit : STRUCTURES;

    text_header(v);
    text_fields_put_known(v, f);
    text_access_put_remarks(v);
    if (f->count == 0) {
        strbuf_char(v->out, '\n');
        text_prose(v, ATTR_DIM,
                   "No block is known to be a structure and was used (types need -g)");
        return;
    }
    for (size_t i = 0; i < f->count && i < limit; i++)
        text_fields_put_structure(v, f, &f->v[i]);
    put_remarks(v, f);
    text_more(v, limit < f->count ? limit : f->count, f->count, "structure");
}
