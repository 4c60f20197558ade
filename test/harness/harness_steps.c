/* harness_steps.c: stacks with known paths.
 *
 * A path is a list of kinds of steps; a step is a function that calls the next one. The functions
 * are in a separate section, so that an address in a profile identifies the kind. Each kind has
 * another frame layout: its CFA is found from rsp or from rbp, the stack is realigned, or the size
 * of the frame varies. One kind calls from WIDE places, so that a node gets more children than fit
 * into a cache line. The last kind calls through the library that the harness loads.
 *
 * No two paths are equal, so the kinds of a stack in a profile identify the path. */
#include "harness.h"

#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#define STEP static __attribute__((noinline, section("harness_steps"))) void

enum { WIDE = 32 };

struct walk {
    const struct path *path;
    uint32_t at, variant;
    plugin_fn *plugin;
    void (*deed)(void *);
    void *argument;
};

typedef void step_fn(struct walk *w);
static step_fn *const step_of[STEP_KINDS];

extern const unsigned char __stop_harness_steps[];

struct path paths[PATHS];

/* Call the rest of the path. The empty statement after the call prevents a tail call. */
#define GO_ON(w)                                                                                   \
    do {                                                                                           \
        if ((w)->at == (w)->path->depth)                                                           \
            (w)->deed((w)->argument);                                                              \
        else                                                                                       \
            step_of[(w)->path->steps[(w)->at++]](w);                                               \
        __asm__ volatile("");                                                                      \
    } while (0)

STEP
step_plain(struct walk *w)
{
    GO_ON(w);
}

STEP
step_registers(struct walk *w)
{
    uint64_t a = w->at, b = w->variant, c = a * b;

    GO_ON(w);
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c));
}

STEP
step_alloca(struct walk *w)
{
    char *some = alloca(16 + w->variant % 512);

    __asm__ volatile("" : : "r"(some));
    GO_ON(w);
}

STEP
step_realigned(struct walk *w)
{
    _Alignas(64) char some[64];

    __asm__ volatile("" : : "r"(some));
    GO_ON(w);
}

STEP
step_realigned_alloca(struct walk *w)
{
    _Alignas(64) char some[64];
    char *more = alloca(16 + w->variant % 256);

    __asm__ volatile("" : : "r"(some), "r"(more));
    GO_ON(w);
}

STEP
step_large(struct walk *w)
{
    char some[3000];

    __asm__ volatile("" : : "r"(some));
    GO_ON(w);
}

/* Every case contains its number; otherwise the compiler would merge them. */
#define PLACE(n)                                                                                   \
    case n:                                                                                        \
        GO_ON(w);                                                                                  \
        __asm__ volatile("# place %0" : : "i"(n));                                                 \
        break;
#define PLACES_4(n) PLACE(n) PLACE((n) + 1) PLACE((n) + 2) PLACE((n) + 3)
#define PLACES_16(n) PLACES_4(n) PLACES_4((n) + 4) PLACES_4((n) + 8) PLACES_4((n) + 12)

STEP
step_wide(struct walk *w)
{
    // LONG: thirty-two calls from thirty-two places.
    switch ((w->variant >> w->at) % WIDE) {
        PLACES_16(0)
        PLACES_16(16)
    default:
        abort();
    }
}

static void
from_plugin(void *argument)
{
    struct walk *w = argument;

    GO_ON(w);
}

static void
step_plugin(struct walk *w)
{
    w->plugin(from_plugin, w);
    __asm__ volatile("");
}

static step_fn *const step_of[STEP_KINDS] = {
    step_plain, step_registers, step_alloca, step_realigned, step_realigned_alloca,
    step_large, step_wide,      step_plugin,
};

int
step_at(uint64_t address)
{
    int found = -1;

    if (address >= (uintptr_t)__stop_harness_steps)
        return -1;
    for (int i = 0; i < STEP_PLUGIN; i++) {
        uint64_t start = (uintptr_t)step_of[i];

        if (start <= address && (found < 0 || start > (uintptr_t)step_of[found]))
            found = i;
    }
    return found;
}

static bool
is_known(const struct path *p, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (paths[i].depth == p->depth && memcmp(paths[i].steps, p->steps, p->depth) == 0)
            return true;
    return false;
}

void
paths_make(uint64_t seed)
{
    for (uint32_t i = 0; i < PATHS;) {
        struct path p = {.depth = (uint8_t)(2 + (seed >> 60) % (PATH_DEPTH - 1))};

        for (uint32_t k = 0; k < p.depth; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            p.steps[k] = (uint8_t)((seed >> 33) % STEP_PLUGIN);
        }
        if (i >= PATHS - PLUGIN_PATHS)
            p.steps[p.depth / 2] = STEP_PLUGIN;
        if (!is_known(&p, i))
            paths[i++] = p;
    }
}

void
path_walk(const struct path *path, uint32_t variant, plugin_fn *plugin, void (*deed)(void *),
          void *argument)
{
    struct walk w = {path, 0, variant, plugin, deed, argument};

    GO_ON(&w);
}
