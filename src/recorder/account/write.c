/* write.c: writes the profile to a descriptor, from within the profiled process.
 *
 * "pprof" is the text format of google-pprof and go tool pprof (described in pprof/pprof_text.c): a
 * line of sums, one line for each stack, then the lines of /proc/self/maps. Values are summed over
 * the threads' counters during output. A stack's tags are omitted, so stacks that differ only in
 * tags have several lines, which consumers add up. Named frames are omitted too, because they have
 * no addresses. The blocks that back a heap are omitted, because the heap's lines include their
 * bytes.
 *
 * "heaptap" is the content of the profile file, with holes as zeros.
 *
 * Text is built in a buffer on the stack and written whenever the buffer is full, so the profile
 * may have any size. Other threads continue during the output. A line is correct when it is
 * written. The sums come from an earlier pass and may differ from the lines by the events in
 * between. Consumers do not use the sums. */
#include "account/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "account/account_state.h"
#include "account/nodes.h"
#include "account/thread.h"
#include "base/atomics.h"
#include "base/fmt.h"
#include "platform/sys.h"

/* Small, because a thread's stack may be small. */
enum { BUFFER_BYTES = 2048, FIELD_BYTES_MAX = 128 };

/* An address at the end of user space, where no module is mapped. Stacks without addresses get this
 * address, because consumers skip lines without addresses. */
#define NO_FRAMES UINT64_C(0x00007ffffffff000)

struct out {
    int fd;
    int error; // A negative error number; 0 = no error.
    struct fmt f;
    char text[BUFFER_BYTES];
};

static void
flush(struct out *o)
{
    if (o->error == 0)
        o->error = sys_write_all(o->fd, o->text, o->f.length);
    o->f = fmt_init(o->text, sizeof o->text);
}

/* Ensure that the buffer has room for FIELD_BYTES_MAX more characters. */
static struct fmt *
room(struct out *o)
{
    if (sizeof o->text - o->f.length <= FIELD_BYTES_MAX)
        flush(o);
    return &o->f;
}

/* --- Text ------------------------------------------------------------------------------------- */

struct row {
    int64_t live_blocks, live_bytes, allocations, allocated_bytes;
};

static void
profile_write_add_row(struct row *sum, const struct row *r)
{
    sum->live_blocks += r->live_blocks;
    sum->live_bytes += r->live_bytes;
    sum->allocations += r->allocations;
    sum->allocated_bytes += r->allocated_bytes;
}

static void
add_counter(struct row *sum, const struct disk_counter *c)
{
    int64_t blocks = (int64_t)load_relaxed(&c->allocations);
    int64_t bytes = (int64_t)load_relaxed(&c->allocated_bytes);

    sum->allocations += blocks;
    sum->allocated_bytes += bytes;
    sum->live_blocks += blocks - (int64_t)load_relaxed(&c->frees);
    sum->live_bytes += bytes - (int64_t)load_relaxed(&c->freed_bytes);
}

/* Add all threads' counters of SITE. */
static void
profile_write_add_site(struct row *sum, uint32_t site)
{
    uint64_t rows = load_acquire(&state->tables[DISK_THREADS].used);

    for (uint64_t i = 1; i < rows && i < LIMIT_THREADS; i++) {
        struct thread *t = load_acquire(&account_state()->threads[i]);
        struct disk_block *b = t != NULL ? load_acquire(&t->blocks[site / DISK_BLOCK_SITES]) : NULL;

        if (b != NULL)
            add_counter(sum, &b->counters[site % DISK_BLOCK_SITES]);
    }
}

static bool
is_tag(const struct disk_node *n)
{
    return (n->flags & DISK_NODE_TAG) != 0;
}

/* Return true if N has no address: a tag, a named frame, or DISK_SHORTENED. */
static bool
is_without_address(const struct disk_node *n)
{
    return is_tag(n) || n->frame >> DISK_ADDRESS_BITS == DISK_NAMED_FRAME;
}

/* Return the values charged to node N itself. Replace values that consumers reject: while another
 * thread changes a row, it may be negative, or have bytes without blocks. */
