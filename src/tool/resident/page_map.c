/* page_map.c: which pages of a process are in memory.
 *
 * /proc/PID/smaps has the resident bytes of each range of addresses, and /proc/PID/pagemap a word
 * for each page (Documentation/admin-guide/mm/pagemap.rst of the kernel):
 *
 *     bit 63    the page is present
 *     bit 56    no other process maps it
 *
 * A page that was read before it was written to is present, but is the kernel's only page of
 * zeros, which no counter of resident memory includes. Such a page lacks bit 56, as does a page
 * that a forked child still shares. smaps shows how many pages are of zeros: present minus resident
 * ones. The last pages without bit 56 are taken for them, so the sum of an area is always right.
 *
 * Pages of an area are read when they are first needed: the recorder and other programs reserve
 * ranges of terabytes. */
#include "resident/page_map.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Areas with more pages than this are counted without their pages: 64 GiB.
enum { AREA_PAGES_MAX = 1 << 24, ENTRIES = 8192 };

#define ENTRY_PRESENT (UINT64_C(1) << 63)
#define ENTRY_EXCLUSIVE (UINT64_C(1) << 56)

enum page_state { PAGE_ABSENT = 0, PAGE_RESIDENT, PAGE_MAYBE_ZEROS };

/* --- Areas -------------------------------------------------------------------------------- */

/* Read LINE of smaps, "Rss:   12 kB", about area A. */
static void
page_map_read_detail(struct page_area *a, const char *line)
{
    uint64_t kilobytes;

    if (sscanf(line, "Rss: %" SCNu64, &kilobytes) == 1)
        a->resident_bytes = kilobytes << 10;
    else if (sscanf(line, "Pss: %" SCNu64, &kilobytes) == 1)
        a->proportional_bytes = kilobytes << 10;
    else if (sscanf(line, "Swap: %" SCNu64, &kilobytes) == 1)
        a->swapped_bytes = kilobytes << 10;
    else if (sscanf(line, "AnonHugePages: %" SCNu64, &kilobytes) == 1)
        a->huge_bytes = kilobytes << 10;
    if (strncmp(line, "VmFlags:", 8) == 0)
        a->has_recorder_flags =
            strstr(line, " wf") != NULL ||
            (strstr(line, " dd") != NULL &&
             (strstr(line, " nr") != NULL || strstr(line, " sh") != NULL));
}

static void
page_map_read_line(struct page_map *m, char *line)
{
    struct page_area a = {.path = ""};
    char access[5];
    int path_at = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &a.start, &a.end, access,
               &path_at) < 3 || path_at == 0) {
        if (m->area_count > 0)
            page_map_read_detail(&m->areas[m->area_count - 1], line);
        return;
    }
    a.path = arena_strdup(m->arena, line + path_at);
    a.writable = access[1] == 'w';
    a.executable = access[2] == 'x';
    a.shared = access[3] == 's';
    arena_grow(m->arena, &m->areas, &m->capacity, m->area_count, sizeof *m->areas);
    m->areas[m->area_count++] = a;
}

bool
page_map_open(uint32_t thread, struct arena *arena, struct page_map *ret)
{
    char path[64], *line = NULL;
    size_t line_bytes = 0;
    FILE *f;

    *ret = (struct page_map){.arena = arena, .fd = -1};
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/smaps", thread);
    f = fopen(path, "re");
    if (f == NULL)
        return false;
    while (getline(&line, &line_bytes, f) > 0)
        page_map_read_line(ret, line);
    free(line);
    fclose(f);
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/pagemap", thread);
    ret->fd = open(path, O_RDONLY | O_CLOEXEC);
    return ret->area_count > 0;
}

void
page_map_close(struct page_map *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}

