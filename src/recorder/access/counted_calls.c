/* counted_calls.c: functions of libc that access the caller's memory.
 *
 * libc is not instrumented, so what strlen or read do to a block would not be seen. These have the
 * names of libc's in the library (objcopy gives them those, because the recorder has some of the
 * names for itself, bytes.c), count one access for each word of eight bytes that the function
 * touches, and go on to libc's. A function that stops when it has found something is counted as far
 * as that. Arguments of printf are not looked at, only what it writes.
 *
 * Calls from libraries that are not instrumented come here as well. What libc does inside does not,
 * but in a static executable, where the linker gives us all calls (--wrap): there what one of these
 * functions does inside is left out, which would count twice.
 */
#include "access/counted_calls.h"

#include <string.h>

#include "access/counted_libc.h"
#include "access/shadow.h"
#include "base/atomics.h"

#define real counted_libc // These functions go on to it.

// Calls that libc makes inside, where they come here.
static __thread bool inside;

/* Without counters a static executable may not even have its threads' variables yet. */
static inline bool
is_counted(void)
{
    return likely(shadow.granule_bytes != 0) && likely(!inside);
}

static inline void
count_read(const void *p, size_t size_bytes)
{
    if (is_counted())
        shadow_count(p, size_bytes, SHADOW_READ);
}

static inline void
count_written(const void *p, size_t size_bytes)
{
    if (is_counted())
        shadow_count(p, size_bytes, SHADOW_WRITE);
}

static inline void
look(void)
{
    if (unlikely(!load_acquire(&counted_libc_found)))
        counted_libc_find();
}

/* Around a call of a function of libc's that calls others of these. */
static inline bool
go_inside(void)
{
    bool was = false;

    if (shadow.granule_bytes != 0) {
        was = inside;
        inside = counted_libc_comes_here;
    }
    return was;
}

/* How long S is with its zero byte, and no longer than MAX_BYTES. */
static inline size_t
whole(const char *s, size_t max_bytes)
{
    size_t n = real.strnlen(s, max_bytes);

    return n < max_bytes ? n + 1 : n;
}

EXPORT void *
counted_memcpy(void *to, const void *from, size_t size_bytes)
{
    look();
    count_read(from, size_bytes);
    count_written(to, size_bytes);
    return likely(real.memcpy != NULL) ? real.memcpy(to, from, size_bytes)
                                       : memcpy(to, from, size_bytes);
}

EXPORT void *
counted_memmove(void *to, const void *from, size_t size_bytes)
{
    look();
    count_read(from, size_bytes);
    count_written(to, size_bytes);
    return likely(real.memmove != NULL) ? real.memmove(to, from, size_bytes)
                                        : memmove(to, from, size_bytes);
}

EXPORT void *
counted_mempcpy(void *to, const void *from, size_t size_bytes)
{
    return (char *)counted_memcpy(to, from, size_bytes) + size_bytes;
}

EXPORT void *
counted_memset(void *to, int c, size_t size_bytes)
{
    look();
    count_written(to, size_bytes);
    return likely(real.memset != NULL) ? real.memset(to, c, size_bytes) : memset(to, c, size_bytes);
}

/* How many bytes a comparison of A and B that is not equal looks at; ends with a zero byte unless
 * they are WHOLE. */
static inline size_t
compared(const unsigned char *a, const unsigned char *b, size_t max_bytes, bool whole_bytes)
{
    size_t n = 0;

    while (n < max_bytes && a[n] == b[n] && (whole_bytes || a[n] != 0))
        n++;
    return n < max_bytes ? n + 1 : n;
}

static inline void
count_compared(const void *a, const void *b, size_t size_bytes)
{
    count_read(a, size_bytes);
    count_read(b, size_bytes);
}

EXPORT int
counted_memcmp(const void *a, const void *b, size_t size_bytes)
{
    int order;

    look();
    order = likely(real.memcmp != NULL) ? real.memcmp(a, b, size_bytes) : memcmp(a, b, size_bytes);
    count_compared(a, b, order == 0 ? size_bytes : compared(a, b, size_bytes, true));
    return order;
}

EXPORT int
counted_bcmp(const void *a, const void *b, size_t size_bytes)
{
    return counted_memcmp(a, b, size_bytes);
}

EXPORT void *
counted_memchr(const void *s, int c, size_t size_bytes)
{
    void *at;

    look();
    at = real.memchr(s, c, size_bytes);
    count_read(s, at != NULL ? (size_t)((char *)at - (const char *)s) + 1 : size_bytes);
    return at;
}

EXPORT void *
counted_memrchr(const void *s, int c, size_t size_bytes)
{
    const char *at;

    look();
    at = real.memrchr(s, c, size_bytes);
    if (at == NULL)
        count_read(s, size_bytes);
    else
        count_read(at, (size_t)((const char *)s + size_bytes - at));
    return (void *)(uintptr_t)at;
}

