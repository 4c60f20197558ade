/* api.c: implements the functions that the program calls through heaptap.h.
 *
 * The recorder exports one object, heaptap_recorder_v1, a table of functions. Programs reach it
 * through a pointer that the dynamic linker or announce.c fills in. Each function begins an event
 * like the intercepted functions (event.c); its caller is the innermost frame. Other files do the
 * work: heap.c, label.c, request.c, write.c.
 *
 * In a process that is not recorded these functions return at once. They are async-signal-safe: in
 * a handler that has interrupted the recorder, the event is nested, like an event of malloc.
 * Arguments come from the program and may have any value; a NULL name counts as empty. */
#include "entry/api.h"

#include "account/account_state.h"
#include "account/file.h"
#include "account/history.h"
#include "account/label.h"
#include "base/atomics.h"
#include "event/event.h"
#include "event/event_state.h"
#include "event/heap.h"
#include "event/heap_fast_path.h"
#include "event/reentry.h"
#include "event/request.h"
#include "heaptap/language.h"
#include "platform/mem.h"
#include "platform/sys.h"

/* State of one call from the program. */
struct call {
    struct reentry_call guard;
    struct thread *t;
    bool entered;
    uint64_t began;
};

/* Begin a call. Return false if the call cannot be recorded. The caller must call call_ends in
 * either case. */
static bool
call_begins(struct call *c, struct arch_caller caller)
{
    c->guard = reentry_guard(REENTRY_RECORDED, caller);
    c->t = NULL;
    c->entered = false;
    c->began = 0;
    // READY_OFF is temporary in a forked child that has just ended its parent's event; see
    // fork_child.c.
    if (state != NULL && load_acquire(&state->ready) == READY_OFF &&
        event_state()->fork_child_tid == 0)
        return false;
    if (unlikely(!reentry_is_idle()))
        reentry_nest_own(&c->guard);
    if (unlikely(c->guard.kind == REENTRY_LOST))
        return false;
    c->entered = true;
    c->t = reentry_enter_thread_cold(caller.slot);
    if (c->t != NULL)
        c->began = event_begins(c->t);
    return c->t != NULL;
}

static void
call_ends(struct call *c)
{
    if (!c->entered)
        return;
    if (c->t != NULL)
        event_ends(c->t, c->began);
    reentry_leave_cold();
    reentry_end(&c->guard);
}

static uint64_t
handle_of(const heaptap_heap *heap)
{
    return (uint64_t)(uintptr_t)heap;
}

static heaptap_heap *
api_heap_create(const char *name, unsigned skip_frames)
{
    struct arch_caller caller = ARCH_CALLER();
    // A caller that does not use forms may pass any number of frames, and UINT_MAX for all frames.
    unsigned form = skip_frames & ~255u & ~HEAPTAP_DENSE;
    enum heap_form kind = form == (HEAPTAP_LASTING | HEAPTAP_COLLECTED) ? HEAP_COLLECTED
                          : form == HEAPTAP_LASTING                     ? HEAP_LASTS
                                                                        : HEAP_PLAIN;
    struct call call;
    uint64_t handle = 0;

    if (call_begins(&call, caller))
        handle = heap_create(name, kind != HEAP_PLAIN ? skip_frames & 255 : skip_frames, kind,
                             kind != HEAP_PLAIN && (skip_frames & HEAPTAP_DENSE) != 0);
    call_ends(&call);
    return (heaptap_heap *)(uintptr_t)handle;
}

unsigned long
api_collected(heaptap_heap *const *heaps, size_t count)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;
    uint64_t collections = 0;

    if (call_begins(&call, caller)) {
        uint64_t elapsed_ns = sys_clock_ns() - state->start_ns;

        for (size_t i = 0; i < count; i++)
            heap_collected(handle_of(heaps[i]), elapsed_ns);
        collections = add_relaxed(&account_state()->collections, UINT64_C(1)) + 1;
    }
    call_ends(&call);
    return collections;
}

static void
api_heap_destroy(heaptap_heap *heap)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        heap_destroy(call.t, handle_of(heap));
    call_ends(&call);
}

static NOINLINE void
alloc_in_call(heaptap_heap *heap, const void *p, size_t count, size_t bytes,
              struct arch_caller caller)
{
    struct call call;

    if (call_begins(&call, caller))
        heap_alloc(call.t, handle_of(heap), p, count, bytes, caller);
    call_ends(&call);
}

static NOINLINE void
api_alloc_slow(heaptap_heap *heap, const void *p, size_t count, size_t bytes,
               struct arch_caller caller)
{
    struct thread *t;

    if (unlikely(!reentry_is_idle())) {
        alloc_in_call(heap, p, count, bytes, caller);
        return;
    }
    reentry_enter(caller.slot);
    t = tls.self;
    // The condition of frees also admits threads with tls.needs_slow_path set.
    if (unlikely(!fast_path_is_open_to_frees(t))) {
        reentry_leave();
        alloc_in_call(heap, p, count, bytes, caller);
        return;
    }
    t->countdown--;
    heap_alloc(t, handle_of(heap), p, count, bytes, caller);
    tick_if_moved(t);
    reentry_leave();
}

