/* next.c: finding the allocator behind us.
 *
 * dlsym itself may allocate. Until it has answered, calls are served from a small static memory,
 * which is never given back; free recognises it. The first call of any function finds all of
 * them, so a program's calls are never served from there.
 */
#include "monitor/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "base/atomics.h"
#include "monitor/arch_x86_64.h"
#include "monitor/state.h"
#include "monitor/staying.h"

enum { BOOT_BYTES = 64 * 1024 };

static alloc_fn first_malloc, first_valloc, first_pvalloc;
static calloc_fn first_calloc;
static realloc_fn first_realloc;
static reallocarray_fn first_reallocarray;
static free_fn first_free;
static posix_memalign_fn first_posix_memalign;
static memalign_fn first_memalign, first_aligned_alloc;
static usable_fn first_usable;
static dlclose_fn first_dlclose;
static fork_fn first_fork, first_async_fork;

struct next next = {
    .malloc = first_malloc,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .reallocarray = first_reallocarray,
    .free = first_free,
    .posix_memalign = first_posix_memalign,
    .aligned_alloc = first_aligned_alloc,
    .memalign = first_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .malloc_usable_size = first_usable,
    .dlclose = first_dlclose,
    .fork = first_fork,
    .async_fork = first_async_fork,
};

static _Alignas(16) unsigned char boot[BOOT_BYTES];
static size_t boot_used;
static uint32_t resolving; // Atomic: 1 while or after a thread looks the functions up.

bool
next_is_boot(const void *p)
{
    return (uintptr_t)p - (uintptr_t)boot < BOOT_BYTES;
}

size_t
next_boot_size(const void *p)
{
    size_t size_bytes;

    memcpy(&size_bytes, (const unsigned char *)p - 16, sizeof size_bytes);
    return size_bytes;
}

/* Zeroed memory with its size in front, for whatever dlsym needs. */
static void *
boot_alloc(size_t size_bytes)
{
    size_t whole = round_up(size_bytes, 16) + 16;
    size_t off;

    if (size_bytes > BOOT_BYTES || (off = add_relaxed(&boot_used, whole)) + whole > BOOT_BYTES)
        return NULL;
    memcpy(boot + off, &size_bytes, sizeof size_bytes);
    return boot + off + 16;
}

static void *
boot_realloc(void *old, size_t size_bytes)
{
    void *p = boot_alloc(size_bytes);
    size_t old_bytes = old != NULL ? next_boot_size(old) : 0;

    if (p != NULL && old_bytes != 0)
        memcpy(p, old, old_bytes < size_bytes ? old_bytes : size_bytes);
    return p;
}

static void *
find(const char *name, void *fallback)
{
    void *f = dlsym(RTLD_NEXT, name);

    return f != NULL ? f : fallback;
}

