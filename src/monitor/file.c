/* file.c: creating and growing the profile.
 *
 * Each table has address space for its maximum from the start; a front part of it is mapped from
 * the file, segment by segment. So an index is an address, and the file stays dense and small.
 *
 * No descriptor is kept, because daemons close and reuse them: growing opens the file by its
 * absolute path, checks that it is still the same inode, reserves the blocks (so that a full disk
 * is noticed here and not as SIGBUS at a store), maps them, closes. When that fails the table
 * goes on in anonymous memory, once and for all tables: the live view and the counts stay whole,
 * the file says that it ends here.
 *
 * Concurrency: the space in the file and the directory entry are taken with atomic additions; one
 * thread at a time grows a table (`growing`), others wait a bounded while. Order of publication:
 * mapping, then the directory entry's fields, then its kind.
 */
#include "monitor/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/atomics.h"
#include "monitor/mem.h"
#include "monitor/output.h"
#include "monitor/sys.h"

/* Below this a table doubles, above it grows by half: few segments, little left over. */
enum { DOUBLE_BELOW_BYTES = 1 << 20 };

/* Where a table starts and ends. First sizes are such that a small program never grows anything. */
static const struct {
    uint32_t kind;
    uint32_t record_bytes;
    uint32_t first_bytes;
    uint64_t max_bytes;
} layout[] = {
    {DISK_STRINGS, 1, 8 << 10, LIMIT_STRINGS},
    {DISK_MODULES, sizeof(struct disk_module), 4 << 10, sizeof(struct disk_module) * LIMIT_MODULES},
    {DISK_NODES, sizeof(struct disk_node), 16 << 10,
     sizeof(struct disk_node) * (uint64_t)LIMIT_NODES},
    {DISK_COUNTERS, sizeof(struct disk_block), 32 << 10, LIMIT_COUNTER_BYTES},
    {DISK_THREADS, sizeof(struct disk_thread), 4 << 10, sizeof(struct disk_thread) * LIMIT_THREADS},
    {DISK_BINS, sizeof(struct disk_bins), 48 << 10,
     sizeof(struct disk_bins) * (uint64_t)LIMIT_THREADS},
    {DISK_TIMELINE, sizeof(struct disk_time_point), 24 << 10,
     sizeof(struct disk_time_point) * LIMIT_TIME_POINTS},
    {DISK_UNKNOWN_FREES, sizeof(struct disk_unknown_free), 4 << 10,
     sizeof(struct disk_unknown_free) * LIMIT_UNKNOWN_FREES},
};

static void
publish_segment(const struct table *t, uint64_t file_off, uint64_t table_off, uint64_t size_bytes)
{
    struct disk_segment *directory =
        (struct disk_segment *)(void *)((unsigned char *)state->header + DISK_DIRECTORY_OFF);
    uint32_t index = add_relaxed(&state->segment_count, 1u);
    struct disk_segment *s = &directory[index];

    if (index >= DISK_SEGMENT_MAX) {
        or_relaxed(&state->header->process_flags, (uint32_t)DISK_PROCESS_FILE_FAILED);
        return;
    }
    s->off = file_off;
    s->stored_bytes = size_bytes;
    s->bytes = size_bytes;
    s->table_off = table_off;
    s->record_bytes = t->record_bytes;
    store_release(&s->kind, t->kind);
}

static bool
map_file(int fd, unsigned char *where, uint64_t file_off, uint64_t size_bytes)
{
    void *p =
        sys_mmap(where, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, file_off);

    if (sys_failed(p))
        return false;
    sys_madvise(p, size_bytes, MADV_DONTFORK);
    sys_madvise(p, size_bytes, MADV_DONTDUMP);
    return true;
}

/* Reserve [OFF, OFF + SIZE_BYTES) of the file. A file system without fallocate gets a sparse
 * file: there a full disk cannot be noticed beforehand (docs/format.md, section 6). */