static void
api_alloc(heaptap_heap *heap, const void *p, size_t count, size_t bytes)
{
    struct arch_caller caller = ARCH_CALLER();
    struct thread *t;
    struct heap_block b;

    if (unlikely(!reentry_is_idle()) || unlikely(count != 1) || heap_is_off()) {
        api_alloc_slow(heap, p, count, bytes, caller);
        return;
    }
    reentry_enter(caller.slot);
    // Read tls.self after reentry_enter: before it, a handler may have had events, or may have
    // forked and returned in the child.
    t = tls.self;
    if (unlikely(!fast_path_is_open(t))) {
        reentry_leave();
        api_alloc_slow(heap, p, count, bytes, caller);
        return;
    }
    if (!heap_is_leaf(t, caller)) {
        heap_alloc_miss(handle_of(heap), p, bytes, caller);
        return;
    }
    if (bytes > HEAP_FINE_BYTES) {
        heap_alloc_coarse(handle_of(heap), p, bytes, &t->leaf);
        return;
    }
    switch (heap_fast_path_alloc(t, handle_of(heap), p, bytes, &t->leaf, true, &b)) {
    case HEAP_DONE:
        break;
    case HEAP_TO_FLUSH:
        event_flush();
        break;
    case HEAP_TO_STORE:
        heap_keep_counted(handle_of(heap), p, bytes, b.site, b.birth);
        break;
    case HEAP_MISS:
        heap_alloc_at(handle_of(heap), p, bytes, &t->leaf);
        break;
    }
}

static void
api_resize(heaptap_heap *heap, const void *old, const void *p, size_t bytes)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        heap_resize(call.t, handle_of(heap), old, p, bytes, caller);
    call_ends(&call);
}

static NOINLINE void
api_free_slow(heaptap_heap *heap, const void *p, struct arch_caller caller)
{
    struct call call;

    if (call_begins(&call, caller))
        heap_free(call.t, handle_of(heap), p, caller);
    call_ends(&call);
}

static void
api_free(heaptap_heap *heap, const void *p)
{
    struct arch_caller caller = ARCH_CALLER();
    struct thread *t;
    enum heap_fast_path result;

    if (unlikely(!reentry_is_idle())) {
        api_free_slow(heap, p, caller);
        return;
    }
    reentry_enter(caller.slot);
    t = tls.self; // Read after reentry_enter, as in api_alloc.
    if (unlikely(!fast_path_is_open_to_frees(t))) {
        reentry_leave();
        api_free_slow(heap, p, caller);
        return;
    }
    result = heap_fast_path_free(t, handle_of(heap), p);
    if (unlikely(result == HEAP_MISS))
        heap_free_begun(handle_of(heap), p, caller);
    else if (unlikely(result == HEAP_TO_FLUSH))
        event_flush();
}

static void
api_reset(heaptap_heap *heap)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        heap_reset(call.t, handle_of(heap));
    call_ends(&call);
}

static void
api_backing(heaptap_heap *heap, const void *p, size_t bytes)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        heap_backing(call.t, handle_of(heap), (void *)(uintptr_t)p, bytes, caller);
    call_ends(&call);
}

static void
api_backing_end(heaptap_heap *heap, const void *p)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        heap_backing_end(call.t, handle_of(heap), (void *)(uintptr_t)p, caller);
    call_ends(&call);
}

static void
api_label(const char *key, const char *value)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        label_adopt(label_with(tls.labels, key, value));
    call_ends(&call);
}

static heaptap_labels
api_labels(void)
{
    return tls.labels;
}

static void
api_set_labels(heaptap_labels labels)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        label_adopt(label_checked(labels));
    call_ends(&call);
}

static void
api_phase(const char *name)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        history_snapshot(name, DISK_SNAPSHOT_PHASE);
    call_ends(&call);
}

static void
api_snapshot(const char *name)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        history_snapshot(name, DISK_SNAPSHOT_PROGRAM);
    call_ends(&call);
}

static void
api_start(void)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        request_switch(true);
    call_ends(&call);
}

static void
api_stop(void)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        request_switch(false);
    call_ends(&call);
}

static void
api_max_memory(size_t bytes)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;

    if (call_begins(&call, caller))
        mem_set_limit(bytes);
    call_ends(&call);
}

static int
api_write(int fd, const char *format)
{
    struct arch_caller caller = ARCH_CALLER();
    struct call call;
    int result = -1;

    if (call_begins(&call, caller))
        result = write_profile(fd, format);
    call_ends(&call);
    return result;
}

EXPORT const struct heaptap_recorder heaptap_recorder_v1 = {
    .version = 1,
    .size = sizeof(struct heaptap_recorder),
    .heap_create = api_heap_create,
    .heap_destroy = api_heap_destroy,
    .alloc = api_alloc,
    .resize = api_resize,
    .release = api_free,
    .reset = api_reset,
    .backing = api_backing,
    .backing_end = api_backing_end,
    .label = api_label,
    .labels = api_labels,
    .set_labels = api_set_labels,
    .phase = api_phase,
    .snapshot = api_snapshot,
    .start = api_start,
    .stop = api_stop,
    .max_memory = api_max_memory,
    .write = api_write,
};
