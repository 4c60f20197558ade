/* file_copy.c: copies a profile in memory into its file.
 *
 * The first thread that allocates when a copy is due makes the copy, inside its call of malloc. So
 * two bounds apply: copying uses at most a hundredth of the time, and no call waits for long. A
 * copy that takes less than a millisecond is made in one step; in a program with one thread it is a
 * consistent state. A longer copy is made in pieces, with pauses. The first bound counts the
 * thread's processor time. In wall-clock time, a copy that other programs interrupt would seem
 * long, and the next copy would follow only seconds later. If the program were killed before that
 * copy, its latest data would be lost. A third bound, a tenth of the wall-clock time, limits the
 * load on a slow disk.
 *
 *     | header, directory | copy, whole | copy that is being made  |
 *              └───────────► here, until the other copy is complete
 *
 * A program may be killed at any time, so a copy in pieces is written beside the last complete one.
 * When it is complete, one call writes header and directory, which then refer to it. The space
 * before that copy is free then; a later copy reuses it if it fits.
 *
 * The parts of such a copy are of different times, but each counter is of one time. Counters are
 * copied first and stacks last, so the copy contains the stack of every counter. The copy excludes
 * nodes that were created after the last counter was copied. Such a node could refer to a parent in
 * a part that was copied before the parent existed. The last copy is made in one step, at the start
 * of the file, and the file is truncated to the size of the copy.
 *
 * A copy may fail temporarily: the disk is full, or the process cannot reach the path after chroot
 * or setuid. So the first failure is reported, and later copies are tried as usual; the profile in
 * memory loses no data. Copying ends only if another process has truncated the file. */
#include "account/file.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "account/account_state.h"
#include "base/atomics.h"
#include "platform/mem.h"
#include "platform/output.h"
#include "platform/sys.h"

/* The first copy is made after COPY_WAIT_NS. The wait then doubles with each copy, up to
 * COPY_WAIT_MOST_NS. Copies use at most 1/COPY_SHARE of the processor time and 1/COPY_WALL_SHARE of
 * the wall-clock time. */
enum {
    COPY_WAIT_NS = 16000000,
    COPY_WAIT_MOST_NS = 1000000000,
    COPY_SHARE = 100,
    COPY_WALL_SHARE = 10,
};

/* A copy of up to AT_ONCE_BYTES is made in one step. A larger copy takes several steps. Each step
 * copies pieces until STEP_NS have passed. Until the copy is complete, its steps use at most
 * 1/STEP_SHARE of the time. */
enum { AT_ONCE_BYTES = 1 << 20, PIECE_BYTES = 64 << 10, STEP_NS = 500000, STEP_SHARE = 10 };

/* The last pass copies the tables that others refer to. */
enum { PASSES = 2 };
#define KINDS_LAST                                                                                 \
    (1u << DISK_STRINGS | 1u << DISK_MODULES | 1u << DISK_NODES | 1u << DISK_THREADS |             \
     1u << DISK_BINS | 1u << DISK_SNAPSHOTS | 1u << DISK_HEAPS | 1u << DISK_LABELS |               \
     1u << DISK_PHASES)

enum copied { COPIED_ALL, COPIED_PART };

/* A copy in progress. Private to the thread that has set copy_busy. */
struct copying {
    uint64_t from, end;   // File offsets of the latest complete copy.
    uint64_t base, limit; // Distance of the new copy from the offsets in memory; file offset that
                          // the new copy must not exceed.
    uint32_t pass;        // Pass 0 copies all tables except KINDS_LAST; pass 1 copies KINDS_LAST.
    uint32_t segment;     // Index of the next segment.
    uint64_t done_bytes;  // Copied bytes of that segment.
    uint64_t node_bytes;  // Bytes of NODES to copy.
    uint64_t reached;     // File offset of the end of the new copy.
    uint32_t count;       // Directory entries written.
    uint64_t work_ns;     // Processor time of all steps.
    uint64_t wall_ns;     // Wall-clock time of all steps.
    bool begun;
    // The new start of the file: header and directory.
    unsigned char head[DISK_DATA_OFF];
};

static void
prepare(void)
{
    account_state()->copying = mem_private(sizeof *account_state()->copying);
    account_state()->copy_wait_ns = COPY_WAIT_NS;
    account_state()->copy_next_ns = COPY_WAIT_NS;
    if (account_state()->copying == NULL) {
        store_relaxed(&account_state()->file_failed, 1u);
        output_message(OUTPUT_CANNOT_GROW, -ENOMEM, account_state()->path);
    }
}

