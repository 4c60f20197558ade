/* counter.c: a library preloaded behind the recorder, which counts the calls that reach it.
 *
 *     LD_PRELOAD=libheaptap.so:libcounter.so COUNTER_OUT=DIRECTORY PROGRAM
 *
 *     program ──► recorder ──► counter ──► allocator
 *
 * It stores only sums: no blocks, stacks or sizes. So it is simple, and fast enough for any
 * program. If the recorder passes on a call without counting it, counts it twice, or passes it on
 * wrongly, the sums differ. The counter misses calls that bypass both libraries: from an object
 * bound to libc's malloc, or through an operator new that does not call malloc.
 * libcounter_operators.so, with operators.c, sees the latter.
 *
 * A realloc that moves or resizes a block is an allocation and a free, as in the glossary;
 * realloc(NULL, n) is an allocation, and realloc(p, 0) that returns NULL is a free.
 *
 * libc's reallocarray calls the interposed realloc and so re-enters this library; an allocator's
 * reallocarray may not. The thread's counts show whether realloc was called.
 *
 * The sums are in a shared mapping of a file per process image, so they are complete however the
 * process ends. In a forked child, the kernel has wiped the page with the pointer to the sums, so
 * the child creates a new file. No function here allocates or locks: threads whose first calls
 * coincide create a file each, and all but one remove their file. If no file can be created, the
 * sums are lost.
 *
 * COUNTER_OUT is read from /proc, because the first call may come before libc has initialised the
 * environment, and a later call after the program has cleared it. */
#include "counter.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomics.h"

enum { ENVIRONMENT_BYTES = 1 << 21, PATH_BYTES = 512, FILES_MAX = 1000000 };

static const char variable[] = "COUNTER_OUT=";

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
} next;

__thread struct counter_seen counter_seen;

static struct counter_file **place; // Pointer in a page that the kernel wipes at fork.
static struct counter_file nowhere;
static char directory[PATH_BYTES]; // Empty if counting is not enabled.

