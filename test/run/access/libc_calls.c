/* libc_calls.c SEED COUNT EXPECTED: make COUNT calls of random functions of libc with blocks of the
 * heap. Write the words of the blocks that the calls must have accessed to the file EXPECTED
 * (libc_model.h). Results are printed on stderr.
 *
 * Each function has blocks of a different size. The block P is the argument under test, and S is
 * memory outside the heap. If a function has two arguments, TWO selects at random the argument that
 * is the block. This code never accesses a block itself, so all counted accesses are libc's. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "libc_model.h"

/* Names to which _FORTIFY_SOURCE maps functions if it knows the size of an object. */
#ifdef FORTIFIED
#define CHECKED(result, name, ...) extern result name(__VA_ARGS__);
CHECKED(void *, __memcpy_chk, void *, const void *, size_t, size_t)
CHECKED(void *, __memmove_chk, void *, const void *, size_t, size_t)
CHECKED(void *, __mempcpy_chk, void *, const void *, size_t, size_t)
CHECKED(void *, __memset_chk, void *, int, size_t, size_t)
CHECKED(void, __explicit_bzero_chk, void *, size_t, size_t)
CHECKED(char *, __strcpy_chk, char *, const char *, size_t)
CHECKED(char *, __stpcpy_chk, char *, const char *, size_t)
CHECKED(char *, __strncpy_chk, char *, const char *, size_t, size_t)
CHECKED(char *, __stpncpy_chk, char *, const char *, size_t, size_t)
CHECKED(char *, __strcat_chk, char *, const char *, size_t)
CHECKED(char *, __strncat_chk, char *, const char *, size_t, size_t)
CHECKED(wchar_t *, __wcscpy_chk, wchar_t *, const wchar_t *, size_t)
CHECKED(wchar_t *, __wmemcpy_chk, wchar_t *, const wchar_t *, size_t, size_t)
CHECKED(wchar_t *, __wmemset_chk, wchar_t *, wchar_t, size_t, size_t)
CHECKED(ssize_t, __read_chk, int, void *, size_t, size_t)
CHECKED(ssize_t, __pread_chk, int, void *, size_t, off_t, size_t)
CHECKED(ssize_t, __recv_chk, int, void *, size_t, size_t, int)
CHECKED(ssize_t, __readlink_chk, const char *, char *, size_t, size_t)
CHECKED(char *, __getcwd_chk, char *, size_t, size_t)
CHECKED(char *, __realpath_chk, const char *, char *, size_t)
CHECKED(size_t, __fread_chk, void *, size_t, size_t, size_t, FILE *)
CHECKED(char *, __fgets_chk, char *, size_t, int, FILE *)
CHECKED(int, __fprintf_chk, FILE *, int, const char *, ...)
CHECKED(int, __dprintf_chk, int, int, const char *, ...)
CHECKED(int, __snprintf_chk, char *, size_t, int, size_t, const char *, ...)
CHECKED(int, __sprintf_chk, char *, int, size_t, const char *, ...)
CHECKED(int, __swprintf_chk, wchar_t *, size_t, int, size_t, const wchar_t *, ...)
CHECKED(int, __poll_chk, struct pollfd *, nfds_t, int, size_t)
CHECKED(int, __open_2, const char *, int)
#define memcpy(to, from, n) __memcpy_chk(to, from, n, SIZE_MAX)
#define memmove(to, from, n) __memmove_chk(to, from, n, SIZE_MAX)
#define mempcpy(to, from, n) __mempcpy_chk(to, from, n, SIZE_MAX)
#define memset(to, c, n) __memset_chk(to, c, n, SIZE_MAX)
#define explicit_bzero(to, n) __explicit_bzero_chk(to, n, SIZE_MAX)
#define strcpy(to, from) __strcpy_chk(to, from, SIZE_MAX)
#define stpcpy(to, from) __stpcpy_chk(to, from, SIZE_MAX)
#define strncpy(to, from, n) __strncpy_chk(to, from, n, SIZE_MAX)
#define stpncpy(to, from, n) __stpncpy_chk(to, from, n, SIZE_MAX)
#define strcat(to, from) __strcat_chk(to, from, SIZE_MAX)
#define strncat(to, from, n) __strncat_chk(to, from, n, SIZE_MAX)
#define wcscpy(to, from) __wcscpy_chk(to, from, SIZE_MAX)
#define wmemcpy(to, from, n) __wmemcpy_chk(to, from, n, SIZE_MAX)
#define wmemset(to, c, n) __wmemset_chk(to, c, n, SIZE_MAX)
#define read(fd, to, n) __read_chk(fd, to, n, SIZE_MAX)
#define pread(fd, to, n, off) __pread_chk(fd, to, n, off, SIZE_MAX)
#define recv(fd, to, n, flags) __recv_chk(fd, to, n, SIZE_MAX, flags)
#define readlink(path, to, n) __readlink_chk(path, to, n, SIZE_MAX)
#define getcwd(to, n) __getcwd_chk(to, n, SIZE_MAX)
#define realpath(path, to) __realpath_chk(path, to, SIZE_MAX)
#define fread(to, each, n, f) __fread_chk(to, SIZE_MAX, each, n, f)
#define fgets(to, n, f) __fgets_chk(to, SIZE_MAX, n, f)
#define fprintf(f, ...) __fprintf_chk(f, 1, __VA_ARGS__)
#define dprintf(fd, ...) __dprintf_chk(fd, 1, __VA_ARGS__)
#define snprintf(to, n, ...) __snprintf_chk(to, n, 1, SIZE_MAX, __VA_ARGS__)
#define sprintf(to, ...) __sprintf_chk(to, 1, SIZE_MAX, __VA_ARGS__)
#define swprintf(to, n, ...) __swprintf_chk(to, n, 1, SIZE_MAX, __VA_ARGS__)
#define poll(v, n, ms) __poll_chk(v, n, ms, SIZE_MAX)
#define open(path, flags) __open_2(path, flags)
#endif

