/* memory.c: find an address among the regions and read the bytes there.
 *
 * Reading a dump copies bytes from the mapped file. Reading a running process needs a system call,
 * while a heap walk reads single words. So a read from a process fetches a window of bytes around
 * the address, which serves most of the following reads. Memory that the process itself may not
 * read (PROT_NONE, PROT_WRITE) is read through /proc/PID/mem. A window may be stale, because the
 * process runs on. Consistent reads of several values require a stopped process. */
#include "image/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WINDOW_BYTES = 64 << 10 };

struct memory_window {
    int fd; // Of /proc/PID/mem; -1 = not open.
    uint64_t start;
    size_t readable_bytes;
    unsigned char bytes[WINDOW_BYTES];
};

static int
memory_by_start(const void *a, const void *b)
{
    const struct memory_region *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static int
by_mapping(const void *a, const void *b)
{
    const struct memory_mapping *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

void
memory_sort(struct memory *m)
{
    size_t kept = 0;

    if (m->region_count > 1)
        qsort(m->regions, m->region_count, sizeof *m->regions, memory_by_start);
    for (size_t i = 0; i < m->region_count; i++)
        if (m->regions[i].start < m->regions[i].end &&
            (kept == 0 || m->regions[i].start >= m->regions[kept - 1].end))
            m->regions[kept++] = m->regions[i];
    m->region_count = kept;
    if (m->mapping_count > 1)
        qsort(m->mappings, m->mapping_count, sizeof *m->mappings, by_mapping);
    kept = 0;
    for (size_t i = 0; i < m->mapping_count; i++)
        if (m->mappings[i].start < m->mappings[i].end &&
            (kept == 0 || m->mappings[i].start >= m->mappings[kept - 1].end))
            m->mappings[kept++] = m->mappings[i];
    m->mapping_count = kept;
}

void
memory_watch(struct memory *m)
{
    if (m->window == NULL) {
        m->window = xmalloc(sizeof *m->window);
        m->window->fd = -1;
    }
    if (m->window->fd >= 0)
        close(m->window->fd);
    m->window->fd = -1;
    m->window->readable_bytes = 0;
    m->window->start = 0;
}

void
memory_close(struct memory *m)
{
    if (m->bytes != NULL)
        munmap((void *)(uintptr_t)m->bytes, m->size_bytes);
    if (m->window != NULL && m->window->fd >= 0)
        close(m->window->fd);
    free(m->window);
    arena_release(&m->arena);
    *m = (struct memory){0};
}

const struct memory_thread *
memory_first_thread(const struct memory *m)
{
    for (size_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].tid == m->pid)
            return &m->threads[i];
    return NULL;
}

/* Return the index of the first region that ends behind ADDRESS. */
static size_t
region_behind(const struct memory *m, uint64_t address)
{
    size_t low = 0, high = m->region_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (m->regions[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct memory_region *
memory_region_at(const struct memory *m, uint64_t address)
{
    size_t i = region_behind(m, address);

    return i < m->region_count && m->regions[i].start <= address ? &m->regions[i] : NULL;
}

uint64_t
memory_next(const struct memory *m, uint64_t address)
{
    for (size_t i = region_behind(m, address); i < m->region_count; i++) {
        const struct memory_region *r = &m->regions[i];
        uint64_t at = address > r->start ? address : r->start;

        if (at - r->start < r->readable_bytes)
            return at;
    }
    return UINT64_MAX;
}

const struct memory_mapping *
memory_mapping_at(const struct memory *m, uint64_t address)
{
    size_t low = 0, high = m->mapping_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (m->mappings[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->mapping_count && m->mappings[low].start <= address ? &m->mappings[low] : NULL;
}

/* Return the thread or process whose memory is read. */
static uint32_t
memory_reader(const struct memory *m)
{
    return m->snapshot != 0 ? m->snapshot : m->thread;
}

/* Read memory that the process may not read itself, through /proc/PID/mem. Return the number of
 * bytes read, or -1. */
static ssize_t
read_forced(const struct memory *m, uint64_t address, void *buffer, size_t size_bytes)
{
    const struct memory_region *r = memory_region_at(m, address);
    char path[32];

    if (r == NULL || (r->access & MEMORY_READ) || m->window == NULL)
        return -1;
    if (m->window->fd < 0) {
        snprintf(path, sizeof path, "/proc/%" PRIu32 "/mem", memory_reader(m));
        m->window->fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    return m->window->fd < 0 ? -1 : pread(m->window->fd, buffer, size_bytes, (off_t)address);
}

static size_t
read_living(const struct memory *m, uint64_t address, void *buffer, size_t size_bytes)
{
    struct iovec here = {buffer, size_bytes};
    struct iovec remote = {(void *)(uintptr_t)address, size_bytes};
    ssize_t n = process_vm_readv((pid_t)memory_reader(m), &here, 1, &remote, 1, 0);

    if (n < 0 && errno == EFAULT)
        n = read_forced(m, address, buffer, size_bytes);
    return n > 0 ? (size_t)n : 0;
}

/* Return true if W has the SIZE_BYTES at ADDRESS. */
static bool
window_has(const struct memory_window *w, uint64_t address, size_t size_bytes)
{
    return address - w->start < w->readable_bytes &&
           size_bytes <= w->readable_bytes - (address - w->start);
}

/* Return the start of a new window for the SIZE_BYTES at ADDRESS in region R. It ends with the page
 * of the last byte if the reader moves down from W: lists of freed blocks often lead there. */
static uint64_t
window_start(const struct memory_window *w, const struct memory_region *r, uint64_t address,
             size_t size_bytes)
{
    uint64_t last = (address + size_bytes - 1) & ~(uint64_t)4095, down = WINDOW_BYTES - 4096;

    if (address >= w->start || w->start - address > WINDOW_BYTES || last - r->start < down)
        return address & ~(uint64_t)4095;
    return last - down;
}

/* Read SIZE_BYTES at ADDRESS in region R through the window, which is moved if necessary. Return
 * the number of bytes read. */
static size_t
memory_read_window(const struct memory *m, const struct memory_region *r, uint64_t address,
                   void *buffer, size_t size_bytes)
{
    struct memory_window *w = m->window;

    if (w == NULL || size_bytes > WINDOW_BYTES / 4)
        return read_living(m, address, buffer, size_bytes);
    if (!window_has(w, address, size_bytes)) {
        uint64_t start = window_start(w, r, address, size_bytes), left = r->end - start;
        uint64_t wanted = WINDOW_BYTES;

        // A search follows pointers in any order. It needs little at each place.
        if (start == (address & ~(uint64_t)4095) && start != w->start + w->readable_bytes)
            wanted = ((address + size_bytes + 4095) & ~(uint64_t)4095) - start;
        w->start = start;
        wanted = left < wanted ? left : wanted;
        w->readable_bytes = read_living(m, start, w->bytes, (size_t)wanted);
    }
    if (address - w->start >= w->readable_bytes)
        return 0;
    if (size_bytes > w->readable_bytes - (address - w->start))
        size_bytes = w->readable_bytes - (address - w->start);
    memcpy(buffer, w->bytes + (address - w->start), size_bytes);
    return size_bytes;
}

size_t
memory_read(const struct memory *m, uint64_t address, void *buffer, size_t size_bytes)
{
    size_t done = 0;

    // A window lies in one readable region.
    if (m->window != NULL && window_has(m->window, address, size_bytes)) {
        memcpy(buffer, m->window->bytes + (address - m->window->start), size_bytes);
        return size_bytes;
    }
    while (done < size_bytes) {
        const struct memory_region *r = memory_region_at(m, address + done);
        uint64_t within, some;
        size_t got;

        if (r == NULL || address + done - r->start >= r->readable_bytes)
            break;
        within = address + done - r->start;
        some = r->readable_bytes - within;
        if (some > size_bytes - done)
            some = size_bytes - done;
        if (m->lives) {
            got = memory_read_window(m, r, address + done, (char *)buffer + done, (size_t)some);
        } else {
            got = (size_t)some;
            memcpy((char *)buffer + done, m->bytes + r->file_off + within, got);
        }
        done += got;
        if (got < some)
            break;
    }
    return done;
}

bool
memory_word(const struct memory *m, uint64_t address, uint32_t size_bytes, uint64_t *ret)
{
    unsigned char b[8];

    if (size_bytes > sizeof b || memory_read(m, address, b, size_bytes) < size_bytes)
        return false;
    *ret = memory_number(m, b, size_bytes);
    return true;
}

bool
memory_is_variables(const struct memory *m, const struct memory_region *r)
{
    return memory_mapping_at(m, r->start) != NULL ||
           (r->start > 0 && memory_mapping_at(m, r->start - 1) != NULL);
}
