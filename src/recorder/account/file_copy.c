/* file_copy.c: a profile in memory, copied into its file.
 *
 * The copy is made by whoever allocates when one is due, inside a call of malloc. So it takes no
 * more than a hundredth of the time, and no call waits for long: what can be copied within a
 * millisecond is copied at once, and so is a copy of one moment if there is one thread; more than
 * that is copied in pieces, with rests between them. The time is the thread's own on a processor:
 * by the clock on the wall, a copy that other programs interrupt would look so long that the next
 * one came seconds later, and a program killed meanwhile left nothing. A slow disk is spared by
 * that other clock, with a tenth of the time.
 *
 *     | header, directory | copy, whole | copy that is being made  |
 *              └───────────► here, until the other one is whole
 *
 * A program may be killed at any time, so a copy in pieces goes beside the last whole one. Only
 * when all of it is there, header and directory are written, in one call, and lead there. What is
 * left in front is room for the next but one, if it is large enough.
 *
 * The parts of such a copy are of different moments, each counter of one. So counters come first
 * and stacks last: what a counter is of is in the copy for sure. Of the stacks those are copied
 * that there were when the last counter was, because the table fills up meanwhile: a node could be
 * there whose parent had not been when its part was copied. The last copy is made at once, at
 * the beginning of the file, and the file is cut to its size.
 *
 * What keeps a copy from being made (a full disk, a path that the process may no longer follow
 * after chroot or setuid) may pass. It is told once, and tried again; the profile lacks nothing.
 * Only a file that somebody has cut short is left alone.
 */
#include "account/file_copy.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "account/file.h"
#include "base/atomics.h"
#include "platform/mem.h"
#include "platform/output.h"
#include "platform/sys.h"

/* A copy is made after so long first, then after twice that each time, up to a second, and takes no
 * more than this part of the time. */
enum {
    COPY_WAIT_NS = 16000000,
    COPY_WAIT_MOST_NS = 1000000000,
    COPY_SHARE = 100,
    COPY_WALL_SHARE = 10,
};

/* So much is copied at once; of more, pieces until so much time has gone, and while there are
 * more of them they take no more than that part of the time. */
enum { AT_ONCE_BYTES = 1 << 20, PIECE_BYTES = 64 << 10, STEP_NS = 500000, STEP_SHARE = 10 };

/* Referred to, and so copied last. */
enum { PASSES = 2 };
#define KINDS_LAST                                                                                 \
    (1u << DISK_STRINGS | 1u << DISK_MODULES | 1u << DISK_NODES | 1u << DISK_THREADS |             \
     1u << DISK_BINS | 1u << DISK_SNAPSHOTS | 1u << DISK_HEAPS | 1u << DISK_LABELS |               \
     1u << DISK_PHASES)

enum copied { COPIED_ALL, COPIED_PART };

/* A copy that is being made. Private memory, of the one thread that has set copy_busy. */
struct copying {
    uint64_t from, end;   // Of the file: where the last whole copy is.
    uint64_t base, limit; // It is moved by so much, and must not come to that; of the new one.
    uint32_t pass;        // 0: those first, 1: those last.
    uint32_t segment;     // The one that is next.
    uint64_t done_bytes;  // Of that.
    uint64_t node_bytes;  // So much of NODES is copied.
    uint64_t reached;     // The end of what was written.
    uint32_t count;       // Entries of the directory.
    uint64_t work_ns;     // Processor time of all steps together.
    uint64_t wall_ns;     // The same by the clock.
    bool begun;
    // What the file will begin with.
    unsigned char head[DISK_DATA_OFF];
};

