/* interposed.h: functions under names of libc, for a program (interposed.c) or a preloaded library
 * (libinterposed.c). They cover all libc functions that the recorder uses or used in earlier
 * versions, except those that only the dynamic linker can provide. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define INITIAL __attribute__((tls_model("initial-exec")))

/* Old programs define this variable without "extern", so that libc does not set it. */
char **environ;

static pthread_mutex_t interposed_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int interposed_asked INITIAL; // True while the test itself makes the call.
static __thread int interposed_errno INITIAL;
static int interposed_fails;
static void *volatile interposed_block;
static volatile long interposed_result;

/* Called on each call by other code; may throw. */
void (*interposed_stranger)(void);

/* Begin a function; return true if it must fail. */
__attribute__((noinline)) static int
interposed_enter(unsigned *strangers)
{
    pthread_mutex_lock(&interposed_lock);
    *strangers += !interposed_asked;
    interposed_block = malloc(32);
    free(interposed_block);
    pthread_mutex_unlock(&interposed_lock);
    if (!interposed_asked && interposed_stranger != NULL)
        interposed_stranger();
    return interposed_fails && !interposed_asked;
}

/* All functions: the name, and the call that interposed_call_all makes. */
#define INTERPOSED_EVERYWHERE(X)                                                                   \
    X(clock_gettime, clock_gettime(CLOCK_MONOTONIC, &time))                                        \
    X(getrlimit, getrlimit(RLIMIT_AS, &limit))                                                     \
    X(sched_getaffinity, sched_getaffinity(0, sizeof set, &set))                                   \
    X(uname, uname(&name))
#define INTERPOSED_DYNAMIC(X)                                                                      \
    X(getauxval, getauxval(AT_PAGESZ))                                                             \
    X(__sched_cpucount, CPU_COUNT(&set))                                                           \
    X(memcmp, memcmp(&name, &name, size))                                                          \
    X(memcpy, memcpy(&name, &set, size))                                                           \
    X(memmove, memmove(&name, &set, size))                                                         \
    X(memset, memset(&name, 0, size))                                                              \
    X(strchr, strchr(name.sysname, 'x'))                                                           \
    X(strcmp, strcmp(name.sysname, "x"))                                                           \
    X(strlen, strlen(name.sysname))                                                                \
    X(strncmp, strncmp(name.sysname, "x", size))                                                   \
    X(strrchr, strrchr(name.sysname, 'x'))                                                         \
    X(__errno_location, errno)                                                                     \
    X(_dl_find_object, _dl_find_object(stdout, &found))

/* In a static program, these definitions would replace libc's functions, which libc needs before
 * these are ready. */
#ifdef STATIC
#define INTERPOSED(X) INTERPOSED_EVERYWHERE(X)
#else
#define INTERPOSED(X) INTERPOSED_EVERYWHERE(X) INTERPOSED_DYNAMIC(X)
#endif

#define COUNT(name, call) static unsigned interposed_##name;
INTERPOSED(COUNT)

/* Begin the definition of function NAME. */
#define ENTER(name, failed)                                                                        \
    do {                                                                                           \
        if (interposed_enter(&interposed_##name))                                                  \
            return failed;                                                                         \
    } while (0)

int
clock_gettime(clockid_t clock, struct timespec *ret)
{
    ENTER(clock_gettime, -1);
    return (int)syscall(SYS_clock_gettime, clock, ret);
}

#ifndef __GLIBC__
typedef int __rlimit_resource_t;
#endif

int
getrlimit(__rlimit_resource_t resource, struct rlimit *ret)
{
    ENTER(getrlimit, -1);
    return (int)syscall(SYS_prlimit64, 0, resource, NULL, ret);
}

int
sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret)
{
    ENTER(sched_getaffinity, -1);
    return syscall(SYS_sched_getaffinity, pid, size, ret) < 0 ? -1 : 0;
}

int
uname(struct utsname *ret)
{
    ENTER(uname, -1);
    return (int)syscall(SYS_uname, ret);
}

#ifndef STATIC

unsigned long
getauxval(unsigned long type)
{
    ENTER(getauxval, 0);
    return type == AT_PAGESZ ? 4096 : 0;
}

int
__sched_cpucount(size_t size, const cpu_set_t *set)
{
    ENTER(__sched_cpucount, 0);
    return set != NULL && size != 0;
}

int
memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *p = a, *q = b;

    ENTER(memcmp, 1);
    for (; size > 0; size--, p++, q++)
        if (*p != *q)
            return *p - *q;
    return 0;
}

void *
memcpy(void *restrict to, const void *restrict from, size_t size)
{
    ENTER(memcpy, NULL);
    for (size_t i = 0; i < size; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *
memmove(void *to, const void *from, size_t size)
{
    ENTER(memmove, NULL);
    if ((char *)to > (const char *)from)
        for (size_t i = size; i > 0; i--)
            ((char *)to)[i - 1] = ((const char *)from)[i - 1];
    else
        for (size_t i = 0; i < size; i++)
            ((char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *
memset(void *to, int c, size_t size)
{
    ENTER(memset, NULL);
    for (size_t i = 0; i < size; i++)
        ((char *)to)[i] = (char)c;
    return to;
}

char *
strchr(const char *s, int c)
{
    ENTER(strchr, NULL);
    for (; *s != (char)c; s++)
        if (*s == '\0')
            return NULL;
    return (char *)(size_t)s;
}

int
strcmp(const char *a, const char *b)
{
    ENTER(strcmp, 1);
    for (; *a == *b && *a != '\0'; a++, b++)
        continue;
    return (unsigned char)*a - (unsigned char)*b;
}

size_t
strlen(const char *s)
{
    size_t length = 0;

    ENTER(strlen, 0);
    while (s[length] != '\0')
        length++;
    return length;
}

int
strncmp(const char *a, const char *b, size_t size)
{
    ENTER(strncmp, 1);
    for (; size > 1 && *a == *b && *a != '\0'; a++, b++, size--)
        continue;
    return size == 0 ? 0 : (unsigned char)*a - (unsigned char)*b;
}

char *
strrchr(const char *s, int c)
{
    const char *found = NULL;

    ENTER(strrchr, NULL);
    for (;; s++) {
        if (*s == (char)c)
            found = s;
        if (*s == '\0')
            return (char *)(size_t)found;
    }
}

int *
__errno_location(void)
{
    ENTER(__errno_location, &interposed_errno);
    return &interposed_errno;
}

int
_dl_find_object(void *address, struct dl_find_object *ret)
{
    static int (*next)(void *, struct dl_find_object *);

    ENTER(_dl_find_object, -1);
    if (next == NULL)
        next = (int (*)(void *, struct dl_find_object *))dlsym(RTLD_NEXT, "_dl_find_object");
    return next(address, ret);
}
#endif // STATIC

static inline void
interposed_call_all(void)
{
    volatile size_t size = sizeof(char[16]);
    struct timespec time;
    struct rlimit limit;
    struct utsname name = {{0}};
    cpu_set_t set = {{0}};
#ifndef STATIC
    struct dl_find_object found;
#endif

#define CALL(name, call)                                                                           \
    interposed_asked = 1;                                                                          \
    interposed_result = (long)(call);                                                              \
    interposed_asked = 0;
    INTERPOSED(CALL)
}

/* Print the number of calls by other code, for each function. */
static inline void
interposed_print(FILE *file)
{
#define PRINT(name, call) fprintf(file, "%s %u\n", #name, interposed_##name);
    INTERPOSED(PRINT)
}
