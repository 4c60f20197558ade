/* style.c: colours, numbers and widths.
 *
 * All views use one format: binary units with one decimal, thousands separated by commas, and
 * always a unit. Exact numbers are in JSON.
 *
 * All text from a file passes through style_clean before it is shown.
 */
#include "view/style.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/amount.h"

// In a terminal narrower than WIDTH_MIN, lines wrap, because numbers must not be cut.
enum { DEFAULT_WIDTH = 80, WIDTH_MIN = 60 };

static const char *
ellipsis(void)
{
    return ascii_is_wanted() ? "..." : "\xe2\x80\xa6";
}

/* Return COLUMNS of the environment; 0 = not set, or not a number. */
static size_t
columns_asked(void)
{
    const char *text = getenv("COLUMNS");
    unsigned long columns;
    char *end;

    if (text == NULL || *text < '0' || *text > '9')
        return 0;
    columns = strtoul(text, &end, 10);
    return *end == '\0' ? columns : 0;
}

static bool
terminal_is_dumb(void)
{
    const char *term = getenv("TERM");

    return term != NULL && strcmp(term, "dumb") == 0;
}

bool
style_shows_progress(void)
{
    return isatty(STDERR_FILENO) && !terminal_is_dumb();
}

struct style
style_for(int fd, bool wide)
{
    size_t width = wide ? STYLE_NO_LIMIT : columns_asked();
    struct style s = {0};
    const char *no_colour = getenv("NO_COLOR");
    struct winsize ws = {0};

    if (isatty(fd)) {
        s.colour = (no_colour == NULL || *no_colour == '\0') && !terminal_is_dumb();
        if (width == 0)
            width = ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0 ? ws.ws_col : DEFAULT_WIDTH;
    }
    if (width == 0) // A pipe's reader can cut long lines, but cannot restore lines that were cut.
        width = STYLE_NO_LIMIT;
    s.width = width < WIDTH_MIN ? WIDTH_MIN : width;
    return s;
}

void
style_attr(const struct style *s, struct strbuf *b, enum attr attr)
{
    static const char *const codes[] = {
        [ATTR_PLAIN] = "\x1b[0m",    [ATTR_DIM] = "\x1b[2m",     [ATTR_BOLD] = "\x1b[1m",
        [ATTR_TITLE] = "\x1b[1;36m", [ATTR_NUMBER] = "\x1b[33m", [ATTR_WARNING] = "\x1b[1;33m",
    };

    if (s->colour)
        strbuf_str(b, codes[attr]);
}

void
style_text(const struct style *s, struct strbuf *b, enum attr attr, const char *text)
{
    if (attr != ATTR_PLAIN)
        style_attr(s, b, attr);
    strbuf_str(b, text);
    if (attr != ATTR_PLAIN)
        style_attr(s, b, ATTR_PLAIN);
}

const char *
style_bytes(struct arena *arena, int64_t bytes)
{
    return amount_text(arena, bytes, true);
}

const char *
style_bytes_short(struct arena *arena, int64_t bytes)
{
    const char *full = style_bytes(arena, bytes), *blank = strchr(full, ' ');

    // The unit of bytes is left out: "512", but "12.3M".
    return arena_printf(arena, "%.*s%.*s", (int)(blank - full), full, blank[1] == 'B' ? 0 : 1,
                        blank + 1);
}

const char *
style_bytes_beside(struct arena *arena, int64_t bytes, int64_t other)
{
    const char *text = style_bytes(arena, bytes);

    if (bytes == other || strcmp(text, style_bytes(arena, other)) != 0)
        return text;
    return arena_printf(arena, "%s bytes", style_count(arena, bytes));
}

const char *
style_count(struct arena *arena, int64_t count)
{
    return amount_count(arena, count);
}

const char *
style_percent(struct arena *arena, int64_t part, int64_t whole)
{
    return arena_printf(arena, "%.1f %%", whole > 0 ? 100.0 * (double)part / (double)whole : 0.0);
}

const char *
style_duration(struct arena *arena, uint64_t ns)
{
    double s = (double)ns / 1e9;
    uint64_t whole = ns / 1000000000;

    if (whole >= 3600)
        return arena_printf(arena, "%" PRIu64 " h %" PRIu64 " min", whole / 3600, whole / 60 % 60);
    if (whole >= 60)
        return arena_printf(arena, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
    if (whole >= 1)
        return arena_printf(arena, "%.2f s", s);
    return arena_printf(arena, "%.0f ms", s * 1e3);
}

const char *
style_plural(struct arena *arena, int64_t count, const char *noun)
{
    return amount_plural(arena, count, noun);
}

size_t
style_room(const struct style *s, size_t used)
{
    return s->width > used ? s->width - used : 0;
}

static bool
continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Return the length in bytes of the character at TEXT, or of a sequence that has an ASCII
 * replacement. Set *RET_COLUMNS to its width in the output. */
static size_t
character_at(const char *text, size_t *ret_columns)
{
    const char *fallback;
    size_t n = ascii_is_wanted() ? ascii_sign(text, &fallback) : 0;
    uint32_t c;

    if (n != 0) {
        *ret_columns = strlen(fallback);
        return n;
    }
    n = character_bytes(text, &c);
    *ret_columns = n != 0 ? character_columns(c) : 1;
    if (n != 0)
        return n;
    for (n = 1; continues(text[n]);)
        n++;
    return n;
}

size_t
style_width(const char *text)
{
    size_t width = 0, columns;

    for (; *text != '\0'; width += columns)
        text += character_at(text, &columns);
    return width;
}

const char *
style_clean(struct arena *arena, const char *text)
{
    return character_clean(arena, text);
}

/* Return TEXT after its first SKIP columns. If the last character skipped extends beyond them, it
 * is skipped only if it may BE_CUT. */
static const char *
skip_columns(const char *text, size_t skip, bool be_cut)
{
    while (*text != '\0' && skip > 0) {
        size_t columns, n = character_at(text, &columns);

        if (columns > skip && !be_cut)
            break;
        text += n;
        skip -= columns < skip ? columns : skip;
    }
    return text;
}

const char *
style_cut_end(struct arena *arena, const char *text, size_t width)
{
    size_t dots = style_width(ellipsis());

    if (style_width(text) <= width)
        return text;
    if (width < dots)
        return arena_strndup(arena, "..", width);
    return arena_printf(arena, "%.*s%s", (int)(skip_columns(text, width - dots, false) - text),
                        text, ellipsis());
}

const char *
style_cut_start(struct arena *arena, const char *text, size_t width)
{
    size_t n = style_width(text), dots = style_width(ellipsis());

    if (n <= width)
        return text;
    if (width < dots)
        return arena_strndup(arena, "..", width);
    return arena_printf(arena, "%s%s", ellipsis(), skip_columns(text, n - width + dots, true));
}

static void
blanks(struct strbuf *b, size_t have, size_t want)
{
    for (; have < want; have++)
        strbuf_char(b, ' ');
}

void
style_left(struct strbuf *b, const char *text, size_t width)
{
    strbuf_str(b, text);
    blanks(b, style_width(text), width);
}

void
style_right(struct strbuf *b, const char *text, size_t width)
{
    blanks(b, style_width(text), width);
    strbuf_str(b, text);
}
