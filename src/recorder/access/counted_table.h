/* counted_table.h: the functions of libc whose accesses to the caller's memory are counted.
 *
 * X(result, name, parameters, arguments, effects): the wrapper calls the real function, whose
 * result is R, and then counts the effects, written with the macros and functions of counting.h.
 * counted_rows.c defines a function for each row. Functions that need more than a row are in
 * separate lists, and functions whose effects are counted before the call are in counted_objects.h.
 *
 * Effects are counted after the call, because they depend on its result. A path that the kernel
 * refuses may not be a string, so path() checks errno first.
 */
#ifndef ACCESS_COUNTED_TABLE_H
#define ACCESS_COUNTED_TABLE_H

#include <features.h>

// clang-format off

/* Bytes. */
#define COUNTED_MEMORY(X) \
    X(void *, memccpy, (void *to, const void *from, int c, size_t n), (to, from, c, n), \
      copied_until(to, from, r, n)) \
    X(void *, rawmemchr, (const void *s, int c), (s, c), R(s, up_to(s, r))) \
    X(void *, memmem, (const void *s, size_t n, const void *part, size_t m), (s, n, part, m), \
      R(part, m), R(s, r != NULL ? up_to(s, r) - 1 + m : n)) \
    X(void *, __mempcpy_chk, (void *to, const void *from, size_t n, size_t room), \
      (to, from, n, room), R(from, n), W(to, n))

/* Strings. */
#define COUNTED_TEXT(X) \
    X(char *, strchrnul, (const char *s, int c), (s, c), R(s, up_to(s, r))) \
    X(size_t, strspn, (const char *s, const char *set), (s, set), R(s, r + 1), text(set)) \
    X(size_t, strcspn, (const char *s, const char *set), (s, set), R(s, r + 1), text(set)) \
    X(char *, strpbrk, (const char *s, const char *set), (s, set), \
      R(s, r != NULL ? up_to(s, r) : length(s) + 1), text(set)) \
    X(char *, strcasestr, (const char *s, const char *part), (s, part), \
      text(part), R(s, r != NULL ? up_to(s, r) - 1 + length(part) : length(s) + 1)) \
    X(int, strcoll, (const char *a, const char *b), (a, b), text(a), text(b)) \
    X(size_t, strxfrm, (char *to, const char *from, size_t n), (to, from, n), \
      text(from), printed(to, n, (ssize_t)r)) \
    X(int, strverscmp, (const char *a, const char *b), (a, b), compared_texts(a, b)) \
    X(char *, strdup, (const char *s), (s), duplicated(r, s, SIZE_MAX)) \
    X(char *, strndup, (const char *s, size_t n), (s, n), duplicated(r, s, n)) \
    X(char *, stpncpy, (char *to, const char *from, size_t n), (to, from, n), \
      texts(from, n), W(to, n)) \
    X(char *, __stpcpy_chk, (char *to, const char *from, size_t room), (to, from, room), \
      text(from), W(to, length(from) + 1)) \
    X(char *, __strncpy_chk, (char *to, const char *from, size_t n, size_t room), \
      (to, from, n, room), texts(from, n), W(to, n)) \
    X(char *, __stpncpy_chk, (char *to, const char *from, size_t n, size_t room), \
      (to, from, n, room), texts(from, n), W(to, n)) \
    X(char *, __strncat_chk, (char *to, const char *from, size_t n, size_t room), \
      (to, from, n, room), joined(to, from, n)) \
    X(char *, getenv, (const char *name), (name), text(name), environment(name, r)) \
    X(char *, secure_getenv, (const char *name), (name), text(name), environment(name, r)) \
    X(char *, setlocale, (int category, const char *name), (category, name), \
      (void)r; if (name != NULL) text(name)) \
    X(int, setenv, (const char *name, const char *value, int replace), (name, value, replace), \
      environment(name, NULL); if (r == 0) { text(name); text(value); }) \
    X(int, unsetenv, (const char *name), (name), environment(name, NULL); if (r == 0) text(name)) \
    X(char *, strerror_r, (int error, char *to, size_t n), (error, to, n), \
      if (r == to) W(to, length(to) + 1)) \
    X(int, __xpg_strerror_r, (int error, char *to, size_t n), (error, to, n), \
      if (r == 0) W(to, length(to) + 1))