EXPORT size_t
counted_strlen(const char *s)
{
    size_t n;

    look();
    n = likely(real.strlen != NULL) ? real.strlen(s) : strlen(s);
    count_read(s, n + 1);
    return n;
}

EXPORT size_t
counted_strnlen(const char *s, size_t max_bytes)
{
    size_t n;

    look();
    n = real.strnlen(s, max_bytes);
    count_read(s, n < max_bytes ? n + 1 : n);
    return n;
}

EXPORT char *
counted_strcpy(char *to, const char *from)
{
    look();
    return counted_memcpy(to, from, whole(from, SIZE_MAX));
}

EXPORT char *
counted_stpcpy(char *to, const char *from)
{
    size_t n;

    look();
    n = whole(from, SIZE_MAX);
    counted_memcpy(to, from, n);
    return to + n - 1;
}

EXPORT char *
counted_strncpy(char *to, const char *from, size_t size_bytes)
{
    look();
    count_read(from, whole(from, size_bytes));
    count_written(to, size_bytes);
    return real.strncpy(to, from, size_bytes);
}

EXPORT char *
counted_strcat(char *to, const char *from)
{
    look();
    count_read(to, whole(to, SIZE_MAX));
    count_read(from, whole(from, SIZE_MAX));
    count_written(to + real.strlen(to), whole(from, SIZE_MAX));
    return real.strcat(to, from);
}

EXPORT char *
counted_strncat(char *to, const char *from, size_t max_bytes)
{
    look();
    count_read(to, whole(to, SIZE_MAX));
    count_read(from, whole(from, max_bytes));
    count_written(to + real.strlen(to), real.strnlen(from, max_bytes) + 1);
    return real.strncat(to, from, max_bytes);
}

EXPORT int
counted_strcmp(const char *a, const char *b)
{
    look();
    count_compared(a, b, compared((const void *)a, (const void *)b, SIZE_MAX, false));
    return real.strcmp(a, b);
}

EXPORT int
counted_strncmp(const char *a, const char *b, size_t max_bytes)
{
    look();
    count_compared(a, b, compared((const void *)a, (const void *)b, max_bytes, false));
    return real.strncmp(a, b, max_bytes);
}

/* Without regard to case: up to the end of the shorter one, which is seldom more than is read. */
EXPORT int
counted_strcasecmp(const char *a, const char *b)
{
    int order;

    look();
    order = real.strcasecmp(a, b);
    if (order == 0)
        count_compared(a, b, whole(a, SIZE_MAX));
    else
        count_compared(a, b, 1);
    return order;
}

EXPORT int
counted_strncasecmp(const char *a, const char *b, size_t max_bytes)
{
    int order;

    look();
    order = real.strncasecmp(a, b, max_bytes);
    if (order == 0)
        count_compared(a, b, whole(a, max_bytes));
    else
        count_compared(a, b, 1);
    return order;
}

EXPORT char *
counted_strchr(const char *s, int c)
{
    char *at;

    look();
    at = real.strchr(s, c);
    count_read(s, at != NULL ? (size_t)(at - s) + 1 : real.strlen(s) + 1);
    return at;
}

EXPORT char *
counted_strrchr(const char *s, int c)
{
    look();
    count_read(s, real.strlen(s) + 1);
    return real.strrchr(s, c);
}

EXPORT char *
counted_strstr(const char *s, const char *part)
{
    size_t n;
    char *at;
    bool was;

    look();
    was = go_inside();
    at = real.strstr(s, part);
    inside = was;
    n = real.strlen(part);
    count_read(part, n + 1);
    count_read(s, at != NULL ? (size_t)(at - s) + n : real.strlen(s) + 1);
    return at;
}

#define PASSES(name, count, parameters, arguments)                                                 \
    EXPORT ssize_t counted_##name parameters                                                       \
    {                                                                                              \
        ssize_t n;                                                                                 \
                                                                                                   \
        look();                                                                                    \
        n = real.name arguments;                                                                   \
        if (n > 0)                                                                                 \
            count(buffer, (size_t)n);                                                              \
        return n;                                                                                  \
    }

#define IN(...)  (int fd, void *buffer, size_t size_bytes, ##__VA_ARGS__)
#define OUT(...) (int fd, const void *buffer, size_t size_bytes, ##__VA_ARGS__)
PASSES(read, count_written, IN(), (fd, buffer, size_bytes))
PASSES(pread, count_written, IN(off_t off), (fd, buffer, size_bytes, off))
PASSES(pread64, count_written, IN(off_t off), (fd, buffer, size_bytes, off))
PASSES(recv, count_written, IN(int flags), (fd, buffer, size_bytes, flags))
PASSES(write, count_read, OUT(), (fd, buffer, size_bytes))
PASSES(pwrite, count_read, OUT(off_t off), (fd, buffer, size_bytes, off))
PASSES(pwrite64, count_read, OUT(off_t off), (fd, buffer, size_bytes, off))
PASSES(send, count_read, OUT(int flags), (fd, buffer, size_bytes, flags))

