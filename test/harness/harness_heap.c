/* harness_heap.c: the real allocator behind the recorder. It reuses few addresses often.
 *
 * Each thread has a heap: per size class a list of free blocks, the latest first. A block that
 * another thread frees goes to that thread's heap. malloc and free take no lock. A lock would
 * order the recorder's accesses, and the thread sanitizer would miss its data races.
 *
 *     note, 8 bytes | size word as glibc has it | the block
 *                                               ^ p, sometimes 8 and not 16 bytes aligned
 *
 * In mode glibc, the recorder itself reads the size word. In mode call, it calls heap_usable, and
 * the blocks of every second class cross the ledger's granules. In mode none, it must not call
 * heap_usable.
 *
 * Like libstdc++'s, the operators new and delete call malloc and free. The aligned operators return
 * an address inside the block from malloc. */
#include "harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "allocator/real.h"
#include "base/atomics.h"
#include "entry/entry.h"
#include "event/guard.h"
#include "platform/state.h"

enum {
    CLASSES = 32,
    // Difference between usable sizes. It exceeds a byte's slack, so both forms occur.
    CLASS_STEP = 208,
    HEAPS = 64,
    LUMP_BYTES = 1 << 14,
    OVER_BYTES = 32, // Offset into the block at which over-aligned operators return memory.
};

#define AREA_BYTES ((size_t)1 << 30)

struct heap {
    unsigned char *free[CLASSES];
    unsigned char *next, *end; // Bounds of the memory that new blocks are cut from.
    struct heap_note lost;
    bool has_lost;
};

static struct heap heaps[HEAPS];
static bool heap_used[HEAPS];
static pthread_mutex_t heaps_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct heap *own;
static unsigned char *area;
static size_t area_used; // Atomic.
static enum heap_mode mode;

static uint64_t *
size_word(void *p)
{
    return (uint64_t *)p - 1;
}

struct heap_note *
heap_note(void *p)
{
    return (struct heap_note *)p - 2;
}

static size_t
usable_bytes(void *p)
{
    return (size_t)(*size_word(p) & ~UINT64_C(7)) - 8;
}

static uint32_t
harness_heap_class_of(size_t size_bytes)
{
    return (uint32_t)((size_bytes + CLASS_STEP - 1) / CLASS_STEP);
}

/* Return fresh memory for a block of CLASS. */
static unsigned char *
carve(uint32_t class)
{
    size_t whole = round_up(class * CLASS_STEP + 8, 32) + 32;
    unsigned char *p;

    if ((size_t)(own->end - own->next) < whole) {
        size_t off = add_relaxed(&area_used, (size_t)LUMP_BYTES);

        if (off + LUMP_BYTES > AREA_BYTES)
            abort();
        own->next = area + off;
        own->end = own->next + LUMP_BYTES;
    }
    p = own->next + 32 - (mode == HEAP_CALL && class % 2 == 1 ? 8 : 0);
    own->next += whole;
    *size_word(p) = round_up(class * CLASS_STEP + 8, 16) | 1;
    *heap_note(p) = (struct heap_note){0};
    return p;
}