/* Wide characters. */
#define COUNTED_WIDE(X) \
    X(size_t, wcslen, (const wchar_t *s), (s), R(s, WIDE(r + 1))) \
    X(size_t, wcsnlen, (const wchar_t *s, size_t n), (s, n), R(s, WIDE(r < n ? r + 1 : n))) \
    X(wchar_t *, wcscpy, (wchar_t *to, const wchar_t *from), (to, from), \
      wide(from), W(to, WIDE(wide_length(from) + 1))) \
    X(wchar_t *, wcpcpy, (wchar_t *to, const wchar_t *from), (to, from), \
      wide(from), W(to, WIDE(wide_length(from) + 1))) \
    X(wchar_t *, wcsncpy, (wchar_t *to, const wchar_t *from, size_t n), (to, from, n), \
      wides(from, n), W(to, WIDE(n))) \
    X(wchar_t *, wcscat, (wchar_t *to, const wchar_t *from), (to, from), \
      joined_wide(to, from, SIZE_MAX)) \
    X(wchar_t *, wcsncat, (wchar_t *to, const wchar_t *from, size_t n), (to, from, n), \
      joined_wide(to, from, n)) \
    X(int, wcscmp, (const wchar_t *a, const wchar_t *b), (a, b), \
      compared_wide(a, b, SIZE_MAX, false)) \
    X(int, wcsncmp, (const wchar_t *a, const wchar_t *b, size_t n), (a, b, n), \
      compared_wide(a, b, n, false)) \
    X(int, wmemcmp, (const wchar_t *a, const wchar_t *b, size_t n), (a, b, n), \
      compared_wide(a, b, n, true)) \
    X(wchar_t *, wcschr, (const wchar_t *s, wchar_t c), (s, c), \
      R(s, WIDE(r != NULL ? (size_t)(r - s) + 1 : wide_length(s) + 1))) \
    X(wchar_t *, wcsrchr, (const wchar_t *s, wchar_t c), (s, c), wide(s)) \
    X(size_t, wcsspn, (const wchar_t *s, const wchar_t *set), (s, set), \
      R(s, WIDE(r + 1)), wide(set)) \
    X(size_t, wcscspn, (const wchar_t *s, const wchar_t *set), (s, set), \
      R(s, WIDE(r + 1)), wide(set)) \
    X(wchar_t *, wcsstr, (const wchar_t *s, const wchar_t *part), (s, part), \
      wide(part), R(s, WIDE(r != NULL ? (size_t)(r - s) + wide_length(part) : wide_length(s) + \
        1))) \
    X(wchar_t *, wcsdup, (const wchar_t *s), (s), \
      wide(s), W(r, r != NULL ? WIDE(wide_length(s) + 1) : 0)) \
    X(wchar_t *, wmemcpy, (wchar_t *to, const wchar_t *from, size_t n), (to, from, n), \
      R(from, WIDE(n)), W(to, WIDE(n))) \
    X(wchar_t *, wmempcpy, (wchar_t *to, const wchar_t *from, size_t n), (to, from, n), \
      R(from, WIDE(n)), W(to, WIDE(n))) \
    X(wchar_t *, wmemmove, (wchar_t *to, const wchar_t *from, size_t n), (to, from, n), \
      R(from, WIDE(n)), W(to, WIDE(n))) \
    X(wchar_t *, wmemset, (wchar_t *to, wchar_t c, size_t n), (to, c, n), W(to, WIDE(n))) \
    X(wchar_t *, wmemchr, (const wchar_t *s, wchar_t c, size_t n), (s, c, n), \
      R(s, WIDE(r != NULL ? (size_t)(r - s) + 1 : n))) \
    X(wchar_t *, __wmemcpy_chk, (wchar_t *to, const wchar_t *from, size_t n, size_t room), \
      (to, from, n, room), R(from, WIDE(n)), W(to, WIDE(n))) \
    X(wchar_t *, __wmemset_chk, (wchar_t *to, wchar_t c, size_t n, size_t room), \
      (to, c, n, room), W(to, WIDE(n))) \
    X(wchar_t *, __wcscpy_chk, (wchar_t *to, const wchar_t *from, size_t room), (to, from, room), \
      wide(from), W(to, WIDE(wide_length(from) + 1))) \
    X(size_t, mbstowcs, (wchar_t *to, const char *from, size_t n), (to, from, n), \
      if (r != SIZE_MAX) { text(from); W(to, to != NULL ? WIDE(r < n ? r + 1 : n) : 0); }) \
    X(size_t, wcstombs, (char *to, const wchar_t *from, size_t n), (to, from, n), \
      if (r != SIZE_MAX) { wide(from); W(to, to != NULL ? (r < n ? r + 1 : n) : 0); })