EXPORT size_t
counted_fread(void *to, size_t each_bytes, size_t count, FILE *f)
{
    size_t n;
    bool was;

    look();
    was = go_inside();
    n = real.fread(to, each_bytes, count, f);
    inside = was;
    count_written(to, n * each_bytes);
    return n;
}

EXPORT size_t
counted_fwrite(const void *from, size_t each_bytes, size_t count, FILE *f)
{
    size_t n;
    bool was;

    look();
    was = go_inside();
    n = real.fwrite(from, each_bytes, count, f);
    inside = was;
    count_read(from, n * each_bytes);
    return n;
}

EXPORT char *
counted_fgets(char *to, int size_bytes, FILE *f)
{
    char *line;
    bool was;

    look();
    was = go_inside();
    line = real.fgets(to, size_bytes, f);
    inside = was;
    if (line != NULL)
        count_written(line, real.strlen(line) + 1);
    return line;
}

/* What printf has written to TO, where it found room for SIZE_BYTES. */
static inline int
printed(const char *to, size_t size_bytes, int length)
{
    if (length >= 0 && size_bytes > 0)
        count_written(to, (size_t)length < size_bytes ? (size_t)length + 1 : size_bytes);
    return length;
}

EXPORT int
counted_vsnprintf(char *to, size_t size_bytes, const char *format, va_list arguments)
{
    bool was;
    int length;

    look();
    was = go_inside();
    length = real.vsnprintf(to, size_bytes, format, arguments);
    inside = was;
    return printed(to, size_bytes, length);
}

EXPORT int
counted_vsprintf(char *to, const char *format, va_list arguments)
{
    bool was;
    int length;

    look();
    was = go_inside();
    length = real.vsprintf(to, format, arguments);
    inside = was;
    return printed(to, SIZE_MAX, length);
}

EXPORT int
counted_snprintf(char *to, size_t size_bytes, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = counted_vsnprintf(to, size_bytes, format, arguments);
    va_end(arguments);
    return length;
}

EXPORT int
counted_sprintf(char *to, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = counted_vsprintf(to, format, arguments);
    va_end(arguments);
    return length;
}

/* The forms of programs that are built with _FORTIFY_SOURCE. */
EXPORT void *
counted___memcpy_chk(void *to, const void *from, size_t size_bytes, size_t there_bytes)
{
    look();
    count_read(from, size_bytes);
    count_written(to, size_bytes);
    return real.__memcpy_chk(to, from, size_bytes, there_bytes);
}

EXPORT void *
counted___memmove_chk(void *to, const void *from, size_t size_bytes, size_t there_bytes)
{
    look();
    count_read(from, size_bytes);
    count_written(to, size_bytes);
    return real.__memmove_chk(to, from, size_bytes, there_bytes);
}

EXPORT void *
counted___memset_chk(void *to, int c, size_t size_bytes, size_t there_bytes)
{
    look();
    count_written(to, size_bytes);
    return real.__memset_chk(to, c, size_bytes, there_bytes);
}

EXPORT char *
counted___strcpy_chk(char *to, const char *from, size_t there_bytes)
{
    size_t n;

    look();
    n = whole(from, SIZE_MAX);
    count_read(from, n);
    count_written(to, n);
    return real.__strcpy_chk(to, from, there_bytes);
}

EXPORT char *
counted___strcat_chk(char *to, const char *from, size_t there_bytes)
{
    look();
    count_read(to, whole(to, SIZE_MAX));
    count_read(from, whole(from, SIZE_MAX));
    count_written(to + real.strlen(to), whole(from, SIZE_MAX));
    return real.__strcat_chk(to, from, there_bytes);
}

EXPORT int
counted___vsnprintf_chk(char *to, size_t size_bytes, int flag, size_t there_bytes,
                        const char *format, va_list arguments)
{
    bool was;
    int length;

    look();
    was = go_inside();
    length = real.__vsnprintf_chk(to, size_bytes, flag, there_bytes, format, arguments);
    inside = was;
    return printed(to, size_bytes, length);
}

EXPORT int
counted___snprintf_chk(char *to, size_t size_bytes, int flag, size_t there_bytes,
                       const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = counted___vsnprintf_chk(to, size_bytes, flag, there_bytes, format, arguments);
    va_end(arguments);
    return length;
}