static char scratch[8192];
static int zeros, nowhere, sockets[2], text_fd;
static FILE *zero_file, *null_file, *text_file;

enum { FIRST_SIZE = 1040, STEP = 16 };

/* For each NAME, call_NAME allocates a block, expects accesses to it, calls body_NAME, and frees
 * the block. P is an address inside the block. */
#define CALLS(X) \
    X(memcpy) X(memmove) X(mempcpy) X(memset) X(memcmp) X(bcmp) X(memchr) X(memrchr) \
    X(rawmemchr) X(memmem) X(memccpy) X(bzero) X(explicit_bzero) X(bcopy) X(strlen) X(strnlen) \
    X(strcpy) X(stpcpy) X(strncpy) X(stpncpy) X(strcat) X(strncat) X(strcmp) X(strncmp) \
    X(strcasecmp) X(strncasecmp) X(strchr) X(strrchr) X(strchrnul) X(strstr) X(strcasestr) \
    X(strspn) X(strcspn) X(strpbrk) X(strcoll) X(strdup) X(strndup) X(strtok_r) X(strsep) \
    X(wcslen) X(wcsnlen) X(wcscpy) X(wcsncpy) X(wcscat) X(wcscmp) X(wcschr) X(wcsrchr) \
    X(wmemcpy) X(wmemset) X(wmemcmp) X(wmemchr) X(wcsspn) X(wcstombs) X(mbstowcs) X(atoi) \
    X(atol) X(atoll) X(atof) X(strtol) X(strtoul) X(strtoll) X(strtoull) X(strtod) X(strtof) \
    X(strtold) X(strtoimax) X(wcstol) X(read) X(write) X(pread) X(pwrite) X(readv) X(writev) \
    X(preadv) X(pwritev) X(send) X(recv) X(sendto) X(recvfrom) X(sendmsg) X(recvmsg) \
    X(getrandom) X(getentropy) X(open) X(access) X(stat) X(lstat) X(fstat) X(readlink) \
    X(getcwd) X(realpath) X(fread) X(fwrite) X(fgets) X(fputs) X(getline) X(fprintf) X(dprintf) \
    X(fread_part) X(fread_unlocked) X(fwrite_unlocked) \
    X(snprintf) X(sprintf) X(swprintf) X(sscanf) X(fscanf) X(clock_gettime) X(gettimeofday) \
    X(time) X(gmtime_r) X(localtime_r) X(mktime) X(asctime_r) X(strftime) X(nanosleep) X(poll) \
    X(epoll_wait) X(pipe) X(socketpair) X(uname) X(gethostname) X(inet_ntop) X(inet_pton) \
    X(inet_aton) X(qsort) X(getenv) X(setenv) X(fopen) X(puts) X(refused)

#define KIND(name) KIND_##name,
enum { CALLS(KIND) KINDS };

