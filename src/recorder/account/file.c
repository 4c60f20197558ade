/* file.c: creates the profile and grows it.
 *
 * At the start each table reserves address space for its maximum size. Only the used front of the
 * table is mapped from the file, segment by segment. So a record's index determines its address,
 * while the file stays dense and small.
 *
 * No descriptor stays open, because daemons close and reuse them. Growing opens the file by its
 * absolute path and checks that it is still the same inode. It reserves the disk blocks, maps them
 * and closes the descriptor. Reserving detects a full disk here; without it, a later store would
 * raise SIGBUS. If growing fails, all tables continue in anonymous memory from then on: the live
 * view and the counts stay complete, and the file notes that it ends here.
 *
 * Some programs close descriptors that they did not open. Such a program may close the recorder's
 * descriptor while it is open, and reuse the number for another file. Therefore no store goes
 * through a descriptor: the new part is mapped through the header's mapping, which certainly
 * belongs to the profile. Only the reservation of blocks uses the descriptor. It is checked just
 * before, and sys_open gives it a number that such programs do not reach. A descriptor that was
 * closed is opened again.
 *
 * A file with a reserve (HEAPTAP_RESERVE) has its full size from the start, divided among the
 * tables. It never grows, because the program may have forbidden the system calls for growing.
 *
 * A profile that core dumps must contain (state->in_memory) is private memory with the layout of
 * the file, directory included, because the kernel leaves named shared files out of dumps. The file
 * is then a copy that file_copy.c makes from time to time; docs/internals/core.md gives the
 * reasons.
 *
 * In a short process the start costs as much as all events together. So tables that few processes
 * use have a first segment in the file and in the directory, but map it on first use (first_off).
 * Pages of the other first segments are read one at a time, without readahead.
 *
 * Concurrency: atomic additions allocate space in the file and directory entries. One thread at a
 * time grows a table (`growing`); other threads wait for a bounded time. A segment is published in
 * this order: the mapping, the directory entry's fields, the entry's kind. */
#include "account/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "account/account_state.h"
#include "base/atomics.h"
#include "format/environment.h"
#include "platform/host.h"
#include "platform/mem.h"
#include "platform/output.h"
#include "platform/sys.h"

/* Maximum number of times the file is opened to add one segment, if the program keeps closing the
 * descriptor. */
enum { REOPENED_MAX = 8 };

/* A table below this size doubles when it grows; a larger one grows by half. This keeps both the
 * number of segments and the unused space small. */
enum { DOUBLE_BELOW_BYTES = 1 << 20 };

/* Number of bytes of the file that one request reads ahead, in some 50 microseconds. The kernel's
 * own readahead around the first page used can reach eight megabytes on some machines, and one
 * event would wait for it. So MADV_RANDOM disables the kernel's readahead. */
enum { READ_BYTES = 256 << 10 };

/* Under a memory limit, a table grows by at most 1/LEFT_SHARE of the memory that is left. But it
 * grows by at least 1/LEAST_SHARE of its size and by LEAST_BYTES, so that segments do not exhaust
 * the directory. */
enum { LEFT_SHARE = 4, LEAST_SHARE = 16, LEAST_BYTES = 64 << 10 };

/* Under a limit on address space, a table reserves at most 1/FILE_LIMIT_SHARE of the limit. */
enum { FILE_LIMIT_SHARE = 64 };

/* First and maximum size of each table. The first sizes are large enough that a small program never
 * grows a table. A table whose first size is its maximum cannot grow and is mapped together with
 * the next. */