/* Functions with paths, and with file status. */
#define COUNTED_FILES(X) \
    X(int, access, (const char *file, int mode), (file, mode), path(r == 0, file)) \
    X(int, faccessat, (int at, const char *file, int mode, int flags), (at, file, mode, flags), \
      path(r == 0, file)) \
    X(int, open, (const char *file, int flags, mode_t mode), (file, flags, mode), \
      path(r >= 0, file)) \
    X(int, open64, (const char *file, int flags, mode_t mode), (file, flags, mode), \
      path(r >= 0, file)) \
    X(int, openat, (int at, const char *file, int flags, mode_t mode), (at, file, flags, mode), \
      path(r >= 0, file)) \
    X(int, openat64, (int at, const char *file, int flags, mode_t mode), (at, file, flags, mode), \
      path(r >= 0, file)) \
    X(int, __open_2, (const char *file, int flags), (file, flags), path(r >= 0, file)) \
    X(int, __open64_2, (const char *file, int flags), (file, flags), path(r >= 0, file)) \
    X(int, __openat_2, (int at, const char *file, int flags), (at, file, flags), \
      path(r >= 0, file)) \
    X(int, __openat64_2, (int at, const char *file, int flags), (at, file, flags), \
      path(r >= 0, file)) \
    X(int, creat, (const char *file, mode_t mode), (file, mode), path(r >= 0, file)) \
    X(FILE *, fopen, (const char *file, const char *mode), (file, mode), \
      path(r != NULL, file), path(r != NULL, mode)) \
    X(FILE *, fopen64, (const char *file, const char *mode), (file, mode), \
      path(r != NULL, file), path(r != NULL, mode)) \
    X(FILE *, fdopen, (int fd, const char *mode), (fd, mode), if (r != NULL) text(mode)) \
    X(FILE *, popen, (const char *line, const char *mode), (line, mode), \
      if (r != NULL) { text(line); text(mode); }) \
    X(int, system, (const char *line), (line), if (line != NULL && r != -1) text(line)) \
    X(int, remove, (const char *file), (file), path(r == 0, file)) \
    X(int, unlink, (const char *file), (file), path(r == 0, file)) \
    X(int, unlinkat, (int at, const char *file, int flags), (at, file, flags), path(r == 0, file)) \
    X(int, rmdir, (const char *file), (file), path(r == 0, file)) \
    X(int, mkdir, (const char *file, mode_t mode), (file, mode), path(r == 0, file)) \
    X(int, mkdirat, (int at, const char *file, mode_t mode), (at, file, mode), path(r == 0, file)) \
    X(int, chdir, (const char *file), (file), path(r == 0, file)) \
    X(int, chmod, (const char *file, mode_t mode), (file, mode), path(r == 0, file)) \
    X(int, chown, (const char *file, uid_t user, gid_t group), (file, user, group), \
      path(r == 0, file)) \
    X(int, truncate, (const char *file, off_t size), (file, size), path(r == 0, file)) \
    X(int, rename, (const char *from, const char *to), (from, to); path(r == 0, from), \
      path(r == 0, to)) \
    X(int, link, (const char *from, const char *to), (from, to); path(r == 0, from), \
      path(r == 0, to)) \
    X(int, symlink, (const char *from, const char *to), (from, to); path(r == 0, from), \
      path(r == 0, to)) \
    X(int, mkstemp, (char *file), (file), \
      if (r >= 0) { text(file); W(file + length(file) - 6, 6); }) \
    X(char *, mkdtemp, (char *file), (file), \
      if (r != NULL) { text(file); W(file + length(file) - 6, 6); }) \
    X(DIR *, opendir, (const char *file), (file), path(r != NULL, file)) \
    X(int, stat, (const char *file, struct stat *to), (file, to), \
      path(r == 0, file), WROTE(r == 0, to)) \
    X(int, lstat, (const char *file, struct stat *to), (file, to), \
      path(r == 0, file), WROTE(r == 0, to)) \
    X(int, fstat, (int fd, struct stat *to), (fd, to), WROTE(r == 0, to)) \
    X(int, fstatat, (int at, const char *file, struct stat *to, int flags), \
      (at, file, to, flags), path(r == 0, file), WROTE(r == 0, to)) \
    X(int, stat64, (const char *file, struct stat64 *to), (file, to), \
      path(r == 0, file), WROTE(r == 0, to)) \
    X(int, lstat64, (const char *file, struct stat64 *to), (file, to), \
      path(r == 0, file), WROTE(r == 0, to)) \
    X(int, fstat64, (int fd, struct stat64 *to), (fd, to), WROTE(r == 0, to)) \
    X(int, fstatat64, (int at, const char *file, struct stat64 *to, int flags), \
      (at, file, to, flags), path(r == 0, file), WROTE(r == 0, to)) \
    X(int, statx, (int at, const char *file, int flags, unsigned mask, struct statx *to), \
      (at, file, flags, mask, to), path(r == 0, file), WROTE(r == 0, to)) \
    X(int, statfs, (const char *file, struct statfs *to), (file, to), \
      path(r == 0, file), WROTE(r == 0, to)) \
    X(int, fstatfs, (int fd, struct statfs *to), (fd, to), WROTE(r == 0, to)) \
    X(int, statvfs, (const char *file, struct statvfs *to), (file, to), \
      path(r == 0, file), WROTE(r == 0, to)) \
    X(int, fstatvfs, (int fd, struct statvfs *to), (fd, to), WROTE(r == 0, to)) \
    X(char *, getcwd, (char *to, size_t n), (to, n), if (r != NULL) W(r, length(r) + 1)) \
    X(char *, __getcwd_chk, (char *to, size_t n, size_t room), (to, n, room), \
      if (r != NULL) W(r, length(r) + 1)) \
    X(ssize_t, readlink, (const char *file, char *to, size_t n), (file, to, n), \
      path(r >= 0, file), passed(to, r, SHADOW_WRITE)) \
    X(ssize_t, readlinkat, (int at, const char *file, char *to, size_t n), (at, file, to, n), \
      path(r >= 0, file), passed(to, r, SHADOW_WRITE)) \
    X(ssize_t, __readlink_chk, (const char *file, char *to, size_t n, size_t room), \
      (file, to, n, room), path(r >= 0, file), passed(to, r, SHADOW_WRITE)) \
    X(ssize_t, __readlinkat_chk, (int at, const char *file, char *to, size_t n, size_t room), \
      (at, file, to, n, room), path(r >= 0, file), passed(to, r, SHADOW_WRITE)) \
    X(char *, realpath, (const char *file, char *to), (file, to), \
      path(r != NULL, file); if (r != NULL) W(r, length(r) + 1)) \
    X(char *, __realpath_chk, (const char *file, char *to, size_t room), (file, to, room), \
      path(r != NULL, file); if (r != NULL) W(r, length(r) + 1))

