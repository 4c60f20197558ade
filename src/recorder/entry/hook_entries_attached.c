/* hook_entries_attached.c: records functions that a tool has patched in a running process.
 *
 *     program ─► je_malloc: a jump ─► stub ─► entry for its shape ─► trampoline ─► je_malloc
 *                             (attach/hooked.c)     (hook_entries.h)
 *
 * The stub loads the address of the slot, which has the trampoline. All calls of a function lead
 * through its first instructions, so the recorder also gets calls from the allocator itself. Its
 * inner calls are part of the outer event, as they are for any real allocator (event/reentry.c).
 *
 * A function of the real allocator may call a hooked one to implement malloc. Such a call has a
 * return address in the allocator's library or, after a tail call, in the recorder. It is not
 * recorded twice. An allocator in the program shares the range of the program: there the guards
 * of guarded_next.c recognise inner calls. */
#define HOOK_ENTRY static __attribute__((used))

#include "entry/hook_entries.h"
#include "platform/arch_x86_64.h"
#include "platform/attached.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

INLINE void
hooks_find_function(struct call *c)
{
    c->function = (hooked_fn *)(uintptr_t)c->slot->function;
}

INLINE bool
hooks_is_for_malloc(const struct call *c)
{
    const struct attach_request *q = &heaptap_attach_request;
    uint64_t return_address = *(const uint64_t *)(uintptr_t)c->caller.slot;

    return return_address - (uintptr_t)__ehdr_start < (uintptr_t)(_end - __ehdr_start) ||
           return_address - q->allocator_start < q->allocator_bytes;
}

// The first entry of each function checks the owner of the thread's words (entry_attached.c).
#define ENTRIES(X)                                                                                 \
    X(HOOK_MALLOC, enter_malloc)                                                                   \
    X(HOOK_CALLOC, enter_calloc)                                                                   \
    X(HOOK_MEMALIGN, enter_memalign)                                                               \
    X(HOOK_POSIX_MEMALIGN, enter_posix_memalign)                                                   \
    X(HOOK_REALLOC, enter_realloc)                                                                 \
    X(HOOK_REALLOCARRAY, enter_reallocarray)                                                       \
    X(HOOK_RUST_REALLOC, enter_rust_realloc)                                                       \
    X(HOOK_HEAP_CALLOC, enter_heap_calloc)                                                         \
    X(HOOK_HEAP_REALLOC, enter_heap_realloc)                                                       \
    X(HOOK_STRDUP, enter_strdup)                                                                   \
    X(HOOK_STRNDUP, enter_strndup)                                                                 \
    X(HOOK_FREE, enter_free)                                                                       \
    X(HOOK_HEAP_FREE, enter_heap_free)

#define ENTRY(shape, name)                                                                         \
    hook_entry_fn heaptap_attached_##name;                                                         \
    ARCH_ATTACHED_ENTRY(name);
ENTRIES(ENTRY)

extern hook_entry_fn *const heaptap_attached_hooks[HOOK_SHAPES];

#define ELEMENT(shape, name) [shape] = heaptap_attached_##name,
EXPORT hook_entry_fn *const heaptap_attached_hooks[HOOK_SHAPES] = {ENTRIES(ELEMENT)};
