/* line_text.c: write names in line-based formats.
 *
 * Names come from symbol tables, file systems and command lines, and may contain any byte. Formats
 * that end a name at the end of its line cannot quote a line break, so line breaks are replaced.
 * People read these files with less(1), so terminal control characters are replaced as well. All
 * other bytes stay, whatever the length. */
#include "interchange/line_text.h"

#include "util/amount.h"

void
line_text(struct strbuf *out, const char *s)
{
    size_t skip;

    for (; *s != '\0'; s += skip) {
        size_t shown = character_shown(s, &skip);

        if (*s == '\n' || *s == '\r')
            strbuf_char(out, ' ');
        else if (shown == 0)
            strbuf_char(out, '?');
        else
            strbuf_add(out, s, shown);
    }
}

void
line_title(struct strbuf *out, const struct profile *p, struct arena *arena)
{
    const char *title = profile_title(p, arena);

    line_text(out, title != NULL && *title != '\0' ? title : "(unknown)");
}

void
line_creator(struct strbuf *out, const struct profile *p)
{
    const char *version = p->process.heaptap;

    strbuf_str(out, "heaptap");
    if (version == NULL || *version == '\0')
        return;
    strbuf_char(out, ' ');
    line_text(out, version);
}
