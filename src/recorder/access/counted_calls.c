/* counted_calls.c: replaces functions of libc that access the caller's memory.
 *
 * libc is not instrumented, so its accesses to blocks, as in strlen or read, would be missed. In
 * the library the functions here have libc's names; objcopy renames them, because the recorder
 * itself defines some of the names (bytes.c). They call libc's function and count one access for
 * each word of eight bytes that it touches. A function that stops at a match is counted up to the
 * match.
 *
 * counted_table.h lists all of them. This file has the fast path, and the functions that a row of
 * the table cannot describe. In the archive their names are weak, because a program may define
 * functions of these names, and would call its own without heaptap.
 *
 * Calls from libraries that are not instrumented lead here too. Calls inside libc do not, except in
 * static executables, where the linker redirects all calls (--wrap). There counting_enter prevents
 * calls inside these functions from counting twice. */
#include "access/counted_calls.h"

#include <string.h>

#include "access/counting.h"

#define real counted_libc

EXPORT void *
counted_memcpy(void *to, const void *from, size_t size_bytes)
{
    look();
    R(from, size_bytes);
    W(to, size_bytes);
    return likely(real.memcpy != NULL) ? real.memcpy(to, from, size_bytes)
                                       : memcpy(to, from, size_bytes);
}

EXPORT void *
counted_memmove(void *to, const void *from, size_t size_bytes)
{
    look();
    R(from, size_bytes);
    W(to, size_bytes);
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
    W(to, size_bytes);
    return likely(real.memset != NULL) ? real.memset(to, c, size_bytes) : memset(to, c, size_bytes);
}

/* Return the number of bytes that a comparison of A and B reads, including the first difference. It
 * also stops after a zero byte unless WHOLE_BYTES, and after MAX_BYTES. */
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
    R(a, size_bytes);
    R(b, size_bytes);
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
    R(s, at != NULL ? (size_t)((char *)at - (const char *)s) + 1 : size_bytes);
    return at;
}

EXPORT void *
counted_memrchr(const void *s, int c, size_t size_bytes)
{
    const char *at;

    look();
    at = real.memrchr(s, c, size_bytes);
    if (at == NULL)
        R(s, size_bytes);
    else
        R(at, (size_t)((const char *)s + size_bytes - at));
    return (void *)(uintptr_t)at;
}

EXPORT size_t
counted_strlen(const char *s)
{
    size_t n;

    look();
    n = likely(real.strlen != NULL) ? real.strlen(s) : strlen(s);
    R(s, n + 1);
    return n;
}

EXPORT size_t
counted_strnlen(const char *s, size_t max_bytes)
{
    size_t n;

    look();
    n = real.strnlen(s, max_bytes);
    R(s, n < max_bytes ? n + 1 : n);
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
    R(from, whole(from, size_bytes));
    W(to, size_bytes);
    return real.strncpy(to, from, size_bytes);
}

EXPORT char *
counted_strcat(char *to, const char *from)
{
    look();
    R(to, whole(to, SIZE_MAX));
    R(from, whole(from, SIZE_MAX));
    W(to + real.strlen(to), whole(from, SIZE_MAX));
    return real.strcat(to, from);
}

