/* utf8.c: three ways of writing text that we did not choose.
 *
 * Names come from symbol tables and file systems and may hold any byte. XML parsers refuse a whole
 * document for one bad byte or one control character, and a "]]>" or "</script" inside a name must
 * not end what it is in. So every name goes through one of these functions, and each of them lets
 * only whole, valid characters pass.
 */
#include "export/utf8.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" // U+FFFD

/* The code point of the SIZE-byte sequence at S, already known to have the right form. */
static uint32_t
decode(const unsigned char *s, size_t size)
{
    static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = s[0] & first_bits[size];

    for (size_t i = 1; i < size; i++)
        c = c << 6 | (s[i] & 0x3f);
    return c;
}

size_t
utf8_size(const char *text)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000}; // Shorter forms exist below.
    const unsigned char *s = (const unsigned char *)text;
    size_t size = s[0] < 0x80   ? 1
                  : s[0] < 0xc0 ? 0
                  : s[0] < 0xe0 ? 2
                  : s[0] < 0xf0 ? 3
                  : s[0] < 0xf8 ? 4
                                : 0;
    uint32_t c;

    for (size_t i = 1; i < size; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (size == 0)
        return 0;
    c = decode(s, size);
    return c < smallest[size] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : size;
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
        size_t size = utf8_size(s);
        bool control = (unsigned char)*s < 0x20 && *s != '\t' && *s != '\n';
        // U+FFFE and U+FFFF are valid UTF-8 but no XML characters.
        bool forbidden =
            size == 3 && (memcmp(s, "\xef\xbf\xbe", 3) == 0 || memcmp(s, "\xef\xbf\xbf", 3) == 0);
        const char *entity = xml_entity(*s);

        if (size == 0 || control || forbidden)
            strbuf_str(out, REPLACEMENT);
        else if (entity)
            strbuf_str(out, entity);
        else
            strbuf_add(out, s, size);
        s += size ? size : 1;
    }
}

void
utf8_add_script(struct strbuf *out, const char *s)
{
    strbuf_char(out, '"');
    while (*s != '\0') {
        size_t size = utf8_size(s);
        unsigned char c = (unsigned char)*s;

        if (size == 0)
            strbuf_str(out, REPLACEMENT);
        else if (c < 0x20 || strchr("\"\\<>&'", *s) != NULL)
            strbuf_fmt(out, "\\u%04x", c);
        else if (size == 3 && c >= 0xe2)
            strbuf_fmt(out, "\\u%04x", decode((const unsigned char *)s, size));
        else
            strbuf_add(out, s, size);
        s += size ? size : 1;
    }
    strbuf_char(out, '"');
}