static void *
counter_map(size_t bytes, int flags, int fd)
{
    return (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static bool
mapped(const void *p)
{
    return (long)(intptr_t)p != -1;
}

static void
find_directory(void)
{
    char *text = counter_map(ENVIRONMENT_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/environ", O_RDONLY | O_CLOEXEC);
    size_t used = 0, n = sizeof variable - 1;
    long got;

    if (!mapped(text))
        return;
    while (fd >= 0 && used < ENVIRONMENT_BYTES - 1 &&
           (got = syscall(SYS_read, fd, text + used, ENVIRONMENT_BYTES - 1 - used)) > 0)
        used += (size_t)got;
    if (fd >= 0)
        syscall(SYS_close, fd);
    for (const char *s = text; s < text + used; s += strlen(s) + 1) {
        if (strncmp(s, variable, n) == 0 && strlen(s + n) < PATH_BYTES - 32)
            strcpy(directory, s + n);
    }
    syscall(SYS_munmap, text, ENVIRONMENT_BYTES);
}

/* Append N in decimal. */
static void
counter_append(char *path, unsigned long n)
{
    char digits[24];
    size_t at = sizeof digits;

    digits[--at] = '\0';
    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    strcat(path, digits + at);
}

/* Create a new file for this process; return its descriptor, and store its path in PATH. The name
 * contains the index of the image in the process, so that images that replace one another by exec
 * keep their order. */
static int
counter_create(char *path, unsigned long pid)
{
    for (unsigned long i = 0; i < FILES_MAX; i++) {
        long fd;

        strcpy(path, directory);
        strcat(path, "/c.");
        counter_append(path, pid);
        strcat(path, ".");
        counter_append(path, i);
        fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return (int)fd;
    }
    return -1;
}

/* Create this process's file, unless another thread or a signal handler was faster. */
static struct counter_file *
counter_begin(void)
{
    unsigned long pid = (unsigned long)syscall(SYS_getpid);
    struct counter_file *f = &nowhere, *other = NULL;
    char path[PATH_BYTES];
    int fd = directory[0] != '\0' ? counter_create(path, pid) : -1;

    if (fd >= 0 && syscall(SYS_ftruncate, fd, (long)sizeof *f) == 0) {
        f = counter_map(sizeof *f, MAP_SHARED, fd);
        f = mapped(f) ? f : &nowhere;
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (f != &nowhere) {
        f->pid = pid;
        syscall(SYS_readlink, "/proc/self/exe", f->executable, sizeof f->executable - 1);
        f->magic = COUNTER_MAGIC;
    }
    if (cas_acq_rel(place, &other, f))
        return f;
    if (f != &nowhere) {
        syscall(SYS_munmap, f, sizeof *f);
        syscall(SYS_unlink, path);
    }
    return other;
}

static struct counter_file *
file(void)
{
    struct counter_file *f = load_acquire(place);
    int saved_errno;

    if (f != NULL)
        return f;
    saved_errno = errno;
    f = counter_begin();
    errno = saved_errno;
    return f;
}

/* Resolve all functions. The first call does this, long before there is a second thread. dlsym does
 * not allocate when it succeeds. */
static void
counter_resolve(void)
{
    static struct counter_file *unwiped;
    struct counter_file **page;
    int saved_errno = errno;

    next.calloc = dlsym(RTLD_NEXT, "calloc");
    next.realloc = dlsym(RTLD_NEXT, "realloc");
    next.reallocarray = dlsym(RTLD_NEXT, "reallocarray");
    next.free = dlsym(RTLD_NEXT, "free");
    next.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    next.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    next.memalign = dlsym(RTLD_NEXT, "memalign");
    next.valloc = dlsym(RTLD_NEXT, "valloc");
    next.pvalloc = dlsym(RTLD_NEXT, "pvalloc");
    next.malloc_usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
    next.malloc = dlsym(RTLD_NEXT, "malloc");
    page = counter_map(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (mapped(page))
        syscall(SYS_madvise, page, 4096, MADV_WIPEONFORK);
    find_directory();
    place = mapped(page) ? page : &unwiped;
    errno = saved_errno;
}

static inline void
counter_start(void)
{
    if (__builtin_expect(place == NULL, 0))
        counter_resolve();
}

void
counter_allocated(const void *p)
{
    struct counter_file *f;

    counter_start();
    f = file();
    counter_seen.allocations += p != NULL;
    add_relaxed(p != NULL ? &f->allocations : &f->failed_calls, UINT64_C(1));
}

void
counter_freed(void)
{
    counter_start();
    counter_seen.frees++;
    add_relaxed(&file()->frees, UINT64_C(1));
}

static inline void *
counter_count(void *p)
{
    counter_allocated(p);
    return p;
}

void *
malloc(size_t n)
{
    counter_start();
    return counter_count(next.malloc(n));
}

void *
calloc(size_t n, size_t each)
{
    counter_start();
    return counter_count(next.calloc(n, each));
}

void
free(void *p)
{
    counter_start();
    if (p != NULL)
        counter_freed();
    next.free(p);
}

void *
realloc(void *p, size_t n)
{
    void *q;

    counter_start();
    q = next.realloc(p, n);
    if (p != NULL && (q != NULL || n == 0))
        counter_freed();
    return q != NULL || p == NULL || n != 0 ? counter_count(q) : NULL;
}

void *
reallocarray(void *p, size_t n, size_t each)
{
    uint64_t allocated, freed;
    void *q;

    counter_start();
    allocated = counter_seen.allocations;
    freed = counter_seen.frees;
    q = next.reallocarray(p, n, each);
    if (q != NULL && counter_seen.allocations == allocated)
        counter_count(q);
    if (q != NULL && p != NULL && counter_seen.frees == freed)
        counter_freed();
    return q;
}

int
posix_memalign(void **ret_p, size_t align, size_t n)
{
    int error;

    counter_start();
    error = next.posix_memalign(ret_p, align, n);
    counter_count(error ? NULL : *ret_p);
    return error;
}

void *
aligned_alloc(size_t align, size_t n)
{
    counter_start();
    return counter_count(next.aligned_alloc(align, n));
}

void *
memalign(size_t align, size_t n)
{
    counter_start();
    return counter_count(next.memalign(align, n));
}

void *
valloc(size_t n)
{
    counter_start();
    return counter_count(next.valloc(n));
}

void *
pvalloc(size_t n)
{
    counter_start();
    return counter_count(next.pvalloc(n));
}

/* The recorder expects this function beside malloc, as in most allocators. */
size_t
malloc_usable_size(void *p)
{
    counter_start();
    return next.malloc_usable_size(p);
}
