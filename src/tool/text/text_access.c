/* text_access.c: sites by the use of their blocks.
 *
 *     #3      9,876,543    80.0 %   hot and small: 12,000 blocks of 48 B (node)
 *           823.1 for each block (12 to 4,004), 17.1 for each byte
 *           lived 12 ms (1 us to 2 s), 66.7 % used, 12.0 % ended on another cpu
 *           node_new   src/list.c:12
 *
 * The first number depends on the section: accesses of hot sites, bytes of cold sites, bytes that
 * were never read. */
#include "text/text.h"

#include <inttypes.h>

#include "text/text_view.h"
#include "view/phrases.h"

enum { NUMBER_WIDTH = 4, VALUE_WIDTH = 16, SHARE_WIDTH = 10, SECTION_SITES = 5 };

static const char *const titles[] = {
    [ACCESS_PICK_ALL] = "All",
    [ACCESS_PICK_HOT] = "Hot",
    [ACCESS_PICK_COLD] = "Cold",
    [ACCESS_PICK_NEVER] = "Not read",
};

static const char *const none[] = {
    [ACCESS_PICK_ALL] = "No block of these stacks has ended, or was merged.",
    [ACCESS_PICK_HOT] = "No site is hot: none has more accesses for its bytes than the others.",
    [ACCESS_PICK_COLD] = "No site is cold.",
    [ACCESS_PICK_NEVER] = "Every block was read.",
};

static const char *
text_access_percent(struct text_view *v, double part, double whole)
{
    return arena_printf(v->base.arena, "%.1f %%", whole > 0 ? 100 * part / whole : 0);
}

/* Return a range of sizes: "48 B", "16 B to 4 KiB". */
static const char *
text_access_sizes_text(struct text_view *v, const struct access_range *sizes)
{
    const char *min = phrase_size(v->base.arena, sizes->min);

    return sizes->min == sizes->max
               ? min
               : arena_printf(v->base.arena, "%s to %s", min,
                              phrase_size(v->base.arena, sizes->max));
}

static const char *
headline(struct text_view *v, const struct access_row *r)
{
    struct arena *a = v->base.arena;
    const char *type = r->type != 0 && r->type_verdict > VERDICT_SAME_SIZE
                           ? arena_printf(a, " (%s)", profile_string(v->base.p, r->type))
                           : "";

    return arena_printf(a, "%s: %s of %s%s", access_verdict_words(r->verdict),
                        style_plural(a, (int64_t)r->a.blocks, "block"),
                        text_access_sizes_text(v, &r->a.size_bytes), type);
}

static const char *
about_accesses(struct text_view *v, const struct access_row *r)
{
    const struct profile_access *x = &r->a;
    struct arena *a = v->base.arena;
    double mean = (double)x->accesses.total / (double)x->blocks;
    const char *text = arena_printf(a, "%s for each block", access_number(a, mean));

    if (x->accesses.min != x->accesses.max)
        text = arena_printf(a, "%s (%s to %s)", text, access_number(a, (double)x->accesses.min),
                            access_number(a, (double)x->accesses.max));
    text = arena_printf(a, "%s, %s for each byte", text, access_number(a, r->per_byte));
    if (v->base.p->accesses.separate && x->accesses.total > 0)
        text = arena_printf(a, "%s, %s reads", text,
                            text_access_percent(v, (double)(x->accesses.total - x->writes.total),
                                                (double)x->accesses.total));
    return text;
}

static const char *
duration_us(struct text_view *v, double us)
{
    return us < 1 ? "0" : style_duration(v->base.arena, (uint64_t)(us * 1000));
}

static const char *
about_lifetimes(struct text_view *v, const struct access_row *r)
{
    const struct profile_access *x = &r->a;
    struct arena *a = v->base.arena;
    uint64_t bytes = x->size_bytes.total;
    const char *text = arena_printf(
        a, "%s of the bytes used",
        text_access_percent(v, (double)bytes - (double)x->untouched_bytes, (double)bytes));

    if (x->dated == 0)
        return text;
    text = arena_printf(a, "%s; lived %s", text,
                        duration_us(v, (double)x->lifetime_us.total / (double)x->dated));
    if (x->lifetime_us.min != x->lifetime_us.max)
        text = arena_printf(a, "%s (%s to %s)", text, duration_us(v, (double)x->lifetime_us.min),
                            duration_us(v, (double)x->lifetime_us.max));
    if (x->migrated > 0)
        text = arena_printf(a, "%s; %s ended on another cpu", text,
                            text_access_percent(v, (double)x->migrated, (double)x->dated));
    return text;
}

/* Return "of these, 37 never touched, 12 written and never read"; NULL if each of the two applies
 * to all blocks or to none. */
static const char *
about_unread(struct text_view *v, const struct profile_access *x)
{
    struct arena *a = v->base.arena;
    uint64_t write_only = access_write_only_blocks(x);

    if ((x->never == 0 || x->never == x->blocks) && (write_only == 0 || write_only == x->blocks))
        return NULL;
    return arena_printf(a, "of these, %s %s, %s %s", style_count(a, (int64_t)x->never),
                        access_unused_words(x->unproven), style_count(a, (int64_t)write_only),
                        access_unread_words(x->unproven));
}

/* Return the number that is the reason for listing the site, and its share of the total. */
static const char *
text_access_value_of(struct text_view *v, const struct access_table *t, const struct access_row *r,
                     enum access_pick pick, const char **ret_share)
{
    struct arena *a = v->base.arena;