static void *
none_reallocarray(void *p, size_t count, size_t each)
{
    size_t size_bytes;

    if (__builtin_mul_overflow(count, each, &size_bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return next.realloc(p, size_bytes);
}

static size_t
none_usable(void *p)
{
    (void)p;
    return 0;
}

/* The object that defines F, as an opaque identity. */
static const void *
object_of(const void *f)
{
    struct unwind_object o;

    return unwind_find_object((uintptr_t)f, &o) ? o.link_map : NULL;
}

static bool
is_glibc(const void *object)
{
    return object == object_of((const void *)dlsym(RTLD_NEXT, "gnu_get_libc_version"));
}

COLD void
next_resolve(void)
{
    struct next n;
    int saved_errno = errno;

    if (add_relaxed(&resolving, 1u) != 0)
        return;
    n.malloc = (alloc_fn *)find("malloc", (void *)boot_alloc);
    n.calloc = (calloc_fn *)find("calloc", (void *)first_calloc);
    n.realloc = (realloc_fn *)find("realloc", (void *)boot_realloc);
    n.free = (free_fn *)find("free", (void *)first_free);
    n.reallocarray = (reallocarray_fn *)find("reallocarray", (void *)none_reallocarray);
    n.posix_memalign = (posix_memalign_fn *)find("posix_memalign", (void *)first_posix_memalign);
    n.aligned_alloc = (memalign_fn *)find("aligned_alloc", (void *)first_memalign);
    n.memalign = (memalign_fn *)find("memalign", (void *)first_memalign);
    n.valloc = (alloc_fn *)find("valloc", (void *)boot_alloc);
    n.pvalloc = (alloc_fn *)find("pvalloc", (void *)boot_alloc);
    n.malloc_usable_size = (usable_fn *)find("malloc_usable_size", (void *)none_usable);
    n.fork = (fork_fn *)find("fork", (void *)first_fork);
    n.async_fork = (fork_fn *)find("_Fork", (void *)first_async_fork);
    n.dlclose = (dlclose_fn *)find("dlclose", (void *)first_dlclose);
    if (!is_glibc(object_of((const void *)n.malloc)))
        staying_in_front(&n);
    dlerror(); // What a failed search left must not reach the program.
    next = n;
    errno = saved_errno;
}

uint32_t
next_usable_mode(void)
{
    // malloc_usable_size may only be asked about blocks of its own object's malloc. Looked up here,
    // because `next` has our own functions as long as a call that this one interrupted resolves it.
    const void *usable = object_of(find("malloc_usable_size", NULL));
    const void *allocator = object_of(find("malloc", NULL));

    bool glibc = is_glibc(usable);

    dlerror(); // What a failed search left must not reach the program.
    if (usable == NULL || usable != allocator)
        return USABLE_NONE;
    return glibc ? USABLE_GLIBC : USABLE_CALL;
}

void *
next_symbol(const char *name, uint64_t caller)
{
    uint32_t busy = tls.busy;
    struct unwind_object o;
    void *f;

    if (busy == BUSY_NO)
        tls.entered = ARCH_SLOT(); // What dlsym allocates and frees comes from further in.
    tls.busy = BUSY_NEXT;
    f = dlsym(RTLD_NEXT, name);
    if (f == NULL && unwind_find_object(caller, &o))
        f = dlsym((void *)(uintptr_t)o.link_map, name);
    dlerror();
    tls.busy = busy;
    return f;
}

/* Does NAME mean ours to everybody? */
static bool
is_ours(const char *name)
{
    uint32_t busy = tls.busy;
    const void *f;

    tls.busy = BUSY_NEXT;
    f = dlsym(RTLD_DEFAULT, name);
    tls.busy = busy;
    return object_of(f) == object_of((const void *)next_is_plain_operator);
}

bool
next_is_plain_operator(const void *f)
{
    static const char library[] = "libstdc++.so.";
    const struct link_map *map = object_of(f);
    const char *name = map != NULL ? strrchr(map->l_name, '/') : NULL;

    // Its operators call malloc and free, and one another, by these names.
    return name != NULL && strncmp(name + 1, library, sizeof library - 1) == 0 &&
           is_ours("malloc") && is_ours("free") && is_ours("_Znwm") && is_ours("_ZdlPv");
}

/* By the name of its object, compared here because a sanitizer may have strstr intercepted and not
 * be ready for it. */
bool
next_is_sanitizer(void)
{
    static const char *const names[] = {"libtsan.", "liblsan.", "libasan.", "libhwasan.",
                                        "libclang_rt."};
    struct unwind_object o;
    const char *path;

    if (!unwind_find_object((uintptr_t)find("malloc", NULL), &o))
        return false;
    path = ((const struct link_map *)o.link_map)->l_name;
    for (const char *at = path; at != NULL && *at != '\0'; at++) {
        for (size_t i = 0; i < countof(names); i++) {
            size_t n = 0;

            while (names[i][n] != '\0' && at[n] == names[i][n])
                n++;
            if (names[i][n] == '\0' && (at == path || at[-1] == '/'))
                return true;
        }
    }
    return false;
}

/* The functions before resolution. The thread that resolves (or one that meets it at work) is
 * served from the boot memory; afterwards the table leads past these. */
#define AFTER_RESOLVE(member, type, boot_result, ...)                                              \
    do {                                                                                           \
        next_resolve();                                                                            \
        return next.member != (type) ? next.member(__VA_ARGS__) : (boot_result);                   \
    } while (0)

static void *
first_malloc(size_t n)
{
    AFTER_RESOLVE(malloc, first_malloc, boot_alloc(n), n);
}

static void *
first_calloc(size_t n, size_t each)
{
    size_t size_bytes;

    next_resolve();
    if (next.calloc != first_calloc)
        return next.calloc(n, each);
    return __builtin_mul_overflow(n, each, &size_bytes) ? NULL : boot_alloc(size_bytes);
}

static void *
first_realloc(void *p, size_t n)
{
    AFTER_RESOLVE(realloc, first_realloc, boot_realloc(p, n), p, n);
}

static void *
first_reallocarray(void *p, size_t n, size_t each)
{
    AFTER_RESOLVE(reallocarray, first_reallocarray, none_reallocarray(p, n, each), p, n, each);
}

static void
first_free(void *p)
{
    next_resolve();
    if (next.free != first_free)
        next.free(p);
}

static int
first_posix_memalign(void **ret_p, size_t align, size_t n)
{
    AFTER_RESOLVE(posix_memalign, first_posix_memalign, ENOMEM, ret_p, align, n);
}

static void *
first_memalign(size_t align, size_t n)
{
    AFTER_RESOLVE(memalign, first_memalign, NULL, align, n);
}

static void *
first_aligned_alloc(size_t align, size_t n)
{
    AFTER_RESOLVE(aligned_alloc, first_aligned_alloc, NULL, align, n);
}

static void *
first_valloc(size_t n)
{
    AFTER_RESOLVE(valloc, first_valloc, NULL, n);
}

static void *
first_pvalloc(size_t n)
{
    AFTER_RESOLVE(pvalloc, first_pvalloc, NULL, n);
}

static size_t
first_usable(void *p)
{
    AFTER_RESOLVE(malloc_usable_size, first_usable, 0, p);
}

static int
first_dlclose(void *handle)
{
    AFTER_RESOLVE(dlclose, first_dlclose, -1, handle);
}

static pid_t
first_fork(void)
{
    AFTER_RESOLVE(fork, first_fork, -1);
}

static pid_t
first_async_fork(void)
{
    AFTER_RESOLVE(async_fork, first_async_fork, -1);
}