/* Functions that transfer data through descriptors. */
#define COUNTED_TRANSFERS(X) \
    X(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n), \
      vector(v, n, r, SHADOW_WRITE)) \
    X(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), \
      vector(v, n, r, SHADOW_READ)) \
    X(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off), \
      vector(v, n, r, SHADOW_WRITE)) \
    X(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off), \
      vector(v, n, r, SHADOW_READ)) \
    X(ssize_t, preadv64, (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off), \
      vector(v, n, r, SHADOW_WRITE)) \
    X(ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off), \
      vector(v, n, r, SHADOW_READ)) \
    X(ssize_t, preadv2, (int fd, const struct iovec *v, int n, off_t off, int flags), \
      (fd, v, n, off, flags), vector(v, n, r, SHADOW_WRITE)) \
    X(ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t off, int flags), \
      (fd, v, n, off, flags), vector(v, n, r, SHADOW_READ)) \
    X(ssize_t, preadv64v2, (int fd, const struct iovec *v, int n, off_t off, int flags), \
      (fd, v, n, off, flags), vector(v, n, r, SHADOW_WRITE)) \
    X(ssize_t, pwritev64v2, (int fd, const struct iovec *v, int n, off_t off, int flags), \
      (fd, v, n, off, flags), vector(v, n, r, SHADOW_READ)) \
    X(ssize_t, __read_chk, (int fd, void *to, size_t n, size_t room), (fd, to, n, room), \
      passed(to, r, SHADOW_WRITE)) \
    X(ssize_t, __pread_chk, (int fd, void *to, size_t n, off_t off, size_t room), \
      (fd, to, n, off, room), passed(to, r, SHADOW_WRITE)) \
    X(ssize_t, __pread64_chk, (int fd, void *to, size_t n, off_t off, size_t room), \
      (fd, to, n, off, room), passed(to, r, SHADOW_WRITE)) \
    X(ssize_t, __recv_chk, (int fd, void *to, size_t n, size_t room, int flags), \
      (fd, to, n, room, flags), passed(to, r, SHADOW_WRITE)) \
    X(ssize_t, sendto, \
      (int fd, const void *from, size_t n, int flags, const struct sockaddr *a, socklen_t \
        a_bytes), (fd, from, n, flags, a, a_bytes), \
      passed(from, r, SHADOW_READ); if (r >= 0 && a != NULL) R(a, a_bytes)) \
    X(ssize_t, recvfrom, \
      (int fd, void *to, size_t n, int flags, struct sockaddr *a, socklen_t *a_bytes), \
      (fd, to, n, flags, a, a_bytes), \
      passed(to, r, SHADOW_WRITE); if (r >= 0 && a != NULL) address(a, a_bytes)) \
    X(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), \
      message(m, r, SHADOW_READ)) \
    X(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), \
      message(m, r, SHADOW_WRITE)) \
    X(ssize_t, getrandom, (void *to, size_t n, unsigned flags), (to, n, flags), \
      passed(to, r, SHADOW_WRITE)) \
    X(int, getentropy, (void *to, size_t n), (to, n), W(to, r == 0 ? n : 0)) \
    X(int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), \
      submitted(r, a, n)) \
    X(int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), \
      submitted(r, a, n)) \
    X(int, accept, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n), \
      if (r >= 0 && a != NULL) address(a, n)) \
    X(int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags), \
      if (r >= 0 && a != NULL) address(a, n)) \
    X(int, getsockname, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n), \
      if (r == 0) address(a, n)) \
    X(int, getpeername, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n), \
      if (r == 0) address(a, n)) \
    X(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t n), \
      (fd, level, name, value, n), R(value, r == 0 ? n : 0)) \
    X(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *n), \
      (fd, level, name, value, n), if (r == 0) address(value, n)) \
    X(int, socketpair, (int domain, int type, int protocol, int *to), \
      (domain, type, protocol, to), W(to, r == 0 ? 2 * sizeof *to : 0)) \
    X(int, pipe, (int *to), (to), W(to, r == 0 ? 2 * sizeof *to : 0)) \
    X(int, pipe2, (int *to, int flags), (to, flags), W(to, r == 0 ? 2 * sizeof *to : 0)) \
    X(int, poll, (struct pollfd *v, nfds_t n, int ms), (v, n, ms), polled(v, n, r)) \
    X(int, ppoll, \
      (struct pollfd *v, nfds_t n, const struct timespec *time, const sigset_t *mask), \
      (v, n, time, mask), polled(v, n, r), given(time, sizeof *time), \
      given(mask, KERNEL_SIGSET_BYTES)) \
    X(int, __poll_chk, (struct pollfd *v, nfds_t n, int ms, size_t room), (v, n, ms, room), \
      polled(v, n, r)) \
    X(int, epoll_wait, (int fd, struct epoll_event *v, int n, int ms), (fd, v, n, ms), \
      W(v, r > 0 ? (size_t)r * sizeof *v : 0)) \
    X(int, epoll_pwait, (int fd, struct epoll_event *v, int n, int ms, const sigset_t *mask), \
      (fd, v, n, ms, mask), \
      W(v, r > 0 ? (size_t)r * sizeof *v : 0), given(mask, KERNEL_SIGSET_BYTES)) \
    X(int, epoll_ctl, (int fd, int what, int other, struct epoll_event *v), (fd, what, other, v), \
      submitted(r, v, sizeof *v)) \
    X(int, gethostname, (char *to, size_t n), (to, n), W(to, r == 0 ? length(to) + 1 : 0)) \
    X(int, uname, (struct utsname *to), (to), WROTE(r == 0, to)) \
    X(int, ttyname_r, (int fd, char *to, size_t n), (fd, to, n), \
      W(to, r == 0 ? length(to) + 1 : 0)) \
    X(const char *, inet_ntop, (int family, const void *from, char *to, socklen_t n), \
      (family, from, to, n), \
      if (r != NULL) { R(from, family == AF_INET ? 4 : 16); W(to, length(to) + 1); }) \
    X(int, inet_pton, (int family, const char *from, void *to), (family, from, to), \
      if (r >= 0) text(from); W(to, r == 1 ? (family == AF_INET ? 4 : 16) : 0)) \
    X(int, inet_aton, (const char *from, struct in_addr *to), (from, to), \
      text(from), WROTE(r != 0, to)) \
    X(in_addr_t, inet_addr, (const char *from), (from), (void)r, text(from))

