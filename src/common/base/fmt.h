/* fmt.h: formats text into a caller's buffer, without stdio. The text always ends with NUL and is
 * truncated when the buffer is full. Async-signal-safe. */
#ifndef BASE_FMT_H
#define BASE_FMT_H

#include "base/base.h"

struct fmt {
    char *text;
    size_t capacity; // Size of the buffer with the NUL; at least 1.
    size_t length;
    bool cut;        // True if the text was truncated.
};

static inline struct fmt
fmt_init(char *text, size_t capacity)
{
    text[0] = '\0';
    return (struct fmt){text, capacity, 0, false};
}

static inline void
fmt_char(struct fmt *f, char c)
{
    if (f->length + 1 >= f->capacity) {
        f->cut = true;
        return;
    }
    f->text[f->length++] = c;
    f->text[f->length] = '\0';
}

static inline void
fmt_str(struct fmt *f, const char *s)
{
    while (*s)
        fmt_char(f, *s++);
}

static inline void
fmt_uint(struct fmt *f, uint64_t value)
{
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (n)
        fmt_char(f, digits[--n]);
}

/* Parse the decimal number at *S and advance *S past it. If there is no digit, return 0 and leave
 * *S unchanged. parse_hex does the same for lower-case hexadecimal numbers. Async-signal-safe. */
static inline uint64_t
parse_uint(const char **s)
{
    uint64_t value = 0;

    while (**s >= '0' && **s <= '9')
        value = value * 10 + (uint64_t)(*(*s)++ - '0');
    return value;
}

static inline uint64_t
parse_hex(const char **s)
{
    uint64_t value = 0;

    for (;; (*s)++) {
        char c = **s;

        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

#endif
