/* utf8.c: write untrusted text in three ways.
 *
 * Names come from symbol tables and file systems and may contain any byte. XML parsers refuse a
 * whole document for one bad byte or one control character, and "]]>" or "</script" inside a name
 * must not end its container. So every name is written by one of these functions, and they emit
 * only whole, valid characters.
 *
 * Browsers and pagers show XML and scripts. In these, U+FFFD replaces every character that controls
 * the display (util/character.c): U+202E reverses a label, U+009B starts a terminal sequence. */
#include "export/exporter.h"

#include <string.h>

#include "util/amount.h"

#define REPLACEMENT "\xef\xbf\xbd" // U+FFFD

size_t
utf8_size(const char *text)
{
    uint32_t c;

    return character_bytes(text, &c);
}

size_t
utf8_count(const char *s)
{
    size_t count = 0;

    for (; *s != '\0'; count++) {
        size_t size = utf8_size(s);

        s += size ? size : 1;
    }
    return count;
}

void
utf8_add(struct strbuf *out, const char *s)
{
    while (*s != '\0') {
        size_t size = utf8_size(s);

        if (size == 0)
            strbuf_str(out, REPLACEMENT);
        else
            strbuf_add(out, s, size);
        s += size ? size : 1;
    }
}

static const char *
xml_entity(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void
utf8_add_xml(struct strbuf *out, const char *s)
{
    while (*s != '\0') {
        size_t skip, size = character_shown(s, &skip);
        bool blank = *s == '\t' || *s == '\n';
        // U+FFFE and U+FFFF are valid UTF-8, but XML forbids them.
        bool forbidden =
            size == 3 && (memcmp(s, "\xef\xbf\xbe", 3) == 0 || memcmp(s, "\xef\xbf\xbf", 3) == 0);
        const char *entity = xml_entity(*s);

        if (blank)
            strbuf_char(out, *s);
        else if (size == 0 || forbidden)
            strbuf_str(out, REPLACEMENT);
        else if (entity)
            strbuf_str(out, entity);
        else
            strbuf_add(out, s, size);
        s += skip;
    }
}

void
utf8_add_script(struct strbuf *out, const char *s)
{
    strbuf_char(out, '"');
    while (*s != '\0') {
        uint32_t c;
        size_t size = character_bytes(s, &c);

        if (size == 0 || character_drives(c))
            strbuf_str(out, REPLACEMENT);
        else if (strchr("\"\\<>&'", *s) != NULL || (c >= 0x2000 && c <= 0xffff))
            strbuf_fmt(out, "\\u%04x", c);
        else
            strbuf_add(out, s, size);
        s += size ? size : 1;
    }
    strbuf_char(out, '"');
}