static bool
reserve_blocks(int fd, uint64_t off, uint64_t size_bytes)
{
    struct stat st;
    int r;

    // Beyond the limit the kernel would not only refuse but send SIGXFSZ, which kills.
    if (off + size_bytes > output_limit(RLIMIT_FSIZE))
        return false;
    r = sys_fallocate(fd, off, size_bytes);
    if (r != -EOPNOTSUPP && r != -ENOSYS)
        return r == 0;
    return sys_fstat(fd, &st) == 0 &&
           ((uint64_t)st.st_size >= off + size_bytes || sys_ftruncate(fd, off + size_bytes) == 0);
}

/* Open the file again; a negative error number if it is not ours any more. */
static int
reopen(void)
{
    struct stat st;
    int fd = sys_open(state->path, O_RDWR | O_NOFOLLOW, 0);

    if (fd < 0)
        return fd;
    if (sys_fstat(fd, &st) == 0 && (uint64_t)st.st_dev == state->device &&
        (uint64_t)st.st_ino == state->inode)
        return fd;
    sys_close(fd);
    return -ENOENT;
}

static void
file_fails(const char *message)
{
    if (add_relaxed(&state->file_failed, 1u) != 0)
        return;
    or_relaxed(&state->header->process_flags, (uint32_t)DISK_PROCESS_FILE_FAILED);
    output_message(message, state->path);
}

static bool
grow_from_file(struct table *t, uint64_t table_off, uint64_t size_bytes)
{
    uint64_t file_off;
    bool mapped;
    int fd;

    if (load_relaxed(&state->file_failed))
        return false;
    fd = reopen();
    if (fd < 0)
        return false;
    file_off = add_relaxed(&state->file_end, size_bytes);
    mapped = reserve_blocks(fd, file_off, size_bytes) &&
             map_file(fd, t->base + table_off, file_off, size_bytes);
    sys_close(fd);
    if (mapped)
        publish_segment(t, file_off, table_off, size_bytes);
    return mapped;
}