/* Functions of stdio, except those with formats. */
#define COUNTED_STREAMS(X) \
    X(int, puts, (const char *s), (s), (void)r, text(s)) \
    X(int, fputs, (const char *s, FILE *f), (s, f), (void)r, text(s)) \
    X(int, fputs_unlocked, (const char *s, FILE *f), (s, f), (void)r, text(s)) \
    X(char *, fgets_unlocked, (char *to, int n, FILE *f), (to, n, f), \
      if (r != NULL) W(to, length(to) + 1)) \
    X(char *, __fgets_chk, (char *to, size_t room, int n, FILE *f), (to, room, n, f), \
      if (r != NULL) W(to, length(to) + 1)) \
    X(int, fputws, (const wchar_t *s, FILE *f), (s, f), (void)r, wide(s)) \
    X(wchar_t *, fgetws, (wchar_t *to, int n, FILE *f), (to, n, f), \
      if (r != NULL) W(to, WIDE(wide_length(to) + 1))) \
    X(ssize_t, getline, (char **to, size_t *room, FILE *f), (to, room, f), line(to, room, r)) \
    X(ssize_t, getdelim, (char **to, size_t *room, int c, FILE *f), (to, room, c, f), \
      line(to, room, r)) \
    X(ssize_t, __getdelim, (char **to, size_t *room, int c, FILE *f), (to, room, c, f), \
      line(to, room, r))