static struct row
profile_write_row_of(const struct disk_node *n)
{
    struct row r = {0};

    if (is_tag(n) && n->frame >> DISK_ADDRESS_BITS == DISK_TAG_BACKING)
        return r;
    for (uint32_t i = 0; i < DISK_SIZE_CLASSES; i++) {
        uint32_t site = load_relaxed(&n->site[i]);

        if (nodes_is_site(site))
            profile_write_add_site(&r, site);
    }
    if (r.live_blocks <= 0 || r.live_bytes < 0)
        r.live_blocks = r.live_bytes = 0;
    if (r.allocations <= 0 || r.allocated_bytes < 0)
        r.allocations = r.allocated_bytes = 0;
    return r;
}

static uint32_t
node_count(void)
{
    const struct table *t = &state->tables[DISK_NODES];
    uint64_t mapped = load_acquire(&t->mapped_bytes) / sizeof(struct disk_node);
    uint64_t used = load_relaxed(&t->used);

    return (uint32_t)(used < mapped ? used : mapped);
}

static void
profile_write_put_row(struct fmt *f, const struct row *r)
{
    fmt_uint(f, (uint64_t)r->live_blocks);
    fmt_str(f, ": ");
    fmt_uint(f, (uint64_t)r->live_bytes);
    fmt_str(f, " [");
    fmt_uint(f, (uint64_t)r->allocations);
    fmt_str(f, ": ");
    fmt_uint(f, (uint64_t)r->allocated_bytes);
    fmt_str(f, "] @");
}

static void
profile_write_put_address(struct out *o, uint64_t address)
{
    struct fmt *f = room(o);

    fmt_str(f, " 0x");
    for (int shift = 60; shift >= 0; shift -= 4)
        fmt_char(f, "0123456789abcdef"[address >> shift & 15]);
}

/* Print the frames of node ID, innermost first. Print return addresses for the callers. Print the
 * innermost address reduced by one, so that it lies inside the call both for consumers that
 * subtract one and for those that do not. */
static void
profile_write_put_stack(struct out *o, uint32_t id)
{
    bool innermost = true;

    while (id >= DISK_NODE_FIRST) {
        const struct disk_node *n = &account_state()->nodes[id];
        uint64_t address = n->frame & DISK_ADDRESS_MASK;
        uint64_t inside = address - !(n->flags & DISK_NODE_EXACT);

        if (!is_without_address(n)) {
            profile_write_put_address(o, innermost ? inside : inside + 1);
            innermost = false;
        }
        // Stop at a node that is not below its child: other processes can write to the file, and
        // their changes must not cause a cycle.
        id = load_relaxed(&n->parent) < id ? load_relaxed(&n->parent) : (uint32_t)DISK_NODE_ROOT;
    }
    if (innermost)
        profile_write_put_address(o, NO_FRAMES);
    fmt_char(room(o), '\n');
}

static void
profile_write_put_lines(struct out *o)
{
    for (uint32_t i = DISK_NODE_OTHER; i < node_count() && o->error == 0; i++) {
        struct row r = profile_write_row_of(&account_state()->nodes[i]);

        if (r.allocations == 0 && r.live_blocks == 0)
            continue;
        profile_write_put_row(room(o), &r);
        profile_write_put_stack(o, i);
    }
}

static void
put_maps(struct out *o)
{
    int maps = sys_open("/proc/self/maps", O_RDONLY, 0);

    fmt_str(room(o), "\nMAPPED_LIBRARIES:\n");
    flush(o);
    if (maps < 0)
        o->error = o->error != 0 ? o->error : maps;
    for (uint64_t off = 0; o->error == 0;) {
        long n = sys_pread(maps, o->text, sizeof o->text, off);

        if (n == -EINTR)
            continue;
        if (n <= 0) {
            o->error = (int)n;
            break;
        }
        o->error = sys_write_all(o->fd, o->text, (size_t)n);
        off += (uint64_t)n;
    }
    if (maps >= 0)
        sys_close(maps);
}