/* Zeroed memory that a forked child does not see in place of the file's. */
static bool
map_memory(unsigned char *where, uint64_t size_bytes)
{
    void *p = sys_mmap(where, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

    if (sys_failed(p))
        return false;
    sys_madvise(p, size_bytes, MADV_DONTFORK);
    sys_madvise(p, size_bytes, MADV_DONTDUMP);
    return true;
}

static bool
grow_in_memory(struct table *t, uint64_t table_off, uint64_t size_bytes)
{
    file_fails("the profile cannot grow (disk full, or the file was removed); "
               "recording goes on in memory only, see `heaptap report`: ");
    return map_memory(t->base + table_off, size_bytes);
}

/* Map more of T. Called by the one thread that set `growing`. */
static COLD void
grow(struct table *t)
{
    uint64_t table_off = t->mapped_bytes;
    uint64_t size_bytes =
        table_off < DOUBLE_BELOW_BYTES ? table_off : round_up(table_off / 2, DISK_PAGE_BYTES);

    if (table_off + size_bytes > t->max_bytes)
        size_bytes = t->max_bytes - table_off;
    if (size_bytes == 0 ||
        (!grow_from_file(t, table_off, size_bytes) && !grow_in_memory(t, table_off, size_bytes))) {
        store_relaxed(&t->full, 1u);
        return;
    }
    store_release(&t->mapped_bytes, table_off + size_bytes);
}

static COLD bool
wait_until_mapped(struct table *t, uint64_t end_bytes)
{
    uint64_t mask = sys_block_signals();

    for (uint32_t i = 0; i < LIMIT_GROW_WAITS && !load_relaxed(&t->full); i++) {
        uint32_t idle = 0;

        if (load_acquire(&t->mapped_bytes) >= end_bytes)
            break;
        if (cas_acq_rel(&t->growing, &idle, 1u)) {
            if (load_acquire(&t->mapped_bytes) < end_bytes)
                grow(t);
            store_release(&t->growing, 0u);
        } else {
            sys_wait(i);
        }
    }
    sys_unblock_signals(mask);
    return load_acquire(&t->mapped_bytes) >= end_bytes;
}

uint64_t
table_take(struct table *t, uint64_t count)
{
    uint64_t index;

    if (unlikely(load_relaxed(&t->full)))
        return TABLE_NONE;
    index = add_relaxed(&t->used, count);
    if (likely((index + count) * t->record_bytes <= load_acquire(&t->mapped_bytes)))
        return index;
    return wait_until_mapped(t, (index + count) * t->record_bytes) ? index : TABLE_NONE;
}

struct disk_string
file_string(const char *text, size_t size_bytes)
{
    struct table *t = &state->tables[DISK_STRINGS];
    uint64_t off = size_bytes ? table_take(t, size_bytes) : TABLE_NONE;

    if (off == TABLE_NONE)
        return (struct disk_string){0};
    memcpy(t->base + off, text, size_bytes);
    return (struct disk_string){(uint32_t)off, (uint32_t)size_bytes};
}

/* Address space for table I of the layout, scaled down when the host's is limited. */
static bool
reserve_table(size_t i, uint64_t address_limit)
{
    struct table *t = &state->tables[layout[i].kind];
    uint64_t max_bytes = layout[i].max_bytes;

    if (max_bytes > address_limit / 32)
        max_bytes = address_limit / 32;
    max_bytes = round_up(max_bytes > layout[i].first_bytes ? max_bytes : layout[i].first_bytes,
                         DISK_PAGE_BYTES);
    t->base = mem_reserve(max_bytes);
    if (t->base == NULL)
        return false;
    sys_madvise(t->base, max_bytes, MADV_DONTFORK);
    t->max_bytes = max_bytes;
    t->record_bytes = layout[i].record_bytes;
    t->kind = layout[i].kind;
    return true;
}

/* Map the header and the first segment of each table from FD. */
static bool
map_first(int fd)
{
    uint64_t file_off = DISK_DATA_OFF;
    uint64_t address_limit = output_limit(RLIMIT_AS);
    void *header;

    for (size_t i = 0; i < countof(layout); i++)
        file_off += layout[i].first_bytes;
    if (!reserve_blocks(fd, 0, file_off))
        return false;
    state->file_end = file_off;
    header = sys_mmap(NULL, DISK_DATA_OFF, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (sys_failed(header))
        return false;
    sys_madvise(header, DISK_DATA_OFF, MADV_DONTFORK);
    sys_madvise(header, DISK_DATA_OFF, MADV_DONTDUMP);
    state->header = header;
    file_off = DISK_DATA_OFF;
    for (size_t i = 0; i < countof(layout); i++) {
        struct table *t = &state->tables[layout[i].kind];

        if (!reserve_table(i, address_limit) ||
            !map_file(fd, t->base, file_off, layout[i].first_bytes))
            return false;
        t->mapped_bytes = layout[i].first_bytes;
        publish_segment(t, file_off, 0, layout[i].first_bytes);
        file_off += layout[i].first_bytes;
    }
    return true;
}

bool
file_create(void)
{
    struct stat st;
    bool mapped;
    int fd = output_open(state->path, sizeof state->path);

    if (fd < 0) {
        output_message(output_reason(fd), fd == -EFBIG ? "" : state->path);
        return false;
    }
    mapped = sys_fstat(fd, &st) == 0 && map_first(fd);
    sys_close(fd);
    if (!mapped) {
        sys_unlink(state->path);
        output_message("no room for the profile, not recording: ", state->path);
        return false;
    }
    state->device = (uint64_t)st.st_dev;
    state->inode = (uint64_t)st.st_ino;
    state->nodes = (struct disk_node *)(void *)state->tables[DISK_NODES].base;
    return true;
}

static bool
is_mapped_file(uintptr_t address)
{
    if (address - (uintptr_t)state->header < DISK_DATA_OFF)
        return true;
    for (size_t i = 0; i < countof(layout); i++) {
        const struct table *t = &state->tables[layout[i].kind];

        if (address - (uintptr_t)t->base < load_acquire(&t->mapped_bytes))
            return true;
    }
    return false;
}

bool
file_page_gone(uintptr_t address)
{
    unsigned char *page = (unsigned char *)round_down(address, DISK_PAGE_BYTES);

    if (!is_mapped_file(address) || !map_memory(page, DISK_PAGE_BYTES))
        return false;
    file_fails("the profile was cut short by another program, or its disk failed; "
               "what follows is lost, the program goes on: ");
    return true;
}