/* Times. */
#define COUNTED_TIMES(X) \
    X(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to), WROTE(r == 0, to)) \
    X(int, clock_getres, (clockid_t clock, struct timespec *to), (clock, to), \
      if (to != NULL) WROTE(r == 0, to)) \
    X(int, gettimeofday, (struct timeval *to, void *zone), (to, zone), \
      if (to != NULL) WROTE(r == 0, to); \
      if (zone != NULL) W(zone, r == 0 ? 2 * sizeof(int) : 0)) \
    X(time_t, time, (time_t *to), (to), if (to != NULL) WROTE(r != -1, to)) \
    X(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left), \
      slept(time, left, r)) \
    X(struct tm *, gmtime, (const time_t *time), (time), (void)r, R(time, sizeof *time)) \
    X(struct tm *, localtime, (const time_t *time), (time), (void)r, R(time, sizeof *time)) \
    X(struct tm *, gmtime_r, (const time_t *time, struct tm *to), (time, to), \
      R(time, sizeof *time), WROTE(r != NULL, to)) \
    X(struct tm *, localtime_r, (const time_t *time, struct tm *to), (time, to), \
      R(time, sizeof *time), WROTE(r != NULL, to)) \
    X(time_t, mktime, (struct tm *time), (time), \
      (void)r, R(time, sizeof *time), W(time, sizeof *time)) \
    X(time_t, timegm, (struct tm *time), (time), \
      (void)r, R(time, sizeof *time), W(time, sizeof *time)) \
    X(char *, asctime, (const struct tm *time), (time), (void)r, R(time, sizeof *time)) \
    X(char *, asctime_r, (const struct tm *time, char *to), (time, to), \
      R(time, sizeof *time); if (r != NULL) W(to, length(to) + 1)) \
    X(char *, ctime, (const time_t *time), (time), (void)r, R(time, sizeof *time)) \
    X(char *, ctime_r, (const time_t *time, char *to), (time, to), \
      R(time, sizeof *time); if (r != NULL) W(to, length(to) + 1)) \
    X(size_t, strftime, (char *to, size_t n, const char *format, const struct tm *time), \
      (to, n, format, time), text(format), R(time, sizeof *time), W(to, r > 0 ? r + 1 : 0)) \
    X(char *, strptime, (const char *s, const char *format, struct tm *to), (s, format, to), \
      text(format), R(s, r != NULL ? up_to(s, r) : 1), \
      W(to, r != NULL ? sizeof *to : sizeof to->tm_sec)) \
    X(clock_t, times, (struct tms *to), (to), if (to != NULL) WROTE(r != -1, to))

/* Functions that are written by hand (counted_calls.c). So their rows lack arguments and
 * effects. */
