/* text_leaks.c: live blocks by site, and the bytes that suppressions hide. The text says "still
 * live" instead of "leaked", because reachability is not checked. */
#include "text/text.h"

#include "text/text_view.h"
#include "view/phrases.h"

void
text_suppressions(struct text_view *v, int64_t blocks, int64_t bytes,
                  const struct suppressions *suppressions)
{
    struct arena *a = v->base.arena;

    if (blocks == 0)
        return;
    text_title(v, "Suppressed",
               arena_printf(a, "%s in %s", style_bytes(a, bytes),
                            style_plural(a, blocks, "block")));
    strbuf_char(v->out, '\n');
    for (size_t i = 0; i < suppressions->count; i++) {
        const struct suppression *s = &suppressions->v[i];

        if (s->counters.allocations == 0)
            continue;
        text_line(v, ATTR_DIM,
                  arena_printf(a, "    %12s %8s   %s  (%s)",
                               style_bytes(a, counters_live_bytes(&s->counters)),
                               style_count(a, counters_live_blocks(&s->counters)), s->pattern,
                               s->origin));
    }
}

void
text_leaks_head(struct text_view *v, const struct leaks *leaks, size_t count, const char *noun)
{
    const struct counters *total = &leaks->stacks.total;
    struct arena *a = v->base.arena;

    text_line(v, ATTR_BOLD,
              arena_printf(a, "%s: %s in %s, %s%s", phrase_live(v->base.p),
                           style_bytes(a, counters_live_bytes(total)),
                           style_plural(a, counters_live_blocks(total), "block"),
                           style_plural(a, (int64_t)count, noun),
                           sampling_error(a, total, &leaks->stacks.errors, METRIC_INUSE)));
    text_incomplete(v);
    text_frames_kept(v);
    text_unchecked(v);
}

void
text_leaks_shrunk(struct text_view *v, const struct leaks *leaks)
{
    struct arena *a = v->base.arena;

    if (leaks->shrunk_stacks == 0)
        return;
    strbuf_char(v->out, '\n');
    text_line(v, ATTR_DIM,
              arena_printf(a, "    %12s  in %s that shrank", style_bytes(a, leaks->shrunk_bytes),
                           style_plural(a, leaks->shrunk_stacks, "site")));
}

void
text_leaks(struct text_view *v, const struct leaks *leaks, const struct suppressions *suppressions)
{
    size_t limit = v->base.limit ? v->base.limit : TEXT_LIMIT,
           shown = leaks->count < limit ? leaks->count : limit;
    struct arena *a = v->base.arena;

    text_leaks_head(v, leaks, leaks->count, "site");
    for (size_t i = 0; i < shown; i++)
        text_site(v, leaks->v[i], METRIC_INUSE);
    if (shown < leaks->count) {
        strbuf_char(v->out, '\n');
        text_line(v, ATTR_DIM,
                  arena_printf(a, "\xe2\x80\xa6 %s; --limit shows more",
                               style_plural(a, (int64_t)(leaks->count - shown), "more site")));
    }
    text_leaks_shrunk(v, leaks);
    text_suppressions(v, leaks->suppressed_blocks, leaks->suppressed_bytes, suppressions);
}