static int
write_whole(int fd, const unsigned char *bytes, uint64_t size_bytes, uint64_t off)
{
    for (uint64_t done = 0; done < size_bytes;) {
        long n = sys_pwrite(fd, bytes + done, size_bytes - done, off + done);

        if (n <= 0)
            return n < 0 ? (int)n : -ENOSPC;
        done += (uint64_t)n;
    }
    return 0;
}

/* Begin a copy. Put it before the latest copy if it fits there, else after it; if AT_ONCE, at the
 * start of the file. */
static void
file_copy_begin(struct copying *c, bool at_once)
{
    uint64_t bytes = load_relaxed(&state->file_end) - DISK_DATA_OFF;

    c->base = 0;
    c->limit = UINT64_MAX;
    if (!at_once && c->from >= DISK_DATA_OFF + bytes + bytes / 2)
        c->limit = c->from;
    else if (!at_once)
        c->base = round_up(c->end, DISK_PAGE_BYTES) - DISK_DATA_OFF;
    c->pass = c->segment = c->count = 0;
    c->done_bytes = 0;
    c->reached = c->base + DISK_DATA_OFF;
    c->begun = true;
    memset(c->head, 0, sizeof c->head);
    // Copy the header now, so that it matches the first counter and not the last stack.
    memcpy(c->head, state->header, DISK_DIRECTORY_OFF);
}

/* Return the number of bytes of segment S to copy. */
static uint64_t
wanted_bytes(const struct copying *c, const struct disk_segment *s)
{
    if (s->kind != DISK_NODES || s->table_off + s->bytes <= c->node_bytes)
        return s->bytes;
    return c->node_bytes > s->table_off ? c->node_bytes - s->table_off : 0;
}

/* Copy the rest of segment S if AT_ONCE, else one piece. Return COPIED_ALL if S is complete,
 * COPIED_PART if not, or a negative error number. */
static int
copy_segment(struct copying *c, int fd, const struct disk_segment *s, bool at_once)
{
    uint64_t wanted = wanted_bytes(c, s);
    uint64_t left = wanted - c->done_bytes, off = c->base + s->off + c->done_bytes;
    int r;

    if (!at_once && left > PIECE_BYTES) {
        // End each piece between two records.
        left = PIECE_BYTES;
        left -= (s->table_off + c->done_bytes + left) % s->record_bytes;
    }
    if (off + left > c->limit)
        return -EAGAIN;
    if (off + left > sys_limit(RLIMIT_FSIZE))
        return -EFBIG;
    r = write_whole(fd, state->tables[s->kind].base + s->table_off + c->done_bytes, left, off);
    if (r != 0)
        return r;
    c->done_bytes += left;
    if (left > 0 && c->reached < off + left)
        c->reached = off + left;
    return c->done_bytes < wanted ? COPIED_PART : COPIED_ALL;
}

/* Add the complete segment S to the directory. */
static void
list_segment(struct copying *c, const struct disk_segment *s)
{
    struct disk_segment *copied = (struct disk_segment *)(void *)(c->head + DISK_DIRECTORY_OFF);

    if (c->done_bytes == 0)
        return;
    copied[c->count] = *s;
    copied[c->count].off += c->base;
    copied[c->count].bytes = copied[c->count].stored_bytes = c->done_bytes;
    c->count++;
}

/* Write header and directory, which refer to the complete segments. */
static int
file_copy_finish(struct copying *c, int fd)
{
    int r = write_whole(fd, c->head, sizeof c->head, 0);

    if (r != 0)
        return r;
    c->from = c->base + DISK_DATA_OFF;
    c->end = c->reached;
    c->begun = false;
    file_note_size(c->end);
    return COPIED_ALL;
}

/* Continue the copy; if AT_ONCE, to its end. Return an enum copied, or a negative error number.
 * Tables may grow during the copy: the written directory lists only the copied part. */
static int
file_copy_go_on(struct copying *c, int fd, bool at_once, uint64_t work_ns)
{
    const struct disk_segment *directory =
        (const struct disk_segment *)(const void *)((unsigned char *)state->header +
                                                    DISK_DIRECTORY_OFF);
    const struct table *nodes = &state->tables[DISK_NODES];

    for (; c->pass < PASSES; c->pass++, c->segment = 0) {
        for (; c->segment < DISK_SEGMENT_MAX; c->segment++, c->done_bytes = 0) {
            const struct disk_segment *s = &directory[c->segment];
            uint32_t kind = load_acquire(&s->kind);
            int r = COPIED_ALL;

            if (kind == 0) // Another thread has reserved this entry and is about to store its kind.
                break;
            if ((KINDS_LAST >> kind & 1) != c->pass)
                continue;
            do {
                if (!at_once && sys_work_ns() - work_ns > STEP_NS)
                    return COPIED_PART;
                r = copy_segment(c, fd, s, at_once);
            } while (r == COPIED_PART);
            if (r != COPIED_ALL)
                return r;
            list_segment(c, s);
        }
        if (c->pass == 0)
            c->node_bytes = load_acquire(&nodes->used) * nodes->record_bytes;
    }
    return file_copy_finish(c, fd);
}

