/* text_notes.c: what was noted of a recording, below its totals.
 *
 *     Note: about 347.0 MiB of the memory of /opt/redis-server did not come through
 *       malloc: it had 347.1 MiB, of which the recorder knows 80.9 KiB
 *       /opt/redis-server has jemalloc inside, …
 *
 * Sentences are whole, over as many lines as they take: half a remedy is none.
 */
#include "text/text_notes.h"

#include <string.h>

#include "view/notes.h"

enum { NOTES_SHOWN = 5 };

/* TEXT behind BEFORE, in as many lines as it takes. */
static void
put_wrapped(struct text_view *v, enum ink ink, const char *before, const char *text)
{
    struct arena *a = v->base.arena;
    const char *line = before, *gap = "";

    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        const char *word = arena_strndup(a, text, length);

        if (*gap != '\0' && style_width(line) + 1 + style_width(word) > v->style.width) {
            text_line(v, ink, line);
            line = "    ";
            gap = "";
        }
        line = arena_printf(a, "%s%s%s", line, gap, word);
        gap = " ";
        text += length + strspn(text + length, " ");
    }
    text_line(v, ink, line);
}

static void
put_advice(struct text_view *v, const char *advice)
{
    while (*advice != '\0') {
        size_t length = strcspn(advice, "\n");

        put_wrapped(v, INK_PLAIN, "    ", arena_strndup(v->base.arena, advice, length));
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
        put_wrapped(v, INK_WARNING, "  Note: ", note_sentence(a, &p->run_notes[i]));
        put_advice(v, p->run_notes[i].advice);
    }
    if (p->run_note_count > NOTES_SHOWN)
        text_line(v, INK_DIM,
                  arena_printf(a, "  \xe2\x80\xa6 and %s",
                               style_plural(a, (int64_t)(p->run_note_count - NOTES_SHOWN),
                                            "more note")));
}