static int
write_pprof(int fd)
{
    struct row total = {0};
    struct out o;

    o.fd = fd;
    o.error = 0;
    o.f = fmt_init(o.text, sizeof o.text);
    for (uint32_t i = DISK_NODE_OTHER; i < node_count(); i++) {
        struct row r = profile_write_row_of(&account_state()->nodes[i]);

        profile_write_add_row(&total, &r);
    }
    fmt_str(&o.f, "heap profile: ");
    profile_write_put_row(&o.f, &total);
    fmt_str(&o.f, " heapprofile\n");
    profile_write_put_lines(&o);
    put_maps(&o);
    return o.error;
}

/* --- The file itself -------------------------------------------------------------------------- */

/* Find the first segment of the file that starts at OFF or later. Return false if there is none. */
static bool
profile_write_next_segment(uint64_t off, struct disk_segment *ret)
{
    const struct disk_segment *all =
        (const struct disk_segment *)(const void *)((const char *)state->header +
                                                    DISK_DIRECTORY_OFF);
    const struct disk_segment *found = NULL;

    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        const struct disk_segment *s = &all[i];

        if (load_acquire(&s->kind) != DISK_UNUSED && s->off >= off && s->bytes != 0 &&
            (found == NULL || s->off < found->off))
            found = s;
    }
    if (found != NULL)
        *ret = *found; // Check the copy, because the caller uses the copy.
    return found != NULL && ret->off >= off && ret->bytes != 0;
}

/* Return true if the part of the table that S describes is mapped. The directory may contain any
 * value, because other processes can write to it. */
static bool
profile_write_is_mapped(const struct disk_segment *s)
{
    const struct table *t = s->kind < DISK_KINDS ? &state->tables[s->kind] : NULL;
    uint64_t mapped = t != NULL ? load_acquire(&t->mapped_bytes) : 0;

    return s->table_off <= mapped && s->bytes <= mapped - s->table_off;
}

/* Like profile_write_is_mapped, but wait: a thread that has just published the segment may not have
 * raised mapped_bytes yet. */
static bool
becomes_mapped(const struct disk_segment *s)
{
    for (uint32_t i = 0; !profile_write_is_mapped(s) && i < LIMIT_GROW_WAITS / 10; i++)
        sys_wait(i);
    return profile_write_is_mapped(s);
}

static int
write_zeros(int fd, uint64_t size_bytes)
{
    static const char zeros[4096];
    int error = 0;

    while (size_bytes > 0 && error == 0) {
        size_t some = size_bytes < sizeof zeros ? (size_t)size_bytes : sizeof zeros;

        error = sys_write_all(fd, zeros, some);
        size_bytes -= some;
    }
    return error;
}

/* Write segment S. If its table is mapped on first use and is not mapped yet, write zeros. */
static int
write_segment(int fd, const struct disk_segment *s)
{
    if (s->kind < DISK_KINDS && s->off == state->tables[s->kind].first_off &&
        !profile_write_is_mapped(s))
        return s->bytes <= LIMIT_COUNTER_BYTES ? write_zeros(fd, s->bytes) : -EIO;
    if (!becomes_mapped(s))
        return -EIO;
    return sys_write_all(fd, state->tables[s->kind].base + s->table_off, s->bytes);
}

static int
profile_write_file(int fd)
{
    int error = sys_write_all(fd, state->header, DISK_DATA_OFF);
    uint64_t off = DISK_DATA_OFF;

    while (error == 0) {
        struct disk_segment copy, *s = &copy;

        if (!profile_write_next_segment(off, &copy))
            break;
        // Write a gap as zeros. A gap is a part that could not be mapped, and is never large.
        if (s->off - off > LIMIT_COUNTER_BYTES)
            return -EIO;
        error = write_zeros(fd, s->off - off);
        if (error == 0)
            error = write_segment(fd, s);
        off = s->off + s->bytes;
    }
    return error;
}

int
write_profile(int fd, const char *format)
{
    if (format != NULL && strcmp(format, "pprof") == 0)
        return write_pprof(fd) == 0 ? 0 : -1;
    if (format != NULL && strcmp(format, "heaptap") == 0)
        return profile_write_file(fd) == 0 ? 0 : -1;
    return -1;
}