static void *
heap_malloc(size_t size_bytes)
{
    uint32_t class = harness_heap_class_of(size_bytes);
    unsigned char *p;

    if (size_bytes > HEAP_SIZE_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    p = own->free[class];
    if (p == NULL)
        return carve(class);
    memcpy(&own->free[class], p - 24, sizeof p);
    if (heap_note(p)->path_and_lost & 1) {
        own->lost = *heap_note(p);
        own->has_lost = true;
        heap_note(p)->path_and_lost = 0;
    }
    return p;
}

void
heap_release(void *p)
{
    uint32_t class = harness_heap_class_of(usable_bytes(p) / CLASS_STEP * CLASS_STEP);

    memcpy((unsigned char *)p - 24, &own->free[class], sizeof p);
    own->free[class] = p;
}

bool
heap_take_lost(struct heap_note *ret_note)
{
    bool has = own->has_lost;

    own->has_lost = false;
    *ret_note = own->lost;
    return has;
}

static void *
heap_calloc(size_t count, size_t each_bytes)
{
    void *p = heap_malloc(count * each_bytes);

    return p != NULL ? memset(p, 0, count * each_bytes) : NULL;
}

static void *
heap_realloc(void *p, size_t size_bytes)
{
    void *q;

    if (p == NULL)
        return heap_malloc(size_bytes);
    if (size_bytes == 0) {
        heap_release(p);
        return NULL;
    }
    if (harness_heap_class_of(size_bytes) ==
        harness_heap_class_of(usable_bytes(p) / CLASS_STEP * CLASS_STEP))
        return p;
    q = heap_malloc(size_bytes);
    if (q != NULL)
        heap_release(p);
    return q;
}

static void *
heap_reallocarray(void *p, size_t count, size_t each_bytes)
{
    return tap_realloc(p, count * each_bytes);
}

static int
heap_posix_memalign(void **ret_p, size_t align, size_t size_bytes)
{
    void *p = heap_malloc(size_bytes);

    (void)align;
    if (p == NULL)
        return ENOMEM;
    *ret_p = p;
    return 0;
}

static void *
heap_memalign(size_t align, size_t size_bytes)
{
    (void)align;
    return heap_malloc(size_bytes);
}

static size_t
heap_usable(void *p)
{
    return usable_bytes(p);
}

/* --- The recorder's view of the heap; a preloaded recorder asks the dynamic linker ------------ */

struct real_allocator real = {
    .malloc = heap_malloc,
    .calloc = heap_calloc,
    .realloc = heap_realloc,
    .reallocarray = heap_reallocarray,
    .free = heap_release,
    .posix_memalign = heap_posix_memalign,
    .aligned_alloc = heap_memalign,
    .memalign = heap_memalign,
    .valloc = heap_malloc,
    .pvalloc = heap_malloc,
    .malloc_usable_size = heap_usable,
    .dlclose = dlclose,
};

/* The sanitizer's allocator surrounds the recorder and would be taken for the real allocator. */
bool
real_is_ours(void)
{
    return true;
}

bool
real_is_sanitizer(void)
{
    return false;
}

const struct real_allocator *
real_functions(void)
{
    return &real;
}

/* The sanitizer owns the signals, so the recorder must not handle any. */
void
guard_start(void)
{
}

bool
guard_install_pending(void)
{
    return true;
}

void
real_calls_resolve(void)
{
}

void
real_calls_end(void)
{
}

uint32_t
real_usable_mode(void)
{
    return mode == HEAP_GLIBC ? USABLE_GLIBC : mode == HEAP_CALL ? USABLE_CALL : USABLE_NONE;
}

static void *
operator_new(size_t size_bytes)
{
    return tap_malloc(size_bytes);
}

static void
operator_delete(void *p)
{
    tap_free(p);
}

static void *
operator_new_aligned(size_t size_bytes)
{
    unsigned char *p = tap_malloc(size_bytes + OVER_BYTES);

    return p != NULL ? p + OVER_BYTES : NULL;
}

static void
operator_delete_aligned(void *p)
{
    tap_free((unsigned char *)p - OVER_BYTES);
}

struct real_cxx_operator real_cxx_operators[REAL_OPERATOR_COUNT] = {
    [REAL__Znwm] = {.function = (void *)operator_new},
    [REAL__ZdlPv] = {.function = (void *)operator_delete},
    [REAL__ZnwmSt11align_val_t] = {.function = (void *)operator_new_aligned},
    [REAL__ZdlPvSt11align_val_t] = {.function = (void *)operator_delete_aligned},
};

void
libc_prepare(void)
{
}

void
bypass_look(uint64_t slot)
{
    (void)slot;
}

void
real_resolve(void)
{
}

size_t
real_usable(const void *p)
{
    return real.malloc_usable_size((void *)(uintptr_t)p);
}

void *
real_symbol(const char *name)
{
    (void)name;
    abort();
}

/* --- Thread ids that are reused; replaces the kernel's ---------------------------------------- */

int __wrap_sys_gettid(void);
int __wrap_sys_tgkill(int pid, int tid, int signal);

static uint32_t id_used[HEAPS + 1]; // Atomic.
static __thread int own_id;

void
id_enter(void)
{
    for (int i = 1; i <= HEAPS; i++) {
        uint32_t no = 0;

        if (cas_acq_rel(&id_used[i], &no, 1u)) {
            own_id = i;
            return;
        }
    }
    abort();
}

void
id_leave(void)
{
    store_release(&id_used[own_id], 0u);
}

int
__wrap_sys_gettid(void)
{
    return own_id;
}

int
__wrap_sys_tgkill(int pid, int tid, int signal)
{
    (void)pid;
    if (signal != 0)
        abort();
    return load_acquire(&id_used[tid]) ? 0 : -ESRCH;
}

/* --- Threads --------------------------------------------------------------------------------- */

void
heap_start(enum heap_mode wanted)
{
    mode = wanted;
    area = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        abort();
}

void
heap_area(uintptr_t *ret_from, uintptr_t *ret_to)
{
    *ret_from = (uintptr_t)area;
    *ret_to = *ret_from + load_relaxed(&area_used);
}

void
heap_enter(void)
{
    pthread_mutex_lock(&heaps_lock);
    for (size_t i = 0; i < HEAPS && own == NULL; i++)
        if (!heap_used[i]) {
            heap_used[i] = true;
            own = &heaps[i];
        }
    pthread_mutex_unlock(&heaps_lock);
    if (own == NULL)
        abort();
}

void
heap_leave(void)
{
    pthread_mutex_lock(&heaps_lock);
    heap_used[own - heaps] = false;
    own = NULL;
    pthread_mutex_unlock(&heaps_lock);
}
