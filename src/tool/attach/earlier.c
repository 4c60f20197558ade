/* earlier.c: count the blocks that a process has before a recorder is attached.
 *
 * The recorder does not know these blocks, so they are counted from outside, by a walk over glibc's
 * heaps. A walk reads the whole heap, so it must not be part of a stop. The process runs meanwhile:
 * chunks are split and merged during the walk, and the number belongs to no single moment. A walk
 * that loses its way is repeated.
 *
 * Rejected: a copy of the process by fork. It would be exact, but the kernel would copy each page
 * that the process writes next, and a tool that is killed would leave a child behind. */
#include "attach/earlier.h"

#include <inttypes.h>
#include <stdio.h>

#include "image/glibc_heap.h"
#include "image/live_memory.h"

/* Small heaps are walked more often, until all walks have read WALKED_BYTES. */
enum { WALKS_MIN = 3, WALKS_MAX = 200 };
#define WALKED_BYTES (UINT64_C(512) << 20)

/* Largest heap that is walked. The list of blocks needs memory in turn. */
#define HEAP_BYTES_MAX (UINT64_C(2) << 30)

/* Return the private memory of process PID in bytes; UINT64_MAX if it is unknown. */
static uint64_t
private_bytes(uint32_t pid)
{
    uint64_t kib = 0, found = UINT64_MAX;
    char line[256];
    FILE *f;

    snprintf(line, sizeof line, "/proc/%" PRIu32 "/status", pid);
    f = fopen(line, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "RssAnon: %" SCNu64, &kib) == 1)
            found = kib << 10;
    if (f != NULL)
        fclose(f);
    return found;
}

/* Walk the heaps of M once and store the numbers in HOW. Return false if another walk may find
 * more. */
static bool
walk(struct memory *m, struct attach_how *how)
{
    struct arena arena = {0};
    struct glibc_heap heap;
    bool is_last;

    glibc_heap_read(m, &arena, &heap);
    for (size_t i = 0; heap.whole && i < heap.count; i++)
        how->earlier_bytes += heap.v[i].usable_bytes;
    how->earlier_blocks = heap.whole ? heap.count : 0;
    is_last = heap.whole || !heap.found;
    arena_release(&arena);
    return is_last;
}

void
earlier_count(uint32_t pid, struct attach_how *how)
{
    uint64_t heap_bytes = private_bytes(pid), walks;
    struct memory m;

    how->earlier_blocks = how->earlier_bytes = 0;
    if (heap_bytes > HEAP_BYTES_MAX || live_memory_open(pid, &m, NULL) != 0)
        return;
    walks = WALKED_BYTES / (heap_bytes + 1);
    walks = walks < WALKS_MIN ? WALKS_MIN : walks > WALKS_MAX ? WALKS_MAX : walks;
    for (uint64_t i = 0; i < walks && !walk(&m, how); i++)
        live_memory_renew(&m);
    memory_close(&m);
}