#define COUNTED_BY_HAND(X) \
    X(void *, memcpy, (void *, const void *, size_t)) \
    X(void *, memmove, (void *, const void *, size_t)) \
    X(void *, mempcpy, (void *, const void *, size_t)) \
    X(void *, memset, (void *, int, size_t)) \
    X(int, memcmp, (const void *, const void *, size_t)) \
    X(int, bcmp, (const void *, const void *, size_t)) \
    X(void *, memchr, (const void *, int, size_t)) \
    X(void *, memrchr, (const void *, int, size_t)) \
    X(void, bzero, (void *, size_t)) \
    X(void, explicit_bzero, (void *, size_t)) \
    X(void, __explicit_bzero_chk, (void *, size_t, size_t)) \
    X(void, bcopy, (const void *, void *, size_t)) \
    X(void, qsort, (void *, size_t, size_t, int (*)(const void *, const void *))) \
    X(void, qsort_r, \
      (void *, size_t, size_t, int (*)(const void *, const void *, void *), void *)) \
    X(void, arc4random_buf, (void *, size_t)) \
    X(size_t, strlen, (const char *)) \
    X(size_t, strnlen, (const char *, size_t)) \
    X(char *, strcpy, (char *, const char *)) \
    X(char *, stpcpy, (char *, const char *)) \
    X(char *, strncpy, (char *, const char *, size_t)) \
    X(char *, strcat, (char *, const char *)) \
    X(char *, strncat, (char *, const char *, size_t)) \
    X(int, strcmp, (const char *, const char *)) \
    X(int, strncmp, (const char *, const char *, size_t)) \
    X(int, strcasecmp, (const char *, const char *)) \
    X(int, strncasecmp, (const char *, const char *, size_t)) \
    X(char *, strchr, (const char *, int)) \
    X(char *, strrchr, (const char *, int)) \
    X(char *, strstr, (const char *, const char *)) \
    X(char *, strtok, (char *, const char *)) \
    X(char *, strtok_r, (char *, const char *, char **)) \
    X(char *, __strtok_r, (char *, const char *, char **)) \
    X(char *, strsep, (char **, const char *)) \
    X(ssize_t, read, (int, void *, size_t)) \
    X(ssize_t, pread, (int, void *, size_t, off_t)) \
    X(ssize_t, pread64, (int, void *, size_t, off_t)) \
    X(ssize_t, write, (int, const void *, size_t)) \
    X(ssize_t, pwrite, (int, const void *, size_t, off_t)) \
    X(ssize_t, pwrite64, (int, const void *, size_t, off_t)) \
    X(ssize_t, recv, (int, void *, size_t, int)) \
    X(ssize_t, send, (int, const void *, size_t, int)) \
    X(size_t, fread, (void *, size_t, size_t, FILE *)) \
    X(size_t, fwrite, (const void *, size_t, size_t, FILE *)) \
    X(size_t, fread_unlocked, (void *, size_t, size_t, FILE *)) \
    X(size_t, fwrite_unlocked, (const void *, size_t, size_t, FILE *)) \
    X(size_t, __fread_chk, (void *, size_t, size_t, size_t, FILE *)) \
    X(char *, fgets, (char *, int, FILE *)) \
    X(void *, __memcpy_chk, (void *, const void *, size_t, size_t)) \
    X(void *, __memmove_chk, (void *, const void *, size_t, size_t)) \
    X(void *, __memset_chk, (void *, int, size_t, size_t)) \
    X(char *, __strcpy_chk, (char *, const char *, size_t)) \
    X(char *, __strcat_chk, (char *, const char *, size_t)) \
    X(int, atoi, (const char *)) \
    X(long, atol, (const char *)) \
    X(long long, atoll, (const char *)) \
    X(double, atof, (const char *))

/* X(result, name, character): functions that parse an integer and store its end through a further
 * parameter. */
#define COUNTED_PLAIN_NUMBERS(X) \
    X(long, strtol, char) \
    X(long long, strtoll, char) \
    X(unsigned long, strtoul, char) \
    X(unsigned long long, strtoull, char) \
    X(intmax_t, strtoimax, char) \
    X(uintmax_t, strtoumax, char) \
    X(long, wcstol, wchar_t) \
    X(long long, wcstoll, wchar_t) \
    X(unsigned long, wcstoul, wchar_t) \
    X(unsigned long long, wcstoull, wchar_t)

/* Like the list above, for functions that parse real numbers, which have no base. */
#define COUNTED_REALS(X) \
    X(double, strtod, char) \
    X(float, strtof, char) \
    X(long double, strtold, char) \
    X(double, wcstod, wchar_t) \
    X(float, wcstof, wchar_t)

/* X(name, forwarded name, character, parameters before the format, arguments before the format,
 * effects): printf and related functions, which forward their arguments as a va_list. R is the
 * length. */
