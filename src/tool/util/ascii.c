/* ascii.c: ASCII replacements for the other characters in our text.
 *
 * Output code substitutes them in one place, so no view can omit it. style_width counts the
 * replacement, which may be longer than the character, so columns stay aligned.
 *
 * Characters outside the table are copied, so users' names keep their bytes. The dot between two
 * facts is in the table with its blanks, because a bare dot may be part of a name.
 *
 * The locale is queried without setlocale, which would change the C library's functions. In many
 * containers the locale is set but not installed; then its name determines the codeset. */
#include "util/amount.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *sign, *fallback;
} signs[] = {
    {"\xe2\x80\xa6", "..."},   // Horizontal ellipsis.
    {" \xc2\xb7 ", " | "},     // Middle dot.
    {" \xc2\xb7\xe2\x80\xa6", " |..."}, // Middle dot at which a line was cut.
    {"\xc2\xb1", "+-"},        // Plus-minus.
    {"\xe2\x89\xa5", ">="},    // At least.
    {"\xe2\x80\x93", "-"},     // En dash.
    {"\xe2\x80\xba", ">"},     // Single angle quote.
    {"\xe2\x80\xa2", "*"},     // Bullet.
    {"\xe2\x86\x90", "<-"},    // Arrows: left,
    {"\xe2\x86\x91", "^"},     // up
    {"\xe2\x86\x92", "->"},    // right
    {"\xe2\x86\x93", "v"},     // and down.
    {"\xe2\x9c\x93", "*"},     // Check mark.
    {"\xe2\x96\xbc", "v"},     // Triangle down.
    {"\xe2\x94\x80", "-"},     // Horizontal lines.
    {"\xe2\x94\x82", "|"},     // Vertical lines.
    {"\xe2\x94\x94", "+"},     // Corners and branches of lines.
    {"\xe2\x94\x9c", "+"},
    {"\xe2\x94\xa4", "+"},
    {"\xe2\x94\xb4", "+"},
    {"\xe2\x96\x81", "."},     // Blocks from one to eight eighths high.
    {"\xe2\x96\x82", "."},
    {"\xe2\x96\x83", "."},
    {"\xe2\x96\x84", ":"},
    {"\xe2\x96\x85", ":"},
    {"\xe2\x96\x86", ":"},
    {"\xe2\x96\x87", "#"},
    {"\xe2\x96\x88", "#"},
    {"\xe2\x96\x8f", "'"},     // Block of one eighth, from the left.
    {"\xe2\x96\x91", "-"},     // Light block.
};

static enum { UNASKED, ASCII, UTF8 } wanted;

static bool
locale_has_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const char *name = NULL, *codeset;
    bool has;

    for (size_t i = 0; i < countof(variables) && (name == NULL || *name == '\0'); i++)
        name = getenv(variables[i]);
    if (locale == (locale_t)0)
        return name != NULL && (strcasestr(name, "utf-8") || strcasestr(name, "utf8"));
    codeset = nl_langinfo_l(CODESET, locale);
    has = strcasecmp(codeset, "utf-8") == 0 || strcasecmp(codeset, "utf8") == 0;
    freelocale(locale);
    return has;
}

bool
ascii_is_wanted(void)
{
    if (wanted == UNASKED) {
        const char *asked = getenv("HEAPTAP_ASCII");

        if (asked != NULL && (strcmp(asked, "1") == 0 || strcmp(asked, "0") == 0))
            wanted = *asked == '1' ? ASCII : UTF8;
        else
            wanted = locale_has_utf8() ? UTF8 : ASCII;
    }
    return wanted == ASCII;
}

void
ascii_want(bool yes)
{
    wanted = yes ? ASCII : UTF8;
}

size_t
ascii_sign(const char *s, const char **ret_fallback)
{
    // Fast path: entries of the table begin with a blank or a non-ASCII byte.
    if (*s != ' ' && (unsigned char)*s < 0x80)
        return 0;
    for (size_t i = 0; i < countof(signs); i++) {
        size_t length = strlen(signs[i].sign);

        if (strncmp(s, signs[i].sign, length) != 0)
            continue;
        *ret_fallback = signs[i].fallback;
        return length;
    }
    return 0;
}

/* Return true if S contains a character of the table. */
static bool
has_sign(const char *s)
{
    const char *ignored;

    for (; *s != '\0'; s++)
        if ((unsigned char)*s >= 0x80 && (ascii_sign(s, &ignored) != 0 ||
                                          strncmp(s, "\xc2\xb7", 2) == 0)) // After a blank.
            return true;
    return false;
}

static void
ascii_write_text(struct strbuf *b, const char *text)
{
    while (*text != '\0') {
        const char *fallback;
        size_t length = ascii_sign(text, &fallback);

        if (length != 0)
            strbuf_str(b, fallback);
        else
            strbuf_char(b, *text);
        text += length != 0 ? length : 1;
    }
}

const char *
ascii_text(struct arena *arena, const char *text)
{
    struct strbuf b = {0};
    const char *copy;

    if (!ascii_is_wanted() || !has_sign(text))
        return text;
    ascii_write_text(&b, text);
    copy = arena_strdup(arena, strbuf_text(&b));
    strbuf_release(&b);
    return copy;
}

void
ascii_strbuf(struct strbuf *b)
{
    struct arena scratch = {0};
    const char *old = strbuf_text(b), *new = ascii_text(&scratch, old);

    if (new != old) {
        strbuf_clear(b);
        strbuf_str(b, new);
    }
    arena_release(&scratch);
}