static void
prepare(void)
{
    state->copying = mem_private(sizeof *state->copying);
    state->copy_wait_ns = COPY_WAIT_NS;
    state->copy_next_ns = COPY_WAIT_NS;
    if (state->copying == NULL) {
        store_relaxed(&state->file_failed, 1u);
        output_message(OUTPUT_CANNOT_GROW, -ENOMEM, state->path);
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

/* Begin a copy: in front of the last one if there is room, or behind it; at the beginning of the
 * file if it is made AT_ONCE. */
static void
begin(struct copying *c, bool at_once)
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
    // As of the moment of the first counter rather than of the last stack.
    memcpy(c->head, state->header, DISK_DIRECTORY_OFF);
}

/* How much of segment S is to be copied. */
static uint64_t
wanted_bytes(const struct copying *c, const struct disk_segment *s)
{
    if (s->kind != DISK_NODES || s->table_off + s->bytes <= c->node_bytes)
        return s->bytes;
    return c->node_bytes > s->table_off ? c->node_bytes - s->table_off : 0;
}

/* Copy what is left of segment S, a piece if it is not to be AT_ONCE: COPIED_ALL when it is all
 * there, COPIED_PART, or a negative error number. */
static int
copy_segment(struct copying *c, int fd, const struct disk_segment *s, bool at_once)
{
    uint64_t wanted = wanted_bytes(c, s);
    uint64_t left = wanted - c->done_bytes, off = c->base + s->off + c->done_bytes;
    int r;

    if (!at_once && left > PIECE_BYTES) {
        // A record is copied as a whole.
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

/* Segment S is there: note it in the directory. */
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

/* All segments are there: have the file lead to them. */
static int
finish(struct copying *c, int fd)
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

/* Go on with the copy, to its end if it is to be AT_ONCE: enum copied, or a negative error number.
 * Tables may grow meanwhile: of the directory only what was copied is written. */
static int
go_on(struct copying *c, int fd, bool at_once, uint64_t work_ns)
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

            if (kind == 0) // Whoever takes it is about to say what it is of.
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
    return finish(c, fd);
}

/* Go on, or make all of it AT_ONCE; FD is the file. */
static int
copy_some(struct copying *c, int fd, bool at_once, uint64_t work_ns)
{
    int r;

    if (at_once || !c->begun)
        begin(c, at_once);
    r = go_on(c, fd, at_once, work_ns);
    if (r == COPIED_PART)
        return r;
    c->begun = false;
    // It has grown into the last one: behind that there is room.
    if (r == -EAGAIN) {
        c->from = DISK_DATA_OFF;
        return COPIED_PART;
    }
    return r;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Set when it is to go on, after a step that began at these times: there is more to be copied of
 * the present copy, if R says so. */
static void
set_next(int r, uint64_t work_ns, uint64_t wall_ns)
{
    struct copying *c = state->copying;
    uint64_t now_ns = sys_clock_ns();
    uint64_t worked_ns = sys_work_ns() - work_ns, passed_ns = now_ns - wall_ns;
    uint64_t wait_ns = larger(worked_ns * STEP_SHARE, passed_ns);

    c->work_ns += worked_ns;
    c->wall_ns += passed_ns;
    if (r != COPIED_PART) {
        wait_ns = larger(c->work_ns * COPY_SHARE, c->wall_ns * COPY_WALL_SHARE);
        c->work_ns = c->wall_ns = 0;
        if (state->copy_wait_ns < COPY_WAIT_MOST_NS)
            state->copy_wait_ns *= 2;
        wait_ns = larger(wait_ns, state->copy_wait_ns);
    }
    store_relaxed(&state->copy_next_ns, now_ns - state->start_ns + wait_ns);
}

static void
copy_now(bool last)
{
    struct copying *c = state->copying;
    uint64_t work_ns = sys_work_ns(), wall_ns = sys_clock_ns();
    uint64_t bytes = load_relaxed(&state->file_end);
    // A limit on the size of files has no room for two.
    bool at_once = last || c->end == 0 || bytes <= AT_ONCE_BYTES ||
                   3 * bytes + c->end > sys_limit(RLIMIT_FSIZE);
    int fd = file_reopen(), r = fd < 0 ? fd : copy_some(c, fd, at_once, work_ns);

    if (r == COPIED_ALL && last && c->end < load_relaxed(&state->file_bytes)) {
        store_relaxed(&state->file_bytes, c->end);
        sys_ftruncate(fd, c->end);
    }
    if (fd >= 0)
        file_close(fd);
    if (r < 0 && !state->copy_told) {
        state->copy_told = true;
        output_message(r == -ENODATA ? OUTPUT_CUT_SHORT : OUTPUT_CANNOT_GROW, r, state->path);
    }
    // What was there would read as zeros.
    if (r == -ENODATA)
        store_relaxed(&state->file_failed, 1u);
    set_next(r, work_ns, wall_ns);
}

void
file_copy(enum file_copy when)
{
    uint64_t now_ns, mask;
    uint32_t idle = 0, waits = 0;

    if (state->in_memory && when == FILE_COPY_FIRST)
        prepare();
    if (!state->in_memory || load_relaxed(&state->file_failed))
        return;
    now_ns = load_relaxed(&state->header->shared.last_ns);
    if (when == FILE_COPY_DUE && now_ns < load_relaxed(&state->copy_next_ns))
        return;
    mask = sys_block_signals();
    while (!cas_acq_rel(&state->copy_busy, &idle, 1u)) {
        // What the other copies has not what came last.
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
    store_release(&state->copy_busy, 0u);
    sys_unblock_signals(mask);
}
