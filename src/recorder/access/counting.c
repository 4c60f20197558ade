/* counting.c: counts the accesses of those libc functions for which an expression in
 * counted_table.h does not suffice.
 *
 * The kernel refuses a bad address with EFAULT, so this file must not fault on it either. It
 * dereferences a pointer only after the call, and only if the call has read there without an
 * error. */
#include "access/counting.h"

#include "platform/process.h"

__thread bool counting_inside;

void
path(bool done, const char *s)
{
    if (s == NULL)
        return;
    if (done || errno == ENOENT || errno == EEXIST || errno == EACCES || errno == ENOTDIR)
        text(s);
    else if (errno != EFAULT)
        R(s, 1);
}

void
slept(const struct timespec *time, const struct timespec *left, int result)
{
    bool interrupted = result != 0 && errno == EINTR;

    R(time, result == 0 || interrupted ? sizeof *time : 0);
    if (left != NULL)
        WROTE(interrupted, left);
}

void
environment(const char *name, const char *found)
{
    char **e = counting_is_on() ? process_environment() : NULL;

    for (; e != NULL && *e != NULL; e++) {
        R(e, sizeof *e);
        R(*e, 1);
        if (found != NULL && found == *e + length(name) + 1)
            return;
    }
}

void
copied_until(const void *to, const void *from, const void *end, size_t size_bytes)
{
    size_t n = end != NULL ? up_to(to, end) - 1 : size_bytes;

    R(from, n);
    W(to, n);
}

void
compared_texts(const char *a, const char *b)
{
    size_t n = 0;

    while (a[n] == b[n] && a[n] != '\0')
        n++;
    R(a, n + 1);
    R(b, n + 1);
}

void
compared_wide(const wchar_t *a, const wchar_t *b, size_t max, bool beyond_zero)
{
    size_t n = 0;

    while (n < max && a[n] == b[n] && (beyond_zero || a[n] != L'\0'))
        n++;
    n += n < max;
    R(a, WIDE(n));
    R(b, WIDE(n));
}

void
duplicated(const char *to, const char *s, size_t max_bytes)
{
    texts(s, max_bytes);
    if (to != NULL)
        W(to, counted_libc.strnlen(s, max_bytes) + 1);
}

void
joined(const char *to, const char *from, size_t max_bytes)
{
    size_t added = counted_libc.strnlen(from, max_bytes), before = length(to) - added;

    texts(from, max_bytes);
    R(to, before + 1);
    W(to + before, added + 1);
}

void
joined_wide(const wchar_t *to, const wchar_t *from, size_t max)
{
    size_t added = counted_libc.wcsnlen(from, max), before = wide_length(to) - added;

    wides(from, max);
    R(to, WIDE(before + 1));
    W(to + before, WIDE(added + 1));
}

static void
parts(const struct iovec *v, size_t n, size_t size_bytes, enum shadow_access kind)
{
    R(v, n * sizeof *v);
    for (size_t i = 0; i < n && size_bytes > 0; i++) {
        size_t part = v[i].iov_len < size_bytes ? v[i].iov_len : size_bytes;

        counting_add(v[i].iov_base, part, kind);
        size_bytes -= part;
    }
}

void
vector(const struct iovec *v, int n, ssize_t size_bytes, enum shadow_access kind)
{
    if (size_bytes >= 0)
        parts(v, (size_t)n, (size_t)size_bytes, kind);
}

void
message(const struct msghdr *m, ssize_t size_bytes, enum shadow_access kind)
{
    if (size_bytes < 0)
        return;
    R(m, sizeof *m);
    parts(m->msg_iov, m->msg_iovlen, (size_t)size_bytes, kind);
    if (m->msg_name != NULL)
        counting_add(m->msg_name, m->msg_namelen, kind);
    if (m->msg_control != NULL)
        counting_add(m->msg_control, m->msg_controllen, kind);
    if (kind == SHADOW_WRITE)
        W(&m->msg_controllen, sizeof m->msg_controllen + sizeof m->msg_flags);
}

void
address(const void *a, const socklen_t *size_bytes)
{
    R(size_bytes, sizeof *size_bytes);
    W(size_bytes, sizeof *size_bytes);
    W(a, *size_bytes);
}

void
polled(const struct pollfd *v, size_t n, int result)
{
    if (result < 0)
        return;
    R(v, n * sizeof *v);
    W(v, n * sizeof *v);
}

void
line(char *const *to, const size_t *room, ssize_t length)
{
    if (length < 0 || !counted_libc_has_lines())
        return;
    R(to, sizeof *to);
    R(room, sizeof *room);
    W(*to, (size_t)length + 1);
}