#define COUNTED_PRINTS(X) \
    X(printf, vprintf, char, (), (), (void)r) \
    X(fprintf, vfprintf, char, (FILE *f,), (f,), (void)r) \
    X(dprintf, vdprintf, char, (int fd,), (fd,), (void)r) \
    X(sprintf, vsprintf, char, (char *to,), (to,), printed(to, SIZE_MAX, r)) \
    X(snprintf, vsnprintf, char, (char *to, size_t n,), (to, n,), printed(to, n, r)) \
    X(asprintf, vasprintf, char, (char **to,), (to,), printed_new(to, r)) \
    X(__printf_chk, __vprintf_chk, char, (int flag,), (flag,), (void)r) \
    X(__fprintf_chk, __vfprintf_chk, char, (FILE *f, int flag,), (f, flag,), (void)r) \
    X(__dprintf_chk, __vdprintf_chk, char, (int fd, int flag,), (fd, flag,), (void)r) \
    X(__sprintf_chk, __vsprintf_chk, char, (char *to, int flag, size_t room,), (to, flag, room,), \
      printed(to, SIZE_MAX, r)) \
    X(__snprintf_chk, __vsnprintf_chk, char, (char *to, size_t n, int flag, size_t room,), \
      (to, n, flag, room,), printed(to, n, r)) \
    X(__asprintf_chk, __vasprintf_chk, char, (char **to, int flag,), (to, flag,), \
      printed_new(to, r)) \
    X(wprintf, vwprintf, wchar_t, (), (), (void)r) \
    X(fwprintf, vfwprintf, wchar_t, (FILE *f,), (f,), (void)r) \
    X(swprintf, vswprintf, wchar_t, (wchar_t *to, size_t n,), (to, n,), \
      W(to, r >= 0 ? WIDE(r + 1) : 0)) \
    X(__wprintf_chk, __vwprintf_chk, wchar_t, (int flag,), (flag,), (void)r) \
    X(__fwprintf_chk, __vfwprintf_chk, wchar_t, (FILE *f, int flag,), (f, flag,), (void)r) \
    X(__swprintf_chk, __vswprintf_chk, wchar_t, (wchar_t *to, size_t n, int flag, size_t room,), \
      (to, n, flag, room,), W(to, r >= 0 ? WIDE(r + 1) : 0))

/* Like the list above, for scanf and related functions. R is the number of conversions. */
#define COUNTED_SCANS(X) \
    X(scanf, vscanf, (), (), (void)r) \
    X(fscanf, vfscanf, (FILE *f,), (f,), (void)r) \
    X(sscanf, vsscanf, (const char *s,), (s,), text(s)) \
    X(__isoc99_scanf, __isoc99_vscanf, (), (), (void)r) \
    X(__isoc99_fscanf, __isoc99_vfscanf, (FILE *f,), (f,), (void)r) \
    X(__isoc99_sscanf, __isoc99_vsscanf, (const char *s,), (s,), text(s)) \
    COUNTED_C23_SCANS(X)

/* Variants that programs compiled for C23 call. Some versions of libc lack them. */
#if __GLIBC_PREREQ(2, 38)
#define COUNTED_C23_SCANS(X) \
    X(__isoc23_scanf, __isoc23_vscanf, (), (), (void)r) \
    X(__isoc23_fscanf, __isoc23_vfscanf, (FILE *f,), (f,), (void)r) \
    X(__isoc23_sscanf, __isoc23_vsscanf, (const char *s,), (s,), text(s))
#define COUNTED_C23_NUMBERS(X) \
    X(long, __isoc23_strtol, char) \
    X(long long, __isoc23_strtoll, char) \
    X(unsigned long, __isoc23_strtoul, char) \
    X(unsigned long long, __isoc23_strtoull, char) \
    X(intmax_t, __isoc23_strtoimax, char) \
    X(uintmax_t, __isoc23_strtoumax, char) \
    X(long, __isoc23_wcstol, wchar_t) \
    X(long long, __isoc23_wcstoll, wchar_t) \
    X(unsigned long, __isoc23_wcstoul, wchar_t) \
    X(unsigned long long, __isoc23_wcstoull, wchar_t)
#define COUNTED_C23_TEXT(X) \
    X(size_t, strlcpy, (char *to, const char *from, size_t n), (to, from, n), \
      text(from), printed(to, n, (ssize_t)r)) \
    X(size_t, strlcat, (char *to, const char *from, size_t n), (to, from, n), \
      text(from), printed(to, n, (ssize_t)r))
#else
#define COUNTED_C23_SCANS(X)
#define COUNTED_C23_NUMBERS(X)
#define COUNTED_C23_TEXT(X)
#endif

#define COUNTED_NUMBERS(X) \
    COUNTED_PLAIN_NUMBERS(X) \
    COUNTED_C23_NUMBERS(X)

#define COUNTED_ROWS(X) \
    COUNTED_MEMORY(X) \
    COUNTED_TEXT(X) \
    COUNTED_C23_TEXT(X) \
    COUNTED_WIDE(X) \
    COUNTED_FILES(X) \
    COUNTED_TRANSFERS(X) \
    COUNTED_STREAMS(X) \
    COUNTED_TIMES(X)

// clang-format on

#endif
