/* hook_entries_interposed.c: records functions whose names are chosen at run time.
 *
 *     program ─► je_malloc: a stub, first in link order ─► entry for its shape ─► next je_malloc
 *                 (a library that the tool has written,        (hook_entries.h)
 *                  base/hook_slot.h)
 *
 * The next function is looked up at the start and, if it is missing then, at the first call. So the
 * lookup finds functions loaded by dlopen. A name without a definition gets a function that fails
 * allocations and ignores frees; hook_names_interposed.c hides such names from most programs.
 *
 * An allocator may implement malloc by a hooked function. Such a call has a return address in the
 * allocator's code or, after a tail call, in the recorder's code. The recorder detects such a call
 * and does not record the block twice.
 *
 * Calls that do not use the function's dynamic name are not recorded: calls inside the library or
 * executable that defines it, and inlined calls. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "entry/entry.h"
#include "entry/hook_entries.h"
#include "platform/sys.h"
#include "unwind/unwind.h"

/* Ranges of code that may call a hooked function to implement malloc. */
static struct code {
    uint64_t start, size_bytes;
} ours, allocators;

static uintptr_t
nobody(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)
{
    (void)a, (void)b, (void)c, (void)d, (void)e;
    errno = ENOMEM;
    return 0;
}

/* Mark the function of SLOT as existing and called. The mark is in the library of stubs, where the
 * tool reads it. */
static COLD void
mark_called(const struct hook_slot *slot)
{
    uint64_t page = slot->mark_off & ~(uint64_t)(HOOK_MARK_PAGE_BYTES - 1);
    const char *path = NULL;
    struct unwind_object o;
    struct stat st;
    uint8_t *marks;
    int fd;

    if (!sys_is_quiet() && unwind_find_object((uintptr_t)slot, &o))
        path = ((const struct link_map *)o.link_map)->l_name;
    fd = path != NULL ? sys_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0) : -1;
    if (fd < 0)
        return;
    if (sys_fstat(fd, &st) == 0 && (uint64_t)st.st_size >= page + HOOK_MARK_PAGE_BYTES) {
        marks = sys_mmap(NULL, HOOK_MARK_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, page);
        if (!sys_failed(marks)) {
            store_relaxed(&marks[slot->mark_off - page], (uint8_t)1);
            sys_munmap(marks, HOOK_MARK_PAGE_BYTES);
        }
    }
    sys_close(fd);
}

static struct code
code_around(const void *address)
{
    struct unwind_object o;

    if (!unwind_find_object((uintptr_t)address, &o))
        return (struct code){0};
    return (struct code){o.start, o.end - o.start};
}

/* Find the code ranges above. Call before any other function here. */
static void
find_allocator(void)
{
    struct code libc, found;

    real_calls_resolve();
    libc = code_around((const void *)real.dlclose);
    // real_calls may put a guarded function into `real`, so use the original functions.
    found = code_around((const void *)real_functions()->malloc);
    ours = code_around((const void *)real_calls_resolve);
    if (found.start != libc.start)
        allocators = found;
}

static COLD hooked_fn *
look_up(struct hook_slot *slot)
{
    void *f = (void *)(uintptr_t)load_relaxed(&slot->found);

    if (f == NULL && (f = hook_names_find(slot)) == NULL)
        return nobody;
    mark_called(slot);
    find_allocator();
    store_release(&slot->function, (uint64_t)(uintptr_t)f);
    return (hooked_fn *)f;
}

INLINE void
hooks_find_function(struct call *c)
{
    c->function = (hooked_fn *)(uintptr_t)load_acquire(&c->slot->function);
    if (unlikely(c->function == NULL))
        c->function = look_up(c->slot);
}

INLINE bool
hooks_is_for_malloc(const struct call *c)
{
    uint64_t return_address = *(const uint64_t *)(uintptr_t)c->caller.slot;

    return return_address - ours.start < ours.size_bytes ||
           return_address - allocators.start < allocators.size_bytes;
}

extern hook_entry_fn *const heaptap_hooks[HOOK_ENTRIES];

EXPORT hook_entry_fn *const heaptap_hooks[HOOK_ENTRIES] = {
    [HOOK_MALLOC] = enter_malloc,
    [HOOK_CALLOC] = enter_calloc,
    [HOOK_MEMALIGN] = enter_memalign,
    [HOOK_POSIX_MEMALIGN] = enter_posix_memalign,
    [HOOK_REALLOC] = enter_realloc,
    [HOOK_REALLOCARRAY] = enter_reallocarray,
    [HOOK_RUST_REALLOC] = enter_rust_realloc,
    [HOOK_HEAP_CALLOC] = enter_heap_calloc,
    [HOOK_HEAP_REALLOC] = enter_heap_realloc,
    [HOOK_STRDUP] = enter_strdup,
    [HOOK_STRNDUP] = enter_strndup,
    [HOOK_FREE] = enter_free,
    [HOOK_HEAP_FREE] = enter_heap_free,
    [HOOK_BEGIN] = hook_names_begin,
    [HOOK_BIND] = hook_names_bind,
};
