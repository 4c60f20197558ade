/* text_notes.c: notes on a recording, below its totals.
 *
 *     Note: about 347.0 MiB of the memory of /opt/redis-server did not come through
 *       malloc: it had 347.1 MiB, of which the recorder knows 80.9 KiB
 *       /opt/redis-server has jemalloc inside, …
 *
 * Sentences are wrapped and never cut, because half a remedy is useless. */
#include "text/text_view.h"

#include <string.h>

#include "view/phrases.h"

enum { NOTES_SHOWN = 5 };

static void
put_advice(struct text_view *v, const char *advice)
{
    while (*advice != '\0') {
        size_t length = strcspn(advice, "\n");

        text_wrapped(v, ATTR_PLAIN, "    ", arena_strndup(v->base.arena, advice, length));
        advice += length + (advice[length] == '\n');
    }
}

void
text_notes(struct text_view *v)
{
    const struct profile *p = v->base.p;
    struct arena *a = v->base.arena;

    for (size_t i = 0; i < p->run_note_count && i < NOTES_SHOWN; i++) {
        if (i == 0)
            strbuf_char(v->out, '\n');
        text_wrapped(v, ATTR_WARNING, "  Note: ", note_sentence(a, &p->run_notes[i]));
        put_advice(v, p->run_notes[i].advice);
    }
    if (p->run_note_count > NOTES_SHOWN)
        text_line(v, ATTR_DIM,
                  arena_printf(a, "  \xe2\x80\xa6 and %s",
                               style_plural(a, (int64_t)(p->run_note_count - NOTES_SHOWN),
                                            "more note")));
}
