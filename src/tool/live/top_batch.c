/* top_batch.c: a reading as text for people, one below the other. An empty line ends each. */
#include "live/top_text.h"

static void
top_batch_line(const struct style *style, struct strbuf *out, enum attr attr, const char *text)
{
    style_text(style, out, attr, text);
    strbuf_char(out, '\n');
}

void
top_batch(const struct top_shown *s, const struct style *style, size_t width, size_t limit,
          struct arena *arena, struct strbuf *out)
{
    struct top_line head[TOP_HEAD_LINES];
    size_t lines = top_head(s, width, arena, head), count;
    const struct top_row **rows;
    struct top_layout layout;

    for (size_t i = 0; i < lines; i++)
        top_batch_line(style, out, head[i].attr, head[i].text);
    if (s->digest != NULL) {
        count = top_rows_order(s->digest, &s->order, arena, &rows);
        top_layout_make(s->digest, s->order.sort, width, &layout);
        top_batch_line(style, out, ATTR_TITLE, top_titles(&layout, &s->order, arena));
        for (size_t i = 0; i < count && i < limit; i++)
            top_batch_line(style, out, ATTR_PLAIN,
                           top_row_text(&layout, s->digest, rows[i], arena));
        if (count > limit)
            top_batch_line(style, out, ATTR_DIM,
                           arena_printf(arena, "\xe2\x80\xa6 %s; --limit shows more",
                                        style_plural(arena, (int64_t)(count - limit),
                                                     "more row")));
    }
    strbuf_char(out, '\n');
}

void
top_batch_processes(const struct watched *processes, size_t count, const struct style *style,
                    size_t width, struct arena *arena, struct strbuf *out)
{
    top_batch_line(style, out, ATTR_TITLE, top_process_titles(width, arena));
    for (size_t i = 0; i < count; i++)
        top_batch_line(style, out, ATTR_PLAIN, top_process_text(&processes[i], width, arena));
    strbuf_char(out, '\n');
}
