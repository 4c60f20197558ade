/* page_map.h: which pages of a running process are in memory, from /proc. */
#ifndef RESIDENT_PAGE_MAP_H
#define RESIDENT_PAGE_MAP_H

#include "util/arena.h"

enum { PAGE_MAP_PAGE_BYTES = 4096 };

/* A range of addresses as the kernel lists it. */
struct page_area {
    uint64_t start, end;
    uint64_t resident_bytes, proportional_bytes, swapped_bytes, huge_bytes;
    const char *path; // As in /proc: a file, "[heap]", …; "" = none.
    bool writable, executable, shared;
    // The kernel shows flags that the recorder sets: wiped in forked children; or excluded from
    // dumps, and reserved only or shared.
    bool has_recorder_flags;
    // Resident pages before each page of the area; NULL = not read yet, or pages are unknown.
    uint32_t *before;
    bool pages_unknown;
    uint64_t counted_bytes; // Resident bytes that page_map_take has returned.
};

struct page_map {
    struct page_area *areas; // By address.
    size_t area_count, capacity;
    struct arena *arena;
    int fd; // Of /proc/PID/pagemap; -1 = unreadable.
};

/* Read the areas of THREAD's process into *RET, whose memory is from ARENA. Returns false if they
 * cannot be read. The process should be stopped until page_map_close. */
bool page_map_open(uint32_t thread, struct arena *arena, struct page_map *ret);
void page_map_close(struct page_map *m);

/* Return the area that contains ADDRESS, or NULL. */
struct page_area *page_map_area(const struct page_map *m, uint64_t address);

/* Return the number of resident bytes in [START, END). A page counts for the part of it that the
 * range covers. If the pages of an area are unknown, all its bytes count, at most as many as are
 * resident. */
uint64_t page_map_resident(struct page_map *m, uint64_t start, uint64_t end);

/* Like page_map_resident, and mark these bytes as counted in their areas. */
uint64_t page_map_take(struct page_map *m, uint64_t start, uint64_t end);

#endif