/* Begin or continue a copy. If AT_ONCE, make the whole copy. FD is the file. */
static int
copy_some(struct copying *c, int fd, bool at_once, uint64_t work_ns)
{
    int r;

    if (at_once || !c->begun)
        file_copy_begin(c, at_once);
    r = file_copy_go_on(c, fd, at_once, work_ns);
    if (r == COPIED_PART)
        return r;
    c->begun = false;
    // The new copy has grown into the space of the latest complete copy. Restart it after that
    // copy, where there is room.
    if (r == -EAGAIN) {
        c->from = DISK_DATA_OFF;
        return COPIED_PART;
    }
    return r;
}

static uint64_t
file_copy_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Set the time of the next step. The previous step began at WORK_NS and WALL_NS and returned R;
 * COPIED_PART means that the copy is incomplete. */
static void
set_next(int r, uint64_t work_ns, uint64_t wall_ns)
{
    struct copying *c = account_state()->copying;
    uint64_t now_ns = sys_clock_ns();
    uint64_t worked_ns = sys_work_ns() - work_ns, passed_ns = now_ns - wall_ns;
    uint64_t wait_ns = file_copy_larger(worked_ns * STEP_SHARE, passed_ns);

    c->work_ns += worked_ns;
    c->wall_ns += passed_ns;
    if (r != COPIED_PART) {
        wait_ns = file_copy_larger(c->work_ns * COPY_SHARE, c->wall_ns * COPY_WALL_SHARE);
        c->work_ns = c->wall_ns = 0;
        if (account_state()->copy_wait_ns < COPY_WAIT_MOST_NS)
            account_state()->copy_wait_ns *= 2;
        wait_ns = file_copy_larger(wait_ns, account_state()->copy_wait_ns);
    }
    store_relaxed(&account_state()->copy_next_ns, now_ns - state->start_ns + wait_ns);
}

static void
copy_now(bool last)
{
    struct copying *c = account_state()->copying;
    uint64_t work_ns = sys_work_ns(), wall_ns = sys_clock_ns();
    uint64_t bytes = load_relaxed(&state->file_end);
    // A limit on file size may leave no room for two copies.
    bool at_once = last || c->end == 0 || bytes <= AT_ONCE_BYTES ||
                   3 * bytes + c->end > sys_limit(RLIMIT_FSIZE);
    int fd = file_reopen(), r = fd < 0 ? fd : copy_some(c, fd, at_once, work_ns);

    if (r == COPIED_ALL && last && c->end < load_relaxed(&account_state()->file_bytes)) {
        store_relaxed(&account_state()->file_bytes, c->end);
        sys_ftruncate(fd, c->end);
    }
    if (fd >= 0)
        file_close(fd);
    if (r < 0 && !account_state()->copy_reported) {
        account_state()->copy_reported = true;
        output_message(r == -ENODATA ? OUTPUT_CUT_SHORT : OUTPUT_CANNOT_GROW, r,
                       account_state()->path);
    }
    // Stop copying: if a copy grew the file again, the lost part would read as zeros.
    if (r == -ENODATA)
        store_relaxed(&account_state()->file_failed, 1u);
    set_next(r, work_ns, wall_ns);
}

void
file_copy(enum file_copy when)
{
    uint64_t now_ns, mask;
    uint32_t idle = 0, waits = 0;

    if (state->in_memory && when == FILE_COPY_FIRST)
        prepare();
    if (!state->in_memory || load_relaxed(&account_state()->file_failed))
        return;
    now_ns = load_relaxed(&state->header->shared.last_ns);
    if (when == FILE_COPY_DUE && now_ns < load_relaxed(&account_state()->copy_next_ns))
        return;
    mask = sys_block_signals();
    while (!cas_acq_rel(&account_state()->copy_busy, &idle, 1u)) {
        // The copy that another thread is making may lack the latest changes, so the last copy
        // waits for it.
        if (when != FILE_COPY_LAST || waits == LIMIT_GROW_WAITS) {
            sys_unblock_signals(mask);
            return;
        }
        idle = 0;
        sys_wait(waits++);
    }
    if (when == FILE_COPY_LAST)
        state->header->process_flags &= ~(uint32_t)DISK_PROCESS_IN_MEMORY;
    copy_now(when == FILE_COPY_LAST);
    store_release(&account_state()->copy_busy, 0u);
    sys_unblock_signals(mask);
}