struct page_area *
page_map_area(const struct page_map *m, uint64_t address)
{
    size_t low = 0, high = m->area_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (m->areas[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->area_count && m->areas[low].start <= address ? &m->areas[low] : NULL;
}

/* --- Pages -------------------------------------------------------------------------------- */

/* Store the state of each of A's COUNT pages in STATES. Return false if they cannot be read. */
static bool
read_states(const struct page_map *m, const struct page_area *a, uint8_t *states, size_t count)
{
    uint64_t *entries = xmalloc(ENTRIES * sizeof *entries);
    bool done = true;

    for (size_t i = 0; i < count && done; i += ENTRIES) {
        size_t some = count - i < ENTRIES ? count - i : ENTRIES;
        off_t at = (off_t)((a->start / PAGE_MAP_PAGE_BYTES + i) * sizeof *entries);

        done = pread(m->fd, entries, some * sizeof *entries, at) ==
               (ssize_t)(some * sizeof *entries);
        for (size_t k = 0; k < some && done; k++)
            states[i + k] = !(entries[k] & ENTRY_PRESENT)    ? PAGE_ABSENT
                            : entries[k] & ENTRY_EXCLUSIVE ? PAGE_RESIDENT
                                                           : PAGE_MAYBE_ZEROS;
    }
    free(entries);
    return done;
}

/* Fill in A's `before`, or set `pages_unknown`. */
static void
read_pages(struct page_map *m, struct page_area *a)
{
    size_t count = (a->end - a->start) / PAGE_MAP_PAGE_BYTES, certain = 0, maybe;
    uint8_t *states;

    a->pages_unknown = true;
    if (count > AREA_PAGES_MAX || m->fd < 0)
        return;
    states = xmalloc(count + 1);
    if (read_states(m, a, states, count)) {
        a->pages_unknown = false;
        a->before = arena_array(m->arena, count + 1, sizeof *a->before);
        for (size_t i = 0; i < count; i++)
            certain += states[i] == PAGE_RESIDENT;
        maybe = a->resident_bytes / PAGE_MAP_PAGE_BYTES;
        maybe -= maybe < certain ? maybe : certain;
        for (size_t i = 0; i < count; i++) {
            bool resident = states[i] == PAGE_RESIDENT;

            if (states[i] == PAGE_MAYBE_ZEROS && maybe > 0) {
                resident = true;
                maybe--;
            }
            a->before[i + 1] = a->before[i] + resident;
        }
    }
    free(states);
}

/* Return the resident bytes of A in [START, END), which lies in A. */
static uint64_t
resident_in(struct page_map *m, struct page_area *a, uint64_t start, uint64_t end)
{
    size_t first = (start - a->start) / PAGE_MAP_PAGE_BYTES;
    size_t last = (end - 1 - a->start) / PAGE_MAP_PAGE_BYTES;
    uint64_t bytes;

    if (a->resident_bytes == 0)
        return 0;
    if (a->before == NULL && !a->pages_unknown)
        read_pages(m, a);
    if (a->pages_unknown)
        return end - start < a->resident_bytes ? end - start : a->resident_bytes;
    bytes = (uint64_t)(a->before[last + 1] - a->before[first]) * PAGE_MAP_PAGE_BYTES;
    if (a->before[first + 1] != a->before[first])
        bytes -= (start - a->start) % PAGE_MAP_PAGE_BYTES;
    if (a->before[last + 1] != a->before[last])
        bytes -= (PAGE_MAP_PAGE_BYTES - (end - a->start) % PAGE_MAP_PAGE_BYTES) %
                 PAGE_MAP_PAGE_BYTES;
    return bytes;
}

/* Return the resident bytes of [START, END). If TAKE, mark them as counted. */
static uint64_t
page_map_count(struct page_map *m, uint64_t start, uint64_t end, bool take)
{
    uint64_t sum = 0;

    while (start < end) {
        struct page_area *a = page_map_area(m, start);
        uint64_t until, bytes;

        if (a == NULL)
            break;
        until = end < a->end ? end : a->end;
        bytes = resident_in(m, a, start, until);
        if (take && bytes > a->resident_bytes - a->counted_bytes)
            bytes = a->resident_bytes - a->counted_bytes;
        a->counted_bytes += take ? bytes : 0;
        sum += bytes;
        start = until;
    }
    return sum;
}

uint64_t
page_map_resident(struct page_map *m, uint64_t start, uint64_t end)
{
    return page_map_count(m, start, end, false);
}

uint64_t
page_map_take(struct page_map *m, uint64_t start, uint64_t end)
{
    return page_map_count(m, start, end, true);
}
