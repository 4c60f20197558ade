/* heap_events.c: the cost of an event of heaptap.h.
 *
 *     heap_events [MILLIONS]
 *
 * Prints one line for each kind of event, with the nanoseconds per event in the best of five
 * rounds. Run it bare for the cost of a call without a recorder, and under `heaptap run` for the
 * cost of recording. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "heaptap/heaptap.h"

enum { LIVE = 1000 };

static heaptap_heap *heap;
static char *const base = (char *)0x100000;
static void *volatile kept;

static void
alloc_and_free(long count)
{
    for (long i = 0; i < count; i++) {
        heaptap_alloc(heap, base, 1, 48);
        heaptap_free(heap, base);
    }
}

static void
alloc_and_free_later(long count)
{
    for (long i = 0; i < count; i++) {
        heaptap_alloc(heap, base + 64 * (i % LIVE), 1, 48);
        heaptap_free(heap, base + 64 * ((i + 1) % LIVE));
    }
    heaptap_reset(heap);
}

static void
alloc_and_reset(long count)
{
    for (long i = 0; i < count; i++) {
        heaptap_alloc(heap, base + 64 * (i % LIVE), 1, 48);
        if (i % LIVE == LIVE - 1)
            heaptap_reset(heap);
    }
    heaptap_reset(heap);
}

static void
alloc_without_address(long count)
{
    for (long i = 0; i < count; i++) {
        heaptap_alloc(heap, NULL, 1, 48);
        if (i % LIVE == LIVE - 1)
            heaptap_reset(heap);
    }
    heaptap_reset(heap);
}

static void
create_and_destroy(long count)
{
    for (long i = 0; i < count; i++)
        heaptap_heap_destroy(heaptap_heap_create("request", 0));
}

static void
malloc_and_free(long count)
{
    for (long i = 0; i < count; i++) {
        kept = malloc(48);
        free(kept);
    }
}

static void
labelled_malloc_and_free(long count)
{
    heaptap_label("tenant", "acme");
    malloc_and_free(count);
    heaptap_label("tenant", NULL);
}

static void
label_and_back(long count)
{
    for (long i = 0; i < count; i++) {
        heaptap_label("tenant", "acme");
        heaptap_label("tenant", NULL);
    }
}

static const struct {
    const char *name;
    void (*run)(long count);
} rows[] = {
    {"alloc + free", alloc_and_free},
    {"alloc + free, 1000 live", alloc_and_free_later},
    {"alloc, reset each 1000", alloc_and_reset},
    {"the same without addresses", alloc_without_address},
    {"heap_create + heap_destroy", create_and_destroy},
    {"malloc + free", malloc_and_free},
    {"malloc + free, labelled", labelled_malloc_and_free},
    {"label and back", label_and_back},
};

static double
seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int
main(int argc, char **argv)
{
    long count = (argc > 1 ? atol(argv[1]) : 1) * 1000000;

    heap = heaptap_heap_create("bench", 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double best = 1e9;

        for (int round = 0; round < 5; round++) {
            double from = seconds();

            rows[i].run(count);
            best = seconds() - from < best ? seconds() - from : best;
        }
        printf("%-28s %8.1f ns\n", rows[i].name, best * 1e9 / (double)count);
    }
    return 0;
}
