/* character.c: classify characters, and decide which ones are safe to show.
 *
 * Function names, paths and thread names are untrusted text that reaches terminals and code
 * reviews. An escape sequence can retitle or reprogram a terminal; U+009B starts one as well.
 * Directional marks and overrides make a line read differently. Some readers end lines at U+2028
 * and U+2029. Overlong and surrogate forms are rejected as invalid, because a lenient decoder would
 * accept them as control characters. */
#include "util/amount.h"

#include <string.h>

static uint32_t
character_more_bytes(unsigned char first)
{
    if (first < 0x80)
        return 0;
    return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

size_t
character_bytes(const char *s, uint32_t *ret_character)
{
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    static const unsigned char first_bits[] = {0x7f, 0x1f, 0x0f, 0x07};
    unsigned char first = (unsigned char)*s;
    uint32_t more = character_more_bytes(first);
    uint32_t c = first & first_bits[more];

    if ((first >= 0x80 && first < 0xc2) || first > 0xf4)
        return 0;
    for (uint32_t i = 1; i <= more; i++) {
        if (((unsigned char)s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    }
    if (c < smallest[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *ret_character = c;
    return more + 1;
}

bool
character_drives(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff},
    };

    for (size_t i = 0; i < countof(ranges); i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

size_t
character_columns(uint32_t c)
{
    // Characters with the property W or F in Unicode's EastAsianWidth.txt, by block. The few narrow
    // characters between emoji count as wide.
    static const struct {
        uint32_t first, last;
    } wide[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
        {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
        {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
        {0xffe0, 0xffe6},   {0x17000, 0x18d08}, {0x1b000, 0x1b2fb}, {0x1f300, 0x1f64f},
        {0x1f680, 0x1f6c5}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
    };

    for (size_t i = 0; i < countof(wide) && c >= wide[i].first; i++)
        if (c <= wide[i].last)
            return 2;
    return 1;
}

size_t
character_shown(const char *s, size_t *ret_skip)
{
    uint32_t c;
    size_t n = character_bytes(s, &c);

    *ret_skip = n > 0 ? n : 1;
    return n > 0 && !character_drives(c) ? n : 0;
}

const char *
character_clean(struct arena *arena, const char *text)
{
    const char *s = text;
    size_t n, skip;
    char *out, *o;

    while (*s != '\0' && (n = character_shown(s, &skip)) != 0)
        s += n;
    if (*s == '\0')
        return text;
    out = o = arena_alloc(arena, strlen(text) + 1);
    for (s = text; *s != '\0'; s += skip) {
        n = character_shown(s, &skip);
        if (n == 0)
            *o++ = '?';
        memcpy(o, s, n);
        o += n;
    }
    return out;
}