EXPORT char *
counted_strncat(char *to, const char *from, size_t max_bytes)
{
    look();
    R(to, whole(to, SIZE_MAX));
    R(from, whole(from, max_bytes));
    W(to + real.strlen(to), real.strnlen(from, max_bytes) + 1);
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

/* Return the number of bytes that a comparison of A and B without regard to case reads, including
 * the first difference or the terminating zero; at most MAX_BYTES. */
static size_t
compared_caseless(const char *a, const char *b, size_t max_bytes)
{
    size_t n = 0;

    while (n < max_bytes && real.strncasecmp(a + n, b + n, 1) == 0 && a[n] != '\0')
        n++;
    return n < max_bytes ? n + 1 : n;
}

EXPORT int
counted_strcasecmp(const char *a, const char *b)
{
    look();
    count_compared(a, b, compared_caseless(a, b, SIZE_MAX));
    return real.strcasecmp(a, b);
}

EXPORT int
counted_strncasecmp(const char *a, const char *b, size_t max_bytes)
{
    look();
    count_compared(a, b, compared_caseless(a, b, max_bytes));
    return real.strncasecmp(a, b, max_bytes);
}

EXPORT char *
counted_strchr(const char *s, int c)
{
    char *at;

    look();
    at = real.strchr(s, c);
    R(s, at != NULL ? (size_t)(at - s) + 1 : real.strlen(s) + 1);
    return at;
}

EXPORT char *
counted_strrchr(const char *s, int c)
{
    look();
    R(s, real.strlen(s) + 1);
    return real.strrchr(s, c);
}

EXPORT char *
counted_strstr(const char *s, const char *part)
{
    size_t n;
    char *at;
    bool was;

    look();
    was = counting_enter();
    at = real.strstr(s, part);
    counting_leave(was);
    n = real.strlen(part);
    R(part, n + 1);
    R(s, at != NULL ? (size_t)(at - s) + n : real.strlen(s) + 1);
    return at;
}

#define PASSES(name, kind, parameters, arguments)                                                  \
    EXPORT ssize_t counted_##name parameters                                                       \
    {                                                                                              \
        ssize_t n;                                                                                 \
                                                                                                   \
        look();                                                                                    \
        n = real.name arguments;                                                                   \
        passed(buffer, n, kind);                                                                   \
        return n;                                                                                  \
    }

#define IN(...)  (int fd, void *buffer, size_t size_bytes, ##__VA_ARGS__)
#define OUT(...) (int fd, const void *buffer, size_t size_bytes, ##__VA_ARGS__)
PASSES(read, SHADOW_WRITE, IN(), (fd, buffer, size_bytes))
PASSES(pread, SHADOW_WRITE, IN(off_t off), (fd, buffer, size_bytes, off))
PASSES(pread64, SHADOW_WRITE, IN(off_t off), (fd, buffer, size_bytes, off))
PASSES(recv, SHADOW_WRITE, IN(int flags), (fd, buffer, size_bytes, flags))
PASSES(write, SHADOW_READ, OUT(), (fd, buffer, size_bytes))
PASSES(pwrite, SHADOW_READ, OUT(off_t off), (fd, buffer, size_bytes, off))
PASSES(pwrite64, SHADOW_READ, OUT(off_t off), (fd, buffer, size_bytes, off))
PASSES(send, SHADOW_READ, OUT(int flags), (fd, buffer, size_bytes, flags))

/* Replace fread and fwrite. They may transfer a part of an element, but their result does not
 * include its bytes. So call libc's function with elements of one byte, and return the number of
 * whole elements. If the size in bytes overflows, pass the call on unchanged. */
#define ELEMENTS(name, parameters, bytes_arguments, arguments, count_bytes)                        \
    EXPORT size_t counted_##name parameters                                                        \
    {                                                                                              \
        size_t size_bytes, n;                                                                      \
        bool was, is_whole = each != 0 && !__builtin_mul_overflow(each, count, &size_bytes);       \
                                                                                                   \
        look();                                                                                    \
        was = counting_enter();                                                                    \
        n = is_whole ? real.name bytes_arguments : real.name arguments;                            \
        counting_leave(was);                                                                       \
        count_bytes(buffer, is_whole ? n : n * each);                                              \
        return is_whole ? n / each : n;                                                            \
    }
ELEMENTS(fread, (void *buffer, size_t each, size_t count, FILE *f), (buffer, 1, size_bytes, f),
         (buffer, each, count, f), W)
ELEMENTS(fread_unlocked, (void *buffer, size_t each, size_t count, FILE *f),
         (buffer, 1, size_bytes, f), (buffer, each, count, f), W)
ELEMENTS(__fread_chk, (void *buffer, size_t room, size_t each, size_t count, FILE *f),
         (buffer, room, 1, size_bytes, f), (buffer, room, each, count, f), W)
ELEMENTS(fwrite, (const void *buffer, size_t each, size_t count, FILE *f),
         (buffer, 1, size_bytes, f), (buffer, each, count, f), R)
ELEMENTS(fwrite_unlocked, (const void *buffer, size_t each, size_t count, FILE *f),
         (buffer, 1, size_bytes, f), (buffer, each, count, f), R)

EXPORT char *
counted_fgets(char *to, int size_bytes, FILE *f)
{
    char *line;
    bool was;

    look();
    was = counting_enter();
    line = real.fgets(to, size_bytes, f);
    counting_leave(was);
    if (line != NULL)
        W(line, real.strlen(line) + 1);
    return line;
}

/* Define the checking variants (__…_chk), which programs built with _FORTIFY_SOURCE call. */
EXPORT void *
counted___memcpy_chk(void *to, const void *from, size_t size_bytes, size_t object_bytes)
{
    look();
    R(from, size_bytes);
    W(to, size_bytes);
    return real.__memcpy_chk(to, from, size_bytes, object_bytes);
}

EXPORT void *
counted___memmove_chk(void *to, const void *from, size_t size_bytes, size_t object_bytes)
{
    look();
    R(from, size_bytes);
    W(to, size_bytes);
    return real.__memmove_chk(to, from, size_bytes, object_bytes);
}

EXPORT void *
counted___memset_chk(void *to, int c, size_t size_bytes, size_t object_bytes)
{
    look();
    W(to, size_bytes);
    return real.__memset_chk(to, c, size_bytes, object_bytes);
}

EXPORT char *
counted___strcpy_chk(char *to, const char *from, size_t object_bytes)
{
    size_t n;
    bool was;

    look();
    n = whole(from, SIZE_MAX);
    R(from, n);
    W(to, n);
    was = counting_enter();
    real.__strcpy_chk(to, from, object_bytes);
    counting_leave(was);
    return to;
}

EXPORT char *
counted___strcat_chk(char *to, const char *from, size_t object_bytes)
{
    bool was;

    look();
    was = counting_enter();
    real.__strcat_chk(to, from, object_bytes);
    counting_leave(was);
    joined(to, from, SIZE_MAX);
    return to;
}

#define FILLS(name, parameters, arguments, effect)                                                 \
    EXPORT void counted_##name parameters                                                          \
    {                                                                                              \
        bool was;                                                                                  \
                                                                                                   \
        look();                                                                                    \
        was = counting_enter();                                                                    \
        real.name arguments;                                                                       \
        counting_leave(was);                                                                       \
        effect;                                                                                    \
    }

FILLS(bzero, (void *to, size_t n), (to, n), W(to, n))
FILLS(explicit_bzero, (void *to, size_t n), (to, n), W(to, n))
FILLS(__explicit_bzero_chk, (void *to, size_t n, size_t object_bytes), (to, n, object_bytes),
      W(to, n))
FILLS(arc4random_buf, (void *to, size_t n), (to, n), W(to, n))

EXPORT void
counted_bcopy(const void *from, void *to, size_t size_bytes)
{
    counted_memmove(to, from, size_bytes);
}

/* Count a sort as one read and one write of the array, however often libc accesses it. The
 * comparison function belongs to the program and may call counted functions. */
static void
sorted(const void *v, size_t count, size_t each_bytes)
{
    R(v, count * each_bytes);
    W(v, count * each_bytes);
}

/* The program's comparison function, which libc calls through a function here. */
struct order {
    int (*plain)(const void *, const void *);
    int (*with_arg)(const void *, const void *, void *);
    void *arg;
};

static int
order_outside(const void *a, const void *b, void *order)
{
    const struct order *o = order;
    int r;

    counting_inside = false;
    r = o->plain != NULL ? o->plain(a, b) : o->with_arg(a, b, o->arg);
    counting_inside = true;
    return r;
}

/* Sort in a program where libc's own calls lead here. Do not count libc's copying. Count the
 * accesses of the comparison function. */
static void
sort_inside(void *v, size_t count, size_t each_bytes, struct order *order)
{
    bool was = counting_enter();

    real.qsort_r(v, count, each_bytes, order_outside, order);
    counting_leave(was);
}

EXPORT void
counted_qsort(void *v, size_t count, size_t each_bytes, int (*order)(const void *, const void *))
{
    look();
    if (counted_libc_comes_here && counting_is_on())
        sort_inside(v, count, each_bytes, &(struct order){.plain = order});
    else
        real.qsort(v, count, each_bytes, order);
    sorted(v, count, each_bytes);
}

EXPORT void
counted_qsort_r(void *v, size_t count, size_t each_bytes,
                int (*order)(const void *, const void *, void *), void *arg)
{
    look();
    if (counted_libc_comes_here && counting_is_on())
        sort_inside(v, count, each_bytes, &(struct order){.with_arg = order, .arg = arg});
    else
        real.qsort_r(v, count, each_bytes, order, arg);
    sorted(v, count, each_bytes);
}

/* Count the search for a token in S, or after the latest token if S is NULL. If CHANGES, the search
 * wrote a zero byte after the token. */
static char *
token(const char *s, const char *set, char *found, bool changes)
{
    const char *end = found != NULL ? found + length(found) : s != NULL ? s + length(s) : NULL;

    text(set);
    if (end != NULL)
        R(s != NULL ? s : found, up_to(s != NULL ? s : found, end));
    if (found != NULL && changes)
        W(end, 1);
    return found;
}

/* Count as if a single delimiter ended the token: only libc knows where the next search begins. */
EXPORT char *
counted_strtok(char *s, const char *set)
{
    bool was;
    char *found;

    look();
    was = counting_enter();
    found = real.strtok(s, set);
    counting_leave(was);
    return token(s, set, found, true);
}

#define TOKENS(name)                                                                               \
    EXPORT char *counted_##name(char *s, const char *set, char **next)                             \
    {                                                                                              \
        bool was;                                                                                  \
        char *found;                                                                               \
                                                                                                   \
        look();                                                                                    \
        was = counting_enter();                                                                    \
        found = real.name(s, set, next);                                                           \
        counting_leave(was);                                                                       \
        W(next, sizeof *next);                                                                     \
        return token(s, set, found, found != NULL && *next != found + length(found));              \
    }
TOKENS(strtok_r)
TOKENS(__strtok_r)

EXPORT char *
counted_strsep(char **at, const char *set)
{
    bool was;
    char *found;

    look();
    was = counting_enter();
    found = real.strsep(at, set);
    counting_leave(was);
    R(at, sizeof *at);
    if (found == NULL)
        return NULL;
    W(at, sizeof *at);
    return token(found, set, found, *at != NULL);
}