#define BLOCK(name) (FIRST_SIZE + STEP * KIND_##name)
#define CALL(name)                                                                                 \
    static __attribute__((noinline)) void call_##name(void)                                        \
    {                                                                                              \
        char *block = malloc(BLOCK(name)), *p = block + pick(24), *s = scratch + pick(24);         \
        size_t n = 1 + pick(400), k = pick(n + 1);                                                 \
        long long r = 0;                                                                           \
                                                                                                   \
        if (block == NULL)                                                                         \
            abort();                                                                               \
        (void)s, (void)n, (void)k;                                                                 \
        expect_block(block, BLOCK(name));                                                          \
        body_##name(&p, &s, n, k, &r);                                                             \
        result(#name, r);                                                                          \
        free(block);                                                                               \
    }

// From level 3 on, the compiler checks sizes that it knows only at run time, such as malloc's
// argument. It knows that only where it sees the call of malloc.
#if __USE_FORTIFY_LEVEL >= 3
#define BODY_KIND inline __attribute__((always_inline))
#else
#define BODY_KIND __attribute__((noinline))
#endif
#define BODY(name)                                                                                 \
    static BODY_KIND void body_##name(char **pp, char **ss, size_t n, size_t k, long long *r)
#define P (*pp)
#define S (*ss)
#define UNUSED_ARGUMENTS (void)pp, (void)ss, (void)n, (void)k, (void)r

static void
two(char **pp, char **ss)
{
    char *other = *pp;

    if (pick(2) == 0) {
        *pp = *ss;
        *ss = other;
    }
}
#define TWO two(pp, ss)
#define BOTH_READ(size) (reads(P, size), reads(S, size))

BODY(memcpy) { UNUSED_ARGUMENTS; TWO; memcpy(P, S, n); writes(P, n); reads(S, n); contents(); }
BODY(memmove)
{
    UNUSED_ARGUMENTS;
    memmove(P + k, P, n); reads(P, n); writes(P + k, n); contents();
}
BODY(mempcpy)
{
    UNUSED_ARGUMENTS; TWO;
    *r = (char *)mempcpy(P, S, n) - P; writes(P, n); reads(S, n); contents();
}
BODY(memset) { UNUSED_ARGUMENTS; memset(P, (int)k, n); writes(P, n); contents(); }
BODY(memcmp)
{
    UNUSED_ARGUMENTS; TWO; same(P, n, 'q'); same(S, n, 'q');
    if (k < n) put(S, k, 'x');
    *r = memcmp(P, S, n) < 0; BOTH_READ(k < n ? k + 1 : n);
}
BODY(bcmp)
{
    UNUSED_ARGUMENTS; TWO; same(P, n, 'q'); same(S, n, 'q');
    *r = bcmp(P, S, n); BOTH_READ(n);
}
BODY(memchr)
{
    UNUSED_ARGUMENTS; same(P, n, 'q');
    if (k < n) put(P, k, 'x');
    *r = memchr(P, 'x', n) == (k < n ? P + k : NULL); reads(P, k < n ? k + 1 : n);
}
BODY(memrchr)
{
    UNUSED_ARGUMENTS; same(P, n, 'q');
    if (k < n) put(P, k, 'x');
    *r = memrchr(P, 'x', n) == (k < n ? P + k : NULL); reads(k < n ? P + k : P, k < n ? n - k : n);
}
BODY(rawmemchr)
{
    UNUSED_ARGUMENTS; same(P, n, 'q');
    *r = (char *)rawmemchr(P, 0) - P; reads(P, n + 1);
}
BODY(memmem)
{
    UNUSED_ARGUMENTS; same(P, n, 'q'); copy(S, "xyz");
    if (k + 3 <= n) copy_bytes(P + k, "xyz", 3);
    *r = memmem(P, n, S, 3) != NULL; reads(P, k + 3 <= n ? k + 3 : n);
}
BODY(memccpy)
{
    UNUSED_ARGUMENTS; TWO; same(S, n, 'q');
    if (k < n) put(S, k, 'x');
    *r = memccpy(P, S, 'x', n) != NULL; writes(P, k < n ? k + 1 : n);
    reads(S, k < n ? k + 1 : n); contents();
}
BODY(bzero) { UNUSED_ARGUMENTS; bzero(P, n); writes(P, n); contents(); }
BODY(explicit_bzero) { UNUSED_ARGUMENTS; explicit_bzero(P, n); writes(P, n); contents(); }
BODY(bcopy) { UNUSED_ARGUMENTS; TWO; bcopy(S, P, n); reads(S, n); writes(P, n); contents(); }
BODY(strlen) { UNUSED_ARGUMENTS; letters(P, n); *r = (long long)strlen(P); reads(P, n + 1); }
BODY(strnlen)
{
    UNUSED_ARGUMENTS; letters(P, k);
    *r = (long long)strnlen(P, n); reads(P, k < n ? k + 1 : n);
}
BODY(strcpy)
{
    UNUSED_ARGUMENTS; TWO; letters(S, n);
    strcpy(P, S); reads(S, n + 1); writes(P, n + 1); contents();
}
BODY(stpcpy)
{
    UNUSED_ARGUMENTS; TWO; letters(S, n);
    *r = stpcpy(P, S) - P; reads(S, n + 1); writes(P, n + 1); contents();
}
BODY(strncpy)
{
    UNUSED_ARGUMENTS; TWO; letters(S, k);
    strncpy(P, S, n); reads(S, k < n ? k + 1 : n); writes(P, n); contents();
}
BODY(stpncpy)
{
    UNUSED_ARGUMENTS; TWO; letters(S, k);
    *r = stpncpy(P, S, n) - P; reads(S, k < n ? k + 1 : n); writes(P, n); contents();
}
BODY(strcat)
{
    UNUSED_ARGUMENTS; TWO; letters(P, k); letters(S, n);
    strcat(P, S); reads(P, k + 1); reads(S, n + 1); writes(P + k, n + 1); contents();
}
BODY(strncat)
{
    size_t m = 1 + pick(300);

    UNUSED_ARGUMENTS; TWO; letters(P, k); letters(S, m);
    strncat(P, S, n); reads(P, k + 1); reads(S, m < n ? m + 1 : n);
    writes(P + k, (m < n ? m : n) + 1); contents();
}
BODY(strcmp)
{
    UNUSED_ARGUMENTS; TWO; same(P, n, 'q'); same(S, n, 'q');
    if (k < n) put(S, k, 'x');
    *r = strcmp(P, S) < 0; BOTH_READ(k < n ? k + 1 : n + 1);
}
BODY(strncmp)
{
    UNUSED_ARGUMENTS; TWO; same(P, n, 'q'); same(S, n, 'q');
    if (k < n) put(S, k, 'x');
    *r = strncmp(P, S, n) < 0; BOTH_READ(k < n ? k + 1 : n);
}
BODY(strcasecmp)
{
    UNUSED_ARGUMENTS; TWO; same(P, n, 'q'); same(S, n, 'Q');
    if (k < n) put(S, k, 'x');
    *r = strcasecmp(P, S) < 0; BOTH_READ(k < n ? k + 1 : n + 1);
}
BODY(strncasecmp)
{
    UNUSED_ARGUMENTS; TWO; same(P, n, 'q'); same(S, n, 'Q');
    if (k < n) put(S, k, 'x');
    *r = strncasecmp(P, S, n) < 0; BOTH_READ(k < n ? k + 1 : n);
}
BODY(strchr)
{
    UNUSED_ARGUMENTS; same(P, n, 'q');
    if (k < n) put(P, k, 'x');
    *r = strchr(P, 'x') != NULL; reads(P, k < n ? k + 1 : n + 1);
}
BODY(strrchr)
{
    UNUSED_ARGUMENTS; same(P, n, 'q');
    *r = strrchr(P, 'q') - P; reads(P, n + 1);
}
BODY(strchrnul)
{
    UNUSED_ARGUMENTS; same(P, n, 'q');
    if (k < n) put(P, k, 'x');
    *r = strchrnul(P, 'x') - P; reads(P, k < n ? k + 1 : n + 1);
}
BODY(strstr)
{
    UNUSED_ARGUMENTS; same(P, n, 'q'); copy(S, "xyz");
    if (k + 3 <= n) copy_bytes(P + k, "xyz", 3);
    *r = strstr(P, S) != NULL; reads(P, k + 3 <= n ? k + 3 : n + 1);
}
BODY(strcasestr)
{
    UNUSED_ARGUMENTS; same(P, n, 'q'); copy(S, "xyz");
    if (k + 3 <= n) copy_bytes(P + k, "XYZ", 3);
    *r = strcasestr(P, S) != NULL; reads(P, k + 3 <= n ? k + 3 : n + 1);
}
BODY(strspn)
{
    UNUSED_ARGUMENTS; same(P, n, 'q');
    if (k < n) put(P, k, 'x');
    *r = (long long)strspn(P, "pqr"); reads(P, k < n ? k + 1 : n + 1);
}
BODY(strcspn)
{
    UNUSED_ARGUMENTS; same(P, n, 'q');
    if (k < n) put(P, k, 'x');
    *r = (long long)strcspn(P, "xyz"); reads(P, k < n ? k + 1 : n + 1);
}
BODY(strpbrk)
{
    UNUSED_ARGUMENTS; same(P, n, 'q');
    if (k < n) put(P, k, 'x');
    *r = strpbrk(P, "xyz") != NULL; reads(P, k < n ? k + 1 : n + 1);
}
BODY(strcoll)
{
    UNUSED_ARGUMENTS; TWO; letters(P, n); letters(S, n);
    *r = strcoll(P, S) < 0; BOTH_READ(n + 1);
}
BODY(strdup)
{
    char *made;

    UNUSED_ARGUMENTS; letters(P, n);
    made = strdup(P); *r = made != NULL; reads(P, n + 1); free(made);
}
BODY(strndup)
{
    char *made;

    UNUSED_ARGUMENTS; letters(P, n);
    made = strndup(P, k); *r = made != NULL; reads(P, k); free(made);
}
BODY(strtok_r)
{
    char *next;

    UNUSED_ARGUMENTS; same(P, n, 'q'); k = k < n ? k : n - 1; put(P, k, ',');
    if (k == 0) {
        *r = strtok_r(P, ",", &next) != NULL; // If there is one token only, no terminator ends it.
        reads(P, n + 1);
        return;
    }
    *r = strtok_r(P, ",", &next) - P; reads(P, k + 1); writes(P + k, 1); contents();
}
BODY(strsep)
{
    char *at = P;

    UNUSED_ARGUMENTS; same(P, n, 'q'); k = k < n ? k : n - 1; put(P, k, ',');
    *r = strsep(&at, ",") - P; reads(P, k + 1); writes(P + k, 1); contents();
}
#define WP ((wchar_t *)(((uintptr_t)P + 3) & ~(uintptr_t)3))
#define WS ((wchar_t *)(((uintptr_t)S + 3) & ~(uintptr_t)3))
#define SMALLER n = n % 100 + 1, k = k % n
BODY(wcslen)
{
    UNUSED_ARGUMENTS; SMALLER; wide_same(WP, n, L'q');
    *r = (long long)wcslen(WP); reads(WP, 4 * (n + 1));
}
BODY(wcsnlen)
{
    UNUSED_ARGUMENTS; SMALLER; wide_same(WP, k, L'q');
    *r = (long long)wcsnlen(WP, n); reads(WP, 4 * (k + 1));
}
BODY(wcscpy)
{
    UNUSED_ARGUMENTS; SMALLER; TWO; wide_same(WS, n, L'q');
    wcscpy(WP, WS); reads(WS, 4 * (n + 1)); writes(WP, 4 * (n + 1)); contents();
}
BODY(wcsncpy)
{
    UNUSED_ARGUMENTS; SMALLER; TWO; wide_same(WS, k, L'q');
    wcsncpy(WP, WS, n); reads(WS, 4 * (k + 1)); writes(WP, 4 * n); contents();
}
BODY(wcscat)
{
    UNUSED_ARGUMENTS; SMALLER; TWO; wide_same(WP, k, L'p'); wide_same(WS, n, L'q');
    wcscat(WP, WS); reads(WP, 4 * (k + 1)); reads(WS, 4 * (n + 1));
    writes(WP + k, 4 * (n + 1)); contents();
}
BODY(wcscmp)
{
    UNUSED_ARGUMENTS; SMALLER; TWO; wide_same(WP, n, L'q'); wide_same(WS, n, L'q');
    put_wide(WS, k, L'x');
    *r = wcscmp(WP, WS) < 0; reads(WP, 4 * (k + 1)); reads(WS, 4 * (k + 1));
}
BODY(wcschr)
{
    UNUSED_ARGUMENTS; SMALLER; wide_same(WP, n, L'q'); put_wide(WP, k, L'x');
    *r = wcschr(WP, L'x') - WP; reads(WP, 4 * (k + 1));
}
BODY(wcsrchr)
{
    UNUSED_ARGUMENTS; SMALLER; wide_same(WP, n, L'q');
    *r = wcsrchr(WP, L'q') - WP; reads(WP, 4 * (n + 1));
}
BODY(wmemcpy)
{
    UNUSED_ARGUMENTS; SMALLER; TWO; wide_same(WS, n, L'q');
    wmemcpy(WP, WS, n); reads(WS, 4 * n); writes(WP, 4 * n); contents();
}
BODY(wmemset) { UNUSED_ARGUMENTS; SMALLER; wmemset(WP, L'v', n); writes(WP, 4 * n); contents(); }
BODY(wmemcmp)
{
    UNUSED_ARGUMENTS; SMALLER; TWO; wide_same(WP, n, L'q'); wide_same(WS, n, L'q');
    put_wide(WS, k, L'x');
    *r = wmemcmp(WP, WS, n) < 0; reads(WP, 4 * (k + 1)); reads(WS, 4 * (k + 1));
}
BODY(wmemchr)
{
    UNUSED_ARGUMENTS; SMALLER; wide_same(WP, n, L'q'); put_wide(WP, k, L'x');
    *r = wmemchr(WP, L'x', n) - WP; reads(WP, 4 * (k + 1));
}
BODY(wcsspn)
{
    UNUSED_ARGUMENTS; SMALLER; wide_same(WP, n, L'q'); put_wide(WP, k, L'x');
    *r = (long long)wcsspn(WP, L"pqr"); reads(WP, 4 * (k + 1));
}
BODY(wcstombs)
{
    UNUSED_ARGUMENTS; SMALLER; TWO; wide_same(WS, n, L'q');
    *r = (long long)wcstombs(P, WS, 500); reads(WS, 4 * (n + 1)); writes(P, n + 1); contents();
}
BODY(mbstowcs)
{
    UNUSED_ARGUMENTS; SMALLER; TWO; letters(S, n);
    *r = (long long)mbstowcs(WP, S, 150); reads(S, n + 1); writes(WP, 4 * (n + 1)); contents();
}
#define NUMBER(name, call) \
    BODY(name) \
    { \
        UNUSED_ARGUMENTS; n = n % 9 + 1; k %= 5; \
        same(P, k, ' '); digits(P + k, n); put(P, k + n, pick(2) ? 'x' : '\0'); \
        put(P, k + n + 1, 0); \
        *r = (long long)call; reads(P, k + n + 1); \
    }
NUMBER(atoi, atoi(P))
NUMBER(atol, atol(P))
NUMBER(atoll, atoll(P))
NUMBER(atof, atof(P))
NUMBER(strtol, strtol(P, NULL, 10))
NUMBER(strtoul, strtoul(P, ss, 10))
NUMBER(strtoll, strtoll(P, NULL, 0))
NUMBER(strtoull, strtoull(P, ss, 10))
NUMBER(strtod, strtod(P, NULL))
NUMBER(strtof, strtof(P, ss))
NUMBER(strtold, strtold(P, NULL))
NUMBER(strtoimax, strtoimax(P, NULL, 10))
BODY(wcstol)
{
    UNUSED_ARGUMENTS; n = n % 9 + 1; wide_same(WP, n, L'7');
    *r = wcstol(WP, NULL, 10); reads(WP, 4 * (n + 1));
}
BODY(read) { UNUSED_ARGUMENTS; *r = read(zeros, P, n); writes(P, n); contents(); }
BODY(write) { UNUSED_ARGUMENTS; *r = write(nowhere, P, n); reads(P, n); }
BODY(pread) { UNUSED_ARGUMENTS; *r = pread(text_fd, P, n, 0); writes(P, n); contents(); }
BODY(pwrite) { UNUSED_ARGUMENTS; *r = pwrite(nowhere, P, n, 9); reads(P, n); }
static void
both_parts(struct iovec v[3], char *p, char *s, size_t n)
{
    v[0] = (struct iovec){p, n};
    v[1] = (struct iovec){s, 10};
    v[2] = (struct iovec){p + n + 30, 20};
}
BODY(readv)
{
    struct iovec v[3];

    UNUSED_ARGUMENTS; both_parts(v, P, S, n);
    *r = readv(zeros, v, 3); writes(P, n); writes(P + n + 30, 20); contents();
}
BODY(writev)
{
    struct iovec v[3];

    UNUSED_ARGUMENTS; both_parts(v, P, S, n);
    *r = writev(nowhere, v, 3); reads(P, n); reads(P + n + 30, 20);
}
BODY(preadv)
{
    struct iovec v[3];

    UNUSED_ARGUMENTS; both_parts(v, P, S, n); v[2].iov_len = 600;
    *r = preadv(text_fd, v, 3, 0); writes(P, n); writes(P + n + 30, (size_t)*r - n - 10);
    contents();
}
BODY(pwritev)
{
    struct iovec v[3];

    UNUSED_ARGUMENTS; both_parts(v, P, S, n);
    *r = pwritev(nowhere, v, 3, 7); reads(P, n); reads(P + n + 30, 20);
}
BODY(send)
{
    UNUSED_ARGUMENTS;
    *r = send(sockets[0], P, n, 0); reads(P, n); *r += read(sockets[1], scratch, n);
}
BODY(recv)
{
    UNUSED_ARGUMENTS;
    *r = write(sockets[0], scratch, k); *r += k > 0 ? recv(sockets[1], P, n, 0) : 0;
    writes(P, k); contents();
}
BODY(sendto)
{
    UNUSED_ARGUMENTS;
    *r = sendto(sockets[0], P, n, 0, NULL, 0); reads(P, n); *r += read(sockets[1], scratch, n);
}
BODY(recvfrom)
{
    UNUSED_ARGUMENTS;
    *r = write(sockets[0], scratch, k); *r += k > 0 ? recvfrom(sockets[1], P, n, 0, NULL, NULL) : 0;
    writes(P, k); contents();
}
BODY(sendmsg)
{
    struct iovec v[3];
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 3};

    UNUSED_ARGUMENTS; both_parts(v, P, S, n);
    *r = sendmsg(sockets[0], &m, 0); reads(P, n); reads(P + n + 30, 20);
    *r += read(sockets[1], scratch, sizeof scratch);
}
BODY(recvmsg)
{
    struct iovec v[3];
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 3};

    UNUSED_ARGUMENTS; both_parts(v, P, S, n);
    *r = write(sockets[0], scratch + 64, n + 15); *r += recvmsg(sockets[1], &m, 0);
    writes(P, n); writes(P + n + 30, 5);
}
BODY(getrandom) { UNUSED_ARGUMENTS; n %= 256; *r = getrandom(P, n, 0); writes(P, n); }
BODY(getentropy) { UNUSED_ARGUMENTS; n %= 256; *r = getentropy(P, n); writes(P, n); }
BODY(open)
{
    int fd;

    UNUSED_ARGUMENTS; copy(P, pick(2) ? "/dev/null" : "/not/there");
    fd = open(P, O_RDONLY | O_CLOEXEC); *r = fd >= 0 ? 0 : errno; reads(P, length_of(P) + 1);
    if (fd >= 0) close(fd);
}
BODY(access)
{
    UNUSED_ARGUMENTS; copy(P, pick(2) ? "/dev/null" : "/not/there");
    *r = access(P, R_OK); reads(P, length_of(P) + 1);
}
BODY(stat)
{
    struct stat st;

    UNUSED_ARGUMENTS; copy(P, pick(2) ? "/dev/null" : "/not/there");
    *r = stat(P, &st); reads(P, length_of(P) + 1);
}
#define ALIGNED ((void *)(((uintptr_t)P + 15) & ~(uintptr_t)15))
BODY(lstat)
{
    UNUSED_ARGUMENTS;
    *r = lstat("/dev/null", ALIGNED); writes(ALIGNED, sizeof(struct stat));
}
BODY(fstat)
{
    UNUSED_ARGUMENTS; *r = fstat(nowhere, ALIGNED); writes(ALIGNED, sizeof(struct stat));
}
BODY(readlink)
{
    UNUSED_ARGUMENTS; n = n % 20 + 1;
    *r = readlink("/proc/self/fd/9", P, n); writes(P, (size_t)*r); contents();
}
BODY(getcwd)
{
    UNUSED_ARGUMENTS;
    *r = getcwd(P, 1000) == P; writes(P, length_of(P) + 1); contents();
}
BODY(realpath)
{
    UNUSED_ARGUMENTS; copy(P, "/dev/../dev/./null");
    *r = realpath(P, NULL) != NULL; reads(P, 19);
}
BODY(fread)
{
    UNUSED_ARGUMENTS;
    *r = (long long)fread(P, 3, n, zero_file);
    writes(P, 3 * (n % 300 + 1) > 0 ? 3 * (size_t)*r : 0);
}
/* The file has 602 bytes, so the last element is incomplete. */
BODY(fread_part)
{
    UNUSED_ARGUMENTS; rewind(text_file);
    *r = (long long)fread(P, 100, 10, text_file); writes(P, 602); contents();
}
BODY(fread_unlocked)
{
    UNUSED_ARGUMENTS; rewind(text_file);
    *r = (long long)fread_unlocked(P, 100, 7, text_file); writes(P, 602); contents();
}
BODY(fwrite_unlocked)
{
    UNUSED_ARGUMENTS; *r = (long long)fwrite_unlocked(P, 2, n, null_file); reads(P, 2 * n);
}
BODY(fwrite) { UNUSED_ARGUMENTS; *r = (long long)fwrite(P, 2, n, null_file); reads(P, 2 * n); }
BODY(fgets)
{
    UNUSED_ARGUMENTS; rewind(text_file);
    // __fgets_chk, unlike fgets, returns NULL for 1, and compilers differ in calling it.
    n = n == 1 ? 2 : n;
    *r = fgets(P, (int)n, text_file) != NULL; writes(P, *r ? (n < 102 ? n : 102) : 0); contents();
}
BODY(fputs) { UNUSED_ARGUMENTS; letters(P, n); *r = fputs(P, null_file) >= 0; reads(P, n + 1); }
BODY(puts) { UNUSED_ARGUMENTS; letters(P, n); *r = puts(P) >= 0; reads(P, n + 1); }
BODY(getline)
{
    char *line = malloc(4000);
    size_t room = 4000;

    UNUSED_ARGUMENTS; expect_block(line, 4000); rewind(text_file);
    *r = getline(&line, &room, text_file); writes(line, (size_t)*r + 1); contents(); free(line);
}
static int
vfprintf_n(FILE *f, const char *format, ...)
{
    va_list list;
    int r;

    va_start(list, format);
    r = vfprintf(f, format, list);
    va_end(list);
    return r;
}
BODY(fprintf)
{
    wchar_t *w = (wchar_t *)(((uintptr_t)P + n + 4) & ~(uintptr_t)3);
    size_t m = pick(40);

    UNUSED_ARGUMENTS; letters(P, n);
    switch (pick(6)) {
    case 0: *r = fprintf(null_file, "%d %-*s|%%", 7, 12, P); reads(P, n + 1); break;
    case 1: *r = fprintf(null_file, "%.*s", (int)k, P); reads(P, k < n ? k : n); break;
    case 2: *r = fprintf(null_file, "%3$s %1$d %2$f", 5, 1.5, P); reads(P, n + 1); break;
    case 3:
        // No %n, because a writable format must not contain it.
        *r = vfprintf_n(null_file, "%Lf %g %c%n", 2.5L, 3.5, 'c', (int *)w); writes(w, 4);
        break;
    case 4:
        wide_same(w, m, L'q');
        *r = fprintf(null_file, "%lu %ls %p", 1ul, w, (void *)P); reads(w, 4 * (m + 1));
        break;
    case 5:
        *r = fprintf(null_file, "%2$.*1$s %3$hhd", (int)k, P, 9); reads(P, k < n ? k : n);
        break;
    }
}
BODY(dprintf)
{
    UNUSED_ARGUMENTS; letters(P, n);
    *r = dprintf(nowhere, "%lld %s %s\n", 1ll, P, P + k); reads(P, n + 1); reads(P + k, n + 1 - k);
}
BODY(snprintf)
{
    UNUSED_ARGUMENTS; TWO; letters(S, n);
    *r = snprintf(P, k, "%s-%d", S, 42); reads(S, n + 1); writes(P, k < n + 4 ? k : n + 4);
    contents();
}
BODY(sprintf)
{
    UNUSED_ARGUMENTS; TWO; letters(S, n);
    *r = sprintf(P, "%s", S); reads(S, n + 1); writes(P, n + 1); contents();
}
BODY(swprintf)
{
    UNUSED_ARGUMENTS; SMALLER; TWO; letters(S, n);
    *r = swprintf(WP, 200, L"%s", S); reads(S, n + 1); writes(WP, 4 * (n + 1)); contents();
}
BODY(sscanf)
{
    int a = 0;

    UNUSED_ARGUMENTS; n = n % 50 + 1;
    if (pick(2) == 0) {
        letters(P, n); *r = sscanf(P, "%80s", S); reads(P, n + 1);
        return;
    }
    copy(S, "12 word rest");
    *r = sscanf(S, "%d %*c%s %n", &a, P, (int *)(P + 400)); writes(P, 4); writes(P + 400, 4);
}
BODY(fscanf)
{
    UNUSED_ARGUMENTS; rewind(text_file);
    *r = fscanf(text_file, "%50[a-z]", P); writes(P, 51); contents();
}
BODY(clock_gettime)
{
    UNUSED_ARGUMENTS; *r = clock_gettime(CLOCK_REALTIME, ALIGNED); writes(ALIGNED, 16);
}
BODY(gettimeofday) { UNUSED_ARGUMENTS; *r = gettimeofday(ALIGNED, NULL); writes(ALIGNED, 16); }
BODY(time) { UNUSED_ARGUMENTS; *r = time(ALIGNED) > 0; writes(ALIGNED, 8); }
BODY(gmtime_r)
{
    time_t t = (time_t)n * 86400;

    UNUSED_ARGUMENTS; *r = gmtime_r(&t, ALIGNED) != NULL; writes(ALIGNED, sizeof(struct tm));
}
BODY(localtime_r)
{
    struct tm tm;

    UNUSED_ARGUMENTS; *r = localtime_r(ALIGNED, &tm) != NULL || 1; reads(ALIGNED, 8);
}
static void
some_date(void *to)
{
    static const struct tm some = {.tm_year = 100, .tm_mon = 2, .tm_mday = 3, .tm_hour = 4};

    copy_bytes(to, &some, sizeof some);
}
BODY(mktime)
{
    UNUSED_ARGUMENTS; some_date(ALIGNED);
    *r = mktime(ALIGNED); reads(ALIGNED, sizeof(struct tm)); writes(ALIGNED, sizeof(struct tm));
}
BODY(asctime_r)
{
    struct tm tm;

    UNUSED_ARGUMENTS; some_date(&tm); *r = asctime_r(&tm, P) == P; writes(P, 26); contents();
}
BODY(strftime)
{
    struct tm tm;

    UNUSED_ARGUMENTS; some_date(&tm);
    *r = (long long)strftime(P, 100, "%Y-%m-%d", &tm); writes(P, 11); contents();
}
BODY(nanosleep)
{
    static const struct timespec none;

    UNUSED_ARGUMENTS; copy_bytes(ALIGNED, &none, sizeof none);
    *r = nanosleep(ALIGNED, NULL); reads(ALIGNED, sizeof none);
}
BODY(poll)
{
    static const struct pollfd fds[2] = {{.fd = -1}, {.fd = -1}};

    UNUSED_ARGUMENTS; copy_bytes(ALIGNED, fds, sizeof fds);
    *r = poll(ALIGNED, 2, 0); reads(ALIGNED, sizeof fds); writes(ALIGNED, sizeof fds);
}
BODY(epoll_wait)
{
    int e = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLOUT};

    UNUSED_ARGUMENTS; epoll_ctl(e, EPOLL_CTL_ADD, sockets[0], &event);
    *r = epoll_wait(e, ALIGNED, 8, 0); writes(ALIGNED, sizeof event); close(e);
}
static void
close_both(const void *at)
{
    int fds[2];

    copy_bytes(fds, at, sizeof fds);
    close(fds[0]);
    close(fds[1]);
}
BODY(pipe) { UNUSED_ARGUMENTS; *r = pipe(ALIGNED); writes(ALIGNED, 8); close_both(ALIGNED); }
BODY(socketpair)
{
    UNUSED_ARGUMENTS;
    *r = socketpair(AF_UNIX, SOCK_STREAM, 0, ALIGNED); writes(ALIGNED, 8); close_both(ALIGNED);
}
BODY(uname) { UNUSED_ARGUMENTS; *r = uname((void *)P); writes(P, sizeof(struct utsname)); }
BODY(gethostname)
{
    UNUSED_ARGUMENTS; *r = gethostname(P, 300); writes(P, length_of(P) + 1);
}
BODY(inet_ntop)
{
    struct in_addr a = {htonl(0x7f000001)};

    UNUSED_ARGUMENTS; *r = inet_ntop(AF_INET, &a, P, 64) == P; writes(P, 10); contents();
}
BODY(inet_pton)
{
    struct in_addr a;

    UNUSED_ARGUMENTS; copy(P, "10.20.30.40"); *r = inet_pton(AF_INET, P, &a); reads(P, 12);
}
BODY(inet_aton)
{
    UNUSED_ARGUMENTS; *r = inet_aton("10.20.30.40", ALIGNED); writes(ALIGNED, 4);
}
static int
by_nothing(const void *a, const void *b)
{
    return a < b ? -1 : a > b;
}
BODY(qsort)
{
    UNUSED_ARGUMENTS; qsort(ALIGNED, n, 2, by_nothing); reads(ALIGNED, 2 * n);
    writes(ALIGNED, 2 * n);
}
BODY(getenv) { UNUSED_ARGUMENTS; letters(P, n); *r = getenv(P) != NULL; reads(P, n + 1); }
BODY(setenv)
{
    UNUSED_ARGUMENTS; TWO; letters(P, 5); letters(S, n);
    *r = setenv(P, S, 1); reads(P, 6); reads(S, n + 1);
}
BODY(fopen)
{
    FILE *f;

    UNUSED_ARGUMENTS; copy(P, "/dev/null"); f = fopen(P, "r"); reads(P, 10); *r = f != NULL;
    if (f != NULL) fclose(f);
}
/* A system call that the kernel refuses counts no access, for any pointer. */
BODY(refused)
{
    struct iovec v = {P, n};

    UNUSED_ARGUMENTS;
    *r += read(-1, P, n); *r = *r * 1000 + errno;
    *r += writev(-1, &v, 1); *r = *r * 1000 + errno;
    *r += readv(zeros, (struct iovec *)8, 1); *r = *r * 1000 + errno;
    *r += open((char *)8, O_RDONLY); *r = *r * 1000 + errno;
    *r += stat((char *)8, (struct stat *)8); *r = *r * 1000 + errno;
}

CALLS(CALL)

#define ENTRY(name) call_##name,
static void (*const calls[KINDS])(void) = {CALLS(ENTRY)};

int
main(int argc, char **argv)
{
    int count = argc > 3 ? atoi(argv[2]) : 0;

    if (count == 0)
        return 2;
    pick_seed((uint64_t)atoll(argv[1]));
    zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(zeros, 9);
    zero_file = fopen("/dev/zero", "r");
    null_file = fopen("/dev/null", "w");
    text_file = tmpfile();
    text_fd = fileno(text_file);
    fprintf(text_file, "%s\n%0500d\n", letters(scratch, 100), 0);
    fflush(text_file);
    if (zeros < 0 || nowhere < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 2;
    while (count-- > 0)
        calls[pick(KINDS)]();
    expected_write(argv[3]);
    return 0;
}
