/* mem.c: mmap with the advice that mem.h promises. */
#include "monitor/mem.h"

#include <sys/mman.h>

#include "base/atomics.h"
#include "monitor/state.h"
#include "monitor/sys.h"

enum { PAGE_BYTES = 4096, RESIDENT_PAGES = 4096 };

static void
remember(void *address, size_t size_bytes)
{
    uint32_t i = state != NULL ? add_relaxed(&state->region_count, 1u) : LIMIT_REGIONS;

    if (i >= LIMIT_REGIONS)
        return;
    state->regions[i].size_bytes = size_bytes;
    store_release(&state->regions[i].address, address);
}

void *
mem_private(size_t size_bytes)
{
    size_t whole = round_up(size_bytes, PAGE_BYTES);
    void *p = sys_mmap(NULL, whole, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (sys_failed(p))
        return NULL;
    if (sys_madvise(p, whole, MADV_WIPEONFORK) < 0) {
        // Without it (Linux before 4.14) a forked child would write into its parent's profile.
        sys_munmap(p, whole);
        return NULL;
    }
    // Best effort: a kernel without huge pages or without these hints refuses them harmlessly.
    sys_madvise(p, whole, MADV_NOHUGEPAGE);
    sys_madvise(p, whole, MADV_DONTDUMP);
    remember(p, whole);
    return p;
}

void *
mem_reserve(size_t size_bytes)
{
    void *p = sys_mmap(NULL, round_up(size_bytes, PAGE_BYTES), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return sys_failed(p) ? NULL : p;
}

void
mem_release(void *address, size_t size_bytes)
{
    for (uint32_t i = 0;
         state != NULL && i < load_relaxed(&state->region_count) && i < LIMIT_REGIONS; i++)
        if (load_relaxed(&state->regions[i].address) == address)
            store_relaxed(&state->regions[i].address, NULL);
    sys_munmap(address, round_up(size_bytes, PAGE_BYTES));
}

uint64_t
mem_resident(void)
{
    unsigned char present[RESIDENT_PAGES];
    uint64_t pages = 0;

    for (uint32_t i = 0; i < load_relaxed(&state->region_count) && i < LIMIT_REGIONS; i++) {
        const unsigned char *address = load_acquire(&state->regions[i].address);
        uint64_t left = address != NULL ? state->regions[i].size_bytes / PAGE_BYTES : 0;

        while (left > 0) {
            uint64_t some = left < RESIDENT_PAGES ? left : RESIDENT_PAGES;

            if (sys_mincore(address, some * PAGE_BYTES, present) == 0)
                for (uint64_t k = 0; k < some; k++)
                    pages += present[k] & 1;
            address += some * PAGE_BYTES;
            left -= some;
        }
    }
    return pages * PAGE_BYTES;
}