    if (pick == ACCESS_PICK_COLD) {
        *ret_share = text_access_percent(v, (double)r->a.size_bytes.total,
                                         (double)t->total.size_bytes.total);
        return style_bytes(a, (int64_t)r->a.size_bytes.total);
    }
    if (pick == ACCESS_PICK_NEVER) {
        uint64_t bytes = access_unread_bytes(&r->a);

        *ret_share = text_access_percent(v, (double)bytes, (double)t->total.size_bytes.total);
        return style_bytes(a, (int64_t)bytes);
    }
    *ret_share =
        text_access_percent(v, (double)r->a.accesses.total, (double)t->total.accesses.total);
    return r->a.accesses.total < 10000000000 ? style_count(a, (int64_t)r->a.accesses.total)
                                             : access_number(a, (double)r->a.accesses.total);
}

static void
text_access_put_site(struct text_view *v, const struct access_table *t, const struct access_row *r,
                     enum access_pick pick)
{
    const struct stack *s = r->stack;
    bool again = text_seen(v, s);
    const char *label = arena_printf(v->base.arena, "#%" PRIu32, s->number);
    const char *share, *value = text_access_value_of(v, t, r, pick, &share),
                       *unread = about_unread(v, &r->a);
    size_t label_width = style_width(label) > NUMBER_WIDTH ? style_width(label) : NUMBER_WIDTH;

    strbuf_char(v->out, '\n');
    style_attr(&v->style, v->out, ATTR_DIM);
    style_left(v->out, label, NUMBER_WIDTH);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    style_attr(&v->style, v->out, ATTR_NUMBER);
    style_right(v->out, value, VALUE_WIDTH - label_width);
    style_attr(&v->style, v->out, ATTR_PLAIN);
    style_right(v->out, share, SHARE_WIDTH);
    strbuf_str(v->out, "   ");
    style_text(&v->style, v->out, r->heat == HEAT_HOT ? ATTR_WARNING : ATTR_PLAIN,
               style_cut_end(v->base.arena, style_clean(v->base.arena, headline(v, r)),
                             style_room(&v->style, VALUE_WIDTH + SHARE_WIDTH + 3)));
    strbuf_char(v->out, '\n');
    if (!again) {
        if (r->a.accesses.total > 0)
            text_note(v, about_accesses(v, r));
        if (unread != NULL)
            text_note(v, unread);
        text_note(v, about_lifetimes(v, r));
    }
    text_stack(v, s, again ? 1 : v->depth, again ? s->number : 0);
}

static void
text_access_put_section(struct text_view *v, const struct access_table *t, enum access_pick pick,
                        size_t limit, bool is_asked)
{
    size_t count;
    const struct access_row **rows = access_picked(t, pick, v->base.arena, &count);

    if (count == 0) {
        strbuf_str(v->out, is_asked ? "\n" : "");
        if (is_asked)
            text_prose(v, ATTR_DIM, none[pick]);
        return;
    }
    text_title(v, titles[pick], style_plural(v->base.arena, (int64_t)count, "site"));
    for (size_t i = 0; i < count && i < limit; i++)
        text_access_put_site(v, t, rows[i], pick);
    if (count > limit) {
        strbuf_char(v->out, '\n');
        text_more(v, limit, count, "site");
    }
}

void
text_access_put_remarks(struct text_view *v)
{
    const char *remarks[ACCESS_REMARKS];
    size_t count = access_remarks(v->base.p, v->base.arena, remarks);

    for (size_t i = 0; i < count; i++)
        text_prose(v, ATTR_DIM, arena_printf(v->base.arena, "  %s", remarks[i]));
}

static void
put_summary(struct text_view *v, const struct access_table *t)
{
    struct arena *a = v->base.arena;
    const struct profile_access *x = &t->total;

    text_line(v, ATTR_PLAIN,
              arena_printf(
                  a, "  Never touched      %s, %s of these bytes",
                  style_bytes(a, (int64_t)x->untouched_bytes),
                  text_access_percent(v, (double)x->untouched_bytes, (double)x->size_bytes.total)));
    if (t->hot_count > 0)
        text_wrapped(
            v, ATTR_PLAIN, "  Hot                ",
            arena_printf(a, "%s: %s of the accesses, %s of bytes x time",
                         style_plural(a, (int64_t)t->hot_count, "site"),
                         text_access_percent(v, (double)t->hot_accesses, (double)x->accesses.total),
                         text_access_percent(v, t->hot_byte_seconds, t->byte_seconds)));
    if (t->unseen_count > 0)
        text_prose(v, ATTR_DIM,
                   arena_printf(a, "  %s of %s are of libraries where nothing is counted",
                                style_bytes(a, (int64_t)t->unseen_bytes),
                                style_plural(a, (int64_t)t->unseen_count, "site")));
    text_access_put_remarks(v);
}

void
text_access(struct text_view *v, const struct access_table *t, enum access_pick pick)
{
    size_t limit = v->base.limit ? v->base.limit : TEXT_LIMIT;

    text_header(v);
    put_summary(v, t);
    if (pick != ACCESS_PICK_ALL || t->count == 0) {
        text_access_put_section(v, t, pick, limit, true);
        return;
    }
    limit = v->base.limit ? v->base.limit : SECTION_SITES;
    if (t->hot_count == 0)
        text_access_put_section(v, t, ACCESS_PICK_ALL, limit, true);
    else
        text_access_put_section(v, t, ACCESS_PICK_HOT, limit, false);
    text_access_put_section(v, t, ACCESS_PICK_COLD, limit, false);
    text_access_put_section(v, t, ACCESS_PICK_NEVER, limit, false);
    strbuf_char(v->out, '\n');
    text_prose(v, ATTR_DIM, "More: access --fields, the same for the fields of structures");
}