static const struct {
    uint32_t kind;
    uint32_t record_bytes;
    uint32_t first_bytes;
    uint32_t reserve_share; // Share of a reserve, in 64ths.
    uint32_t spare_share;   // Share of the spare bytes under a limit, in 128ths; nodes.c adds 34.
    uint64_t max_bytes;
    bool later; // Few processes use it, so it is mapped on first use.
} layout[] = {
    {DISK_STRINGS, 1, 8 << 10, 1, 1, LIMIT_STRINGS, false},
    {DISK_MODULES, sizeof(struct disk_module), 4 << 10, 1, 1,
     sizeof(struct disk_module) * LIMIT_MODULES, false},
    {DISK_NODES, sizeof(struct disk_node), 16 << 10, 9, 16,
     sizeof(struct disk_node) * (uint64_t)LIMIT_NODES, false},
    {DISK_COUNTERS, sizeof(struct disk_block), 32 << 10, 38, 32, LIMIT_COUNTER_BYTES, false},
    {DISK_THREADS, sizeof(struct disk_thread), 4 << 10, 1, 1,
     sizeof(struct disk_thread) * LIMIT_THREADS, false},
    {DISK_BINS, sizeof(struct disk_bins), 48 << 10, 7, 12,
     sizeof(struct disk_bins) * (uint64_t)LIMIT_THREADS, false},
    {DISK_TIMELINE, sizeof(struct disk_time_point), 24 << 10, 0, 1,
     sizeof(struct disk_time_point) * LIMIT_TIME_POINTS, false},
    {DISK_PHASES, sizeof(struct disk_phase), 4 << 10, 0, 1, sizeof(struct disk_phase) * LIMIT_MODES,
     false},
    {DISK_HEAPS, sizeof(struct disk_heap), 4 << 10, 0, 1, sizeof(struct disk_heap) * LIMIT_HEAPS,
     false},
    {DISK_UNKNOWN_FREES, sizeof(struct disk_unknown_free), 4 << 10, 1, 1,
     sizeof(struct disk_unknown_free) * LIMIT_UNKNOWN_FREES, false},
    {DISK_ERRORS, sizeof(struct disk_error), 4 << 10, 2, 1,
     sizeof(struct disk_error) * (uint64_t)LIMIT_SITES, true},
    {DISK_SNAPSHOTS, sizeof(struct disk_snapshot), 12 << 10, 0, 1,
     sizeof(struct disk_snapshot) * LIMIT_SNAPSHOTS, false},
    {DISK_HISTORY, sizeof(struct disk_history), 16 << 10, 4, 8,
     sizeof(struct disk_history) * (uint64_t)LIMIT_HISTORY, false},
    {DISK_LABELS, sizeof(struct disk_label_set), 4 << 10, 0, 1,
     sizeof(struct disk_label_set) * LIMIT_LABEL_SETS, true},
#ifdef HEAPTAP_ACCESS
    {DISK_ACCESS, sizeof(struct disk_access), 64 << 10, 0, 1,
     sizeof(struct disk_access) * (uint64_t)LIMIT_SITES, false},
    {DISK_FIELDS, sizeof(struct disk_fields), 128 << 10, 0, 1, DISK_TABLE_BYTES_MAX, false},
#endif
    {DISK_NAMED, sizeof(struct disk_named), 4 << 10, 1, 1, sizeof(struct disk_named) * LIMIT_NAMED,
     true},
    {DISK_CORRUPTIONS, sizeof(struct disk_corruption), 4 << 10, 0, 1,
     sizeof(struct disk_corruption) * LIMIT_CORRUPTIONS, true},
};

