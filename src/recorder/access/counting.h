/* counting.h: macros and functions for the rows of counted_table.h. They preserve errno and are
 * async-signal-safe. */
#ifndef ACCESS_COUNTING_H
#define ACCESS_COUNTING_H

#include <errno.h>

#include "access/counted_libc.h"
#include "access/shadow.h"
#include "base/atomics.h"

/* True while this thread is inside a function of libc, in programs where libc's own calls reach
 * this library (static programs). */
extern __thread bool counting_inside __attribute__((visibility("hidden")));

/* Return true if accesses are counted. Without counters, a static executable may not have its
 * thread-local variables yet. */
static inline bool
counting_is_on(void)
{
    return likely(shadow.granule_bytes != 0) && likely(!counting_inside);
}

static inline void
counting_add(const void *p, size_t size_bytes, enum shadow_access kind)
{
    if (counting_is_on())
        shadow_count(p, size_bytes, kind);
}

/* Count a read or a write of SIZE_BYTES at P. */
#define R(p, size_bytes) counting_add(p, size_bytes, SHADOW_READ)
#define W(p, size_bytes) counting_add(p, size_bytes, SHADOW_WRITE)

/* Count a write of the object *TO if DONE is true. */
#define WROTE(done, to)  counting_add(to, (done) ? sizeof *(to) : 0, SHADOW_WRITE)

#define WIDE(count)      ((size_t)(count) * sizeof(wchar_t))

/* Resolve the real functions before the first call. */
static inline void
look(void)
{
    if (unlikely(!load_acquire(&counted_libc_found)))
        counted_libc_find();
}

/* Enter a function of libc that calls other counted functions. Return the argument for
 * counting_leave. */
static inline bool
counting_enter(void)
{
    bool was = false;

    if (shadow.granule_bytes != 0) {
        was = counting_inside;
        counting_inside = counted_libc_comes_here;
    }
    return was;
}

static inline void
counting_leave(bool was)
{
    if (shadow.granule_bytes != 0)
        counting_inside = was;
}

static inline size_t
length(const char *s)
{
    return counted_libc.strlen(s);
}

static inline size_t
wide_length(const wchar_t *s)
{
    return counted_libc.wcslen(s);
}

/* Return the number of bytes in [S, END]. */
static inline size_t
up_to(const void *s, const void *end)
{
    return (size_t)((uintptr_t)end - (uintptr_t)s) + 1;
}

/* Return the length of S including its zero byte, at most MAX_BYTES. */
static inline size_t
whole(const char *s, size_t max_bytes)
{
    size_t n = counted_libc.strnlen(s, max_bytes);

    return n < max_bytes ? n + 1 : n;
}

/* Count a read of all of S, or of at most MAX_BYTES. */
static inline void
text(const char *s)
{
    R(s, length(s) + 1);
}

static inline void
texts(const char *s, size_t max_bytes)
{
    R(s, whole(s, max_bytes));
}

static inline void
wide(const wchar_t *s)
{
    R(s, WIDE(wide_length(s) + 1));
}

static inline void
wides(const wchar_t *s, size_t max)
{
    size_t n = counted_libc.wcsnlen(s, max);

    R(s, WIDE(n < max ? n + 1 : n));
}

/* Count a transfer of N bytes at P; a negative N is an error. */
static inline void
passed(const void *p, ssize_t n, enum shadow_access kind)
{
    if (n > 0)
        counting_add(p, (size_t)n, kind);
}

/* Count the write of a string of LENGTH to TO, which has SIZE_BYTES. */
static inline void
printed(const char *to, size_t size_bytes, ssize_t length)
{
    if (length >= 0 && size_bytes > 0)
        W(to, (size_t)length < size_bytes ? (size_t)length + 1 : size_bytes);
}

/* Count the read of the path or mode S if the call is DONE or has failed after reading it.
 * Otherwise count a read of one byte at S without dereferencing S. */
void path(bool done, const char *s);

/* Count the read of the SIZE_BYTES at P, an argument of a system call. Count nothing if RESULT and
 * errno show that the call failed before the kernel read them. */
static inline void
submitted(int result, const void *p, size_t size_bytes)
{
    if (result == 0 ||
        (errno != EFAULT && errno != EBADF && errno != ENOTSOCK && errno != EINVAL))
        R(p, p != NULL ? size_bytes : 0);
}

/* Size in bytes of a signal set that the kernel reads. */
enum { KERNEL_SIGSET_BYTES = 8 };

/* Count a read of the SIZE_BYTES at P, which may be NULL. */
static inline void
given(const void *p, size_t size_bytes)
{
    R(p, p != NULL ? size_bytes : 0);
}

/* Count a read of TIME, and a write of LEFT if a signal ended the sleep. RESULT is the result of
 * nanosleep. */
void slept(const struct timespec *time, const struct timespec *left, int result);

/* Count a search of the environment for NAME that returned FOUND. If NAME is NULL, count a search
 * of the whole environment. Count a read of the first byte of each string. */
void environment(const char *name, const char *found);

/* Count memccpy; END is one past the byte that it found. */
void copied_until(const void *to, const void *from, const void *end, size_t size_bytes);

void compared_texts(const char *a, const char *b);
void compared_wide(const wchar_t *a, const wchar_t *b, size_t max, bool beyond_zero);

/* Count a copy of S, or of at most MAX_BYTES, to TO. If TO is NULL, count nothing. */
void duplicated(const char *to, const char *s, size_t max_bytes);

/* Count the appending of FROM, or of at most MAX characters, to TO. */
void joined(const char *to, const char *from, size_t max_bytes);
void joined_wide(const wchar_t *to, const wchar_t *from, size_t max);

/* Count a transfer of SIZE_BYTES to or from the N buffers of V, or the buffers of M. A negative
 * size is an error and counts nothing. */
void vector(const struct iovec *v, int n, ssize_t size_bytes, enum shadow_access kind);
void message(const struct msghdr *m, ssize_t size_bytes, enum shadow_access kind);

/* Count the kernel's write of the socket address at A. *SIZE_BYTES may exceed the size of the
 * buffer at A. */
void address(const void *a, const socklen_t *size_bytes);

/* Count a read of N descriptors and a write of their states. RESULT is the result of poll. */
void polled(const struct pollfd *v, size_t n, int result);

/* Count the reading of a line of LENGTH into the buffer *TO of *ROOM bytes. */
void line(char *const *to, const size_t *room, ssize_t length);

#endif