static void
publish_segment(const struct table *t, uint64_t file_off, uint64_t table_off, uint64_t size_bytes)
{
    struct disk_segment *directory =
        (struct disk_segment *)(void *)((unsigned char *)state->header + DISK_DIRECTORY_OFF);
    uint32_t index = add_relaxed(&account_state()->segment_count, 1u);
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

/* Disable readahead for the first segments. When a page is first touched, readahead would also read
 * the pages around it, which are still empty, and the touch would take 60 us. */
static void
read_alone(void *where, uint64_t size_bytes)
{
    sys_madvise(where, size_bytes, MADV_RANDOM);
}

/* Unlock these pages of the file's mapping, and exclude them from children and core dumps. */
static void
keep_separate(unsigned char *where, uint64_t size_bytes)
{
    sys_munlock(where, size_bytes);
    sys_madvise(where, size_bytes, MADV_DONTFORK);
    sys_madvise(where, size_bytes, MADV_DONTDUMP);
}

/* Map that part of the file without calling keep_separate. Return 0, or a negative error number. */
static int
map_file(int fd, unsigned char *where, uint64_t file_off, uint64_t size_bytes)
{
    void *p =
        sys_mmap(where, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, file_off);

    return sys_failed(p) ? (int)(intptr_t)p : 0;
}

/* Reserve [OFF, OFF + SIZE_BYTES) of the file. Return 0, or a negative error number. On a file
 * system without fallocate the file stays sparse, and a full disk cannot be detected in advance
 * (docs/format.md, section 6). */
static int
reserve_blocks(int fd, uint64_t off, uint64_t size_bytes)
{
    long r;

    // Check the limit first: beyond it the kernel would also send SIGXFSZ, which kills the program.
    if (off + size_bytes > sys_limit(RLIMIT_FSIZE))
        return -EFBIG;
    r = sys_fallocate(fd, off, size_bytes);
    if (r != -EOPNOTSUPP && r != -ENOSYS)
        return (int)r;
    // Write the last byte, which no thread has written yet. Setting the file's size could truncate
    // a part that another thread has just reserved.
    r = sys_pwrite(fd, "", 1, off + size_bytes - 1);
    if (r < 0)
        return (int)r;
    return r == 1 ? 0 : -ENOSPC;
}

/* Examine the path with lstat first, because opening a FIFO or a device can have side effects. */
int
file_reopen(void)
{
    struct stat st;
    // Read file_bytes before lstat: another thread may extend the file and then raise file_bytes at
    // any time.
    uint64_t bytes = load_acquire(&account_state()->file_bytes);
    int fd = sys_lstat(account_state()->path, &st);

    if (fd == -EACCES || fd == -EPERM || fd == -ENOMEM)
        return fd;
    if (fd != 0 || (uint64_t)st.st_dev != account_state()->device ||
        (uint64_t)st.st_ino != account_state()->inode)
        return -ESTALE;
    // A truncated file must not grow: the lost part would read as zeros.
    if ((uint64_t)st.st_size < bytes)
        return -ENODATA;
    return sys_open_again(account_state()->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                          account_state()->device, account_state()->inode);
}

static void
file_fails(enum output_event event, int error)
{
    if (add_relaxed(&account_state()->file_failed, 1u) != 0)
        return;
    or_relaxed(&state->header->process_flags, (uint32_t)DISK_PROCESS_FILE_FAILED);
    output_message(event, error, account_state()->path);
}

void
file_note_size(uint64_t end)
{
    uint64_t known = load_relaxed(&account_state()->file_bytes);

    while (known < end && !cas_acq_rel(&account_state()->file_bytes, &known, end))
        continue;
}

void
file_close(int fd)
{
    if (sys_is_file(fd, account_state()->device, account_state()->inode))
        sys_close(fd);
}

/* Map that part of the file without a descriptor. Return 0, or a negative error number. Create a
 * second mapping of the file, up to the end of the part, from the header's mapping. Then move the
 * part to WHERE. */
static int
map_again(unsigned char *where, uint64_t file_off, uint64_t size_bytes)
{
    unsigned char *all =
        sys_mremap(state->header, 0, file_off + size_bytes, MREMAP_MAYMOVE, NULL);
    void *p;

    if (sys_failed(all))
        return (int)(intptr_t)all;
    p = sys_mremap(all + file_off, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, where);
    sys_munmap(all, sys_failed(p) ? file_off + size_bytes : file_off);
    if (sys_failed(p))
        return (int)(intptr_t)p;
    sys_munlock(p, size_bytes);
    return 0; // The new mapping inherits all other madvise settings from the header's mapping.
}

/* Reserve that part of the file. Return 0, or a negative error number. Store a descriptor of the
 * file in *RET_FD; the program may already have closed it. */
static int
reserve_room(uint64_t file_off, uint64_t size_bytes, int *ret_fd)
{
    int r = -EBADF;

    for (uint32_t i = 0; i < REOPENED_MAX && r == -EBADF; i++) {
        int fd = file_reopen();

        if (fd == -EBADF)
            continue;
        if (fd < 0)
            return fd;
        r = reserve_blocks(fd, file_off, size_bytes);
        *ret_fd = fd;
        if (r != 0)
            file_close(fd);
        else if (!sys_is_file(fd, account_state()->device, account_state()->inode))
            r = -EBADF;
    }
    return r;
}

/* Like grow_from_file, but in memory that core dumps contain. */
static int
grow_in_memory(struct table *t, uint64_t table_off, uint64_t size_bytes)
{
    unsigned char *where = t->base + table_off;

    if (!mem_populate(where, size_bytes))
        return -ENOMEM;
    sys_madvise(where, size_bytes, MADV_NOHUGEPAGE);
    sys_madvise(where, size_bytes, MADV_DODUMP);
    publish_segment(t, add_relaxed(&state->file_end, size_bytes), table_off, size_bytes);
    return 0;
}

/* Have the kernel read T's part of the file from BEGIN up to the next multiple of READ_BYTES, but
 * not beyond END. */
static void
read_ahead(const struct table *t, uint64_t begin, uint64_t end)
{
    uint64_t next = round_up(begin + 1, READ_BYTES);

    sys_madvise(t->base + begin, (next < end ? next : end) - begin, MADV_WILLNEED);
}

static int
grow_from_file(struct table *t, uint64_t table_off, uint64_t size_bytes)
{
    unsigned char *where = t->base + table_off;
    uint64_t file_off;
    int fd = -1, r;

    if (state->in_memory)
        return grow_in_memory(t, table_off, size_bytes);
    if (load_relaxed(&account_state()->file_failed))
        return -ENOSPC;
    file_off = add_relaxed(&state->file_end, size_bytes);
    r = reserve_room(file_off, size_bytes, &fd);
    if (r != 0)
        return r;
    file_note_size(file_off + size_bytes);
    r = map_again(where, file_off, size_bytes);
    // Map through a descriptor where address space is too small to map the whole file, and on
    // systems that emulate Linux.
    if (r != 0 && sys_is_file(fd, account_state()->device, account_state()->inode)) {
        r = map_file(fd, where, file_off, size_bytes);
        if (r == 0)
            keep_separate(where, size_bytes);
    }
    file_close(fd);
    if (r == 0) {
        sys_madvise(where, size_bytes, MADV_RANDOM);
        read_ahead(t, table_off, table_off + size_bytes);
    }
    if (r == 0)
        publish_segment(t, file_off, table_off, size_bytes);
    else
        store_relaxed(&t->full, 1u); // The table's reservation may be unmapped, and its address
                                     // range reused.
    return r;
}

/* Replace that part of the file's mapping with zeroed memory that a forked child does not
 * inherit. */
static bool
file_map_memory(unsigned char *where, uint64_t size_bytes)
{
    void *p = sys_mmap(where, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

    if (sys_failed(p))
        return false;
    sys_madvise(p, size_bytes, MADV_DONTFORK);
    sys_madvise(p, size_bytes, MADV_DONTDUMP);
    return true;
}

/* Return the next growth in bytes of a table with MAPPED_BYTES mapped. Near a memory limit it grows
 * little, so that no table uses memory that others need. */
static uint64_t
growth_bytes(uint64_t mapped_bytes)
{
    uint64_t wanted = mapped_bytes < DOUBLE_BELOW_BYTES ? mapped_bytes : mapped_bytes / 2;
    uint64_t share = mem_left() / LEFT_SHARE, least = mapped_bytes / LEAST_SHARE;

    if (load_relaxed(&account_state()->segment_count) > DISK_SEGMENT_MAX / 2)
        return round_up(wanted, DISK_PAGE_BYTES); // Few directory entries are left, and those are
                                                  // scarcer than memory.

    least = least > LEAST_BYTES ? least : LEAST_BYTES;
    share = share > least ? share : least;
    return round_up(wanted < share ? wanted : share, DISK_PAGE_BYTES);
}

/* Map the first segment of T, which exists in the file already. */
static COLD void
map_later(struct table *t)
{
    int error = map_again(t->base, t->first_off, t->first_bytes);

    if (error != 0) {
        file_fails(OUTPUT_CANNOT_GROW, error);
        if (!mem_populate(t->base, t->first_bytes)) {
            store_relaxed(&t->full, 1u);
            return;
        }
    }
    store_release(&t->mapped_bytes, t->first_bytes);
}

/* Map a further segment of T. Only the thread that set `growing` may call this. */
static COLD void
file_grow(struct table *t)
{
    uint64_t table_off = t->mapped_bytes;
    uint64_t size_bytes = growth_bytes(table_off);
    int error;

    if (table_off == 0 && t->first_off != 0) {
        map_later(t);
        return;
    }
    if (table_off + size_bytes > t->max_bytes)
        size_bytes = t->max_bytes - table_off;
    if (size_bytes == 0) {
        store_relaxed(&t->full, 1u);
        return;
    }
    error = grow_from_file(t, table_off, size_bytes);
    if (error != 0) {
        file_fails(error == -ENODATA ? OUTPUT_CUT_SHORT : OUTPUT_CANNOT_GROW, error);
        // If these two tables continued in memory, the file would contain snapshots without their
        // values, hence a wrong history.
        if (load_relaxed(&t->full) || t->kind == DISK_HISTORY || t->kind == DISK_SNAPSHOTS ||
            !mem_populate(t->base + table_off, size_bytes)) {
            store_relaxed(&t->full, 1u);
            return;
        }
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
                file_grow(t);
            store_release(&t->growing, 0u);
        } else {
            sys_wait(i);
        }
    }
    sys_unblock_signals(mask);
    return load_acquire(&t->mapped_bytes) >= end_bytes;
}

/* Prefault the pages of T up to END_BYTES and some pages after. */
static COLD void
make_pages(struct table *t, uint64_t end_bytes)
{
    uint64_t mapped = load_acquire(&t->mapped_bytes), old = load_relaxed(&t->made_bytes), begin;

    mem_prefault_ahead(t->base, &t->made_bytes, end_bytes, mapped);
    begin = round_down(load_relaxed(&t->made_bytes), READ_BYTES);
    if (old < begin && begin < mapped)
        read_ahead(t, begin, mapped);
}

uint64_t
table_take(struct table *t, uint64_t count)
{
    uint64_t index, end_bytes;

    if (unlikely(load_relaxed(&t->full)))
        return TABLE_NONE;
    index = add_relaxed(&t->used, count);
    end_bytes = (index + count) * t->record_bytes;
    if (unlikely(end_bytes > load_acquire(&t->mapped_bytes)) && !wait_until_mapped(t, end_bytes))
        return TABLE_NONE;
    // Do not prefault bins: a thread uses only a few of their pages.
    if (unlikely(end_bytes > load_relaxed(&t->made_bytes)) && t->kind != DISK_BINS)
        make_pages(t, end_bytes);
    return index;
}

void
table_keep(struct table *t, uint64_t count)
{
    t->used = count;
}

void *
table_kept(struct table *t, uint64_t index)
{
    uint64_t end_bytes = (index + 1) * t->record_bytes;

    if (end_bytes > load_acquire(&t->mapped_bytes) && !wait_until_mapped(t, end_bytes))
        return NULL;
    return table_record(t, index);
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

/* Return the size of the first segment of table I. */
static uint64_t
first_segment(size_t i)
{
    uint64_t share = account_state()->reserve_bytes / 64 * layout[i].reserve_share;

    if (share > layout[i].max_bytes)
        share = layout[i].max_bytes;
    return round_up(share > layout[i].first_bytes ? share : layout[i].first_bytes, DISK_PAGE_BYTES);
}

/* Return the size of the address space for table I of the layout. A limit on the process's address
 * space makes it smaller. */
static uint64_t
max_table_bytes(size_t i, uint64_t address_limit)
{
    uint64_t first_bytes = first_segment(i);
    uint64_t max_bytes = account_state()->reserve_bytes ? first_bytes : layout[i].max_bytes;
    uint64_t nodes = layout[i].kind == DISK_NODES ? host_number(ENVIRONMENT_NODES) : 0;

    if (nodes != 0 && nodes < LIMIT_NODES)
        max_bytes = nodes * sizeof(struct disk_node);
    if (max_bytes > address_limit / FILE_LIMIT_SHARE)
        max_bytes = address_limit / FILE_LIMIT_SHARE;
    return round_up(max_bytes > first_bytes ? max_bytes : first_bytes, DISK_PAGE_BYTES);
}

/* Reserve address space for all tables in one piece; store it in *RET_BASE and *RET_BYTES. One
 * reservation per table would take ten times as many system calls, which would slow a process that
 * only forks and exits. */
static bool
reserve_tables(unsigned char **ret_base, uint64_t *ret_bytes)
{
    uint64_t address_limit = host_address_limit(), size_bytes = 0;
    unsigned char *base;

    for (size_t i = 0; i < countof(layout); i++)
        size_bytes += max_table_bytes(i, address_limit);
    base = mem_reserve(size_bytes);
    if (base == NULL)
        return false;
    *ret_base = base;
    *ret_bytes = size_bytes;
    for (size_t i = 0; i < countof(layout); i++) {
        struct table *t = &state->tables[layout[i].kind];

        t->base = base;
        t->max_bytes = max_table_bytes(i, address_limit);
        t->record_bytes = layout[i].record_bytes;
        t->kind = layout[i].kind;
        base += t->max_bytes;
    }
    return true;
}

/* Reduce the mapped part of T, which holds a reserve, to the used part and SPARE_BYTES. The caller
 * then unmaps the rest. A thread that takes records adds to `used` before it reads `mapped_bytes`;
 * this function accesses both in the opposite order. So a thread that saw the old size is seen. */
static void
shrink_reserve(struct table *t, uint64_t spare_bytes)
{
    uint64_t before = load_relaxed(&t->mapped_bytes);
    uint64_t used_bytes = load_relaxed(&t->used) * t->record_bytes;
    uint64_t after = round_up(used_bytes + spare_bytes, DISK_PAGE_BYTES);

    if (after >= before)
        return;
    __atomic_exchange_n(&t->mapped_bytes, after, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&t->used, __ATOMIC_SEQ_CST) * t->record_bytes > after)
        store_release(&t->mapped_bytes, before);
}

/* Unmap the address space of T beyond the mapped part and SPARE_BYTES. With FROM_RESERVE, only the
 * used records count as mapped. */
static void
file_give_back_table(struct table *t, uint64_t spare_bytes, bool from_reserve)
{
    uint64_t keep_bytes;
    uint32_t idle = 0;

    for (uint32_t i = 0; !cas_acq_rel(&t->growing, &idle, 1u); i++, idle = 0) {
        if (i == LIMIT_GROW_WAITS)
            return;
        sys_wait(i);
    }
    if (from_reserve)
        shrink_reserve(t, spare_bytes);
    keep_bytes = load_relaxed(&t->mapped_bytes);
    if (keep_bytes == 0)
        keep_bytes = t->first_bytes; // Not mapped until its first use.
    if (account_state()->reserve_bytes == 0)
        keep_bytes += spare_bytes; // A reserve is mapped whole.
    if (keep_bytes < t->max_bytes) {
        sys_munmap_always(t->base + keep_bytes, t->max_bytes - keep_bytes);
        store_relaxed(&t->max_bytes, keep_bytes);
    }
    store_release(&t->growing, 0u);
}

COLD uint64_t
file_give_back(uint64_t spare_bytes, bool from_reserve)
{
    uint64_t kept_bytes = 0;

    for (size_t i = 0; i < countof(layout); i++) {
        struct table *t = &state->tables[layout[i].kind];

        file_give_back_table(t, round_up(spare_bytes / 128 * layout[i].spare_share,
                                         DISK_PAGE_BYTES), from_reserve);
        kept_bytes += load_relaxed(&t->max_bytes);
    }
    return kept_bytes;
}

static int
map_header(int fd)
{
    void *header = sys_mmap(NULL, DISK_DATA_OFF, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (sys_failed(header))
        return (int)(intptr_t)header;
    read_alone(header, DISK_DATA_OFF);
    sys_madvise(header, DISK_DATA_OFF, MADV_DONTFORK);
    sys_madvise(header, DISK_DATA_OFF, MADV_DONTDUMP);
    state->header = header;
    return 0;
}

/* Create the header, as a copy of the header in file FD, and the first segment of each table in
 * memory. Return 0, or a negative error number. */
static int
make_first(int fd)
{
    void *header = mem_reserve(DISK_DATA_OFF);
    unsigned char *base;
    uint64_t all_bytes;

    if (header == NULL)
        return -ENOMEM;
    state->header = header;
    state->file_end = DISK_DATA_OFF;
    sys_madvise(header, DISK_DATA_OFF, MADV_DONTFORK);
    if (!mem_populate(header, DISK_DATA_OFF) || sys_pread(fd, header, DISK_DATA_OFF, 0) < 0)
        return -ENOMEM;
    if (!reserve_tables(&base, &all_bytes))
        return -ENOMEM;
    keep_separate(base, all_bytes);
    for (size_t i = 0; i < countof(layout); i++) {
        struct table *t = &state->tables[layout[i].kind];
        uint64_t size_bytes = first_segment(i);
        int r = grow_in_memory(t, 0, size_bytes);

        if (r != 0)
            return r;
        t->mapped_bytes = size_bytes;
    }
    return 0;
}

/* A part of the file that is not mapped yet. */
struct piece {
    unsigned char *where;
    uint64_t off, size_bytes;
};

static int
piece_map(int fd, const struct piece *p)
{
    return p->size_bytes != 0 ? map_file(fd, p->where, p->off, p->size_bytes) : 0;
}

/* Extend P by a part if it follows P both in the file and in memory. Otherwise map P and begin a
 * new piece with the part. Return 0, or a negative error number. */
static int
piece_add(int fd, struct piece *p, unsigned char *where, uint64_t off, uint64_t size_bytes)
{
    int r = 0;

    if (where != p->where + p->size_bytes || off != p->off + p->size_bytes) {
        r = piece_map(fd, p);
        *p = (struct piece){where, off, 0};
    }
    p->size_bytes += size_bytes;
    return r;
}

/* Map the header and the first segment of each table from FD. Return 0, or a negative error
 * number. */
static int
map_first(int fd)
{
    uint64_t file_off = DISK_DATA_OFF, all_bytes = 0;
    struct piece piece = {0};
    unsigned char *base = NULL;
    int r;

    for (size_t i = 0; i < countof(layout); i++)
        file_off += first_segment(i);
    r = reserve_blocks(fd, 0, file_off);
    if (r == 0)
        r = map_header(fd);
    state->file_end = account_state()->file_bytes = file_off;
    file_off = DISK_DATA_OFF;
    if (r == 0 && !reserve_tables(&base, &all_bytes))
        r = -ENOMEM;
    for (size_t i = 0; r == 0 && i < countof(layout); i++) {
        struct table *t = &state->tables[layout[i].kind];
        uint64_t size_bytes = first_segment(i);

        if (layout[i].later && account_state()->reserve_bytes == 0) {
            t->first_off = file_off;
            t->first_bytes = size_bytes;
        } else {
            r = piece_add(fd, &piece, t->base, file_off, size_bytes);
            t->mapped_bytes = size_bytes;
        }
        publish_segment(t, file_off, 0, size_bytes);
        file_off += size_bytes;
    }
    if (r == 0)
        r = piece_map(fd, &piece);
    // Call these on failure too: a child must not inherit a mapping that is about to be unmapped.
    if (base != NULL) {
        keep_separate(base, all_bytes);
        read_alone(base, all_bytes);
    }
    return r;
}

void
file_unmap(void)
{
    for (size_t i = 0; i < countof(layout); i++) {
        struct table *t = &state->tables[layout[i].kind];

        if (t->base != NULL)
            sys_munmap(t->base, t->max_bytes);
    }
    if (state->header != NULL)
        sys_munmap(state->header, DISK_DATA_OFF);
}

void
file_remove(void)
{
    file_unmap();
    if (host_given_profile() < 0) // The path of a given profile may lead elsewhere here.
        sys_unlink(account_state()->path);
}

int
file_create(void)
{
    struct stat st;
    int fd = output_open(account_state()->path, sizeof account_state()->path);
    int r;

    if (fd < 0)
        return fd;
    r = sys_fstat(fd, &st);
    if (r == 0) {
        account_state()->device = (uint64_t)st.st_dev;
        account_state()->inode = (uint64_t)st.st_ino;
        r = state->in_memory ? make_first(fd) : map_first(fd);
        file_close(fd);
    } else {
        sys_close(fd);
    }
    if (r != 0) {
        file_remove();
        return r;
    }
    account_state()->nodes = (struct disk_node *)(void *)state->tables[DISK_NODES].base;
    return 0;
}

static bool
is_mapped_file(uintptr_t address)
{
    if (state->in_memory)
        return false;
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

    if (!is_mapped_file(address) || !file_map_memory(page, DISK_PAGE_BYTES))
        return false;
    file_fails(OUTPUT_CUT_SHORT, 0);
    return true;
}
