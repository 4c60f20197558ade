/* pprof_text.c: write the heap profile of gperftools, for google-pprof, jeprof and go tool pprof.
 *
 *     heap profile: 10: 4816 [28: 14608] @ heapprofile
 *     1: 4096 [3: 12288] @ 0x0000555b30f782ce 0x0000555b30f78331 0x00007f3c5d627249
 *     9: 720 [25: 2320] @ 0x0000555b30f782ce 0x0000555b30f78331
 *
 *     MAPPED_LIBRARIES:
 *     555b30f78000-555b30f79000 r-xp 00001000 00:00 0          /usr/bin/prog
 *
 * A row has live blocks and bytes, then [allocated ones], then the stack, leaf first. The header's
 * numbers are the sums of the rows. "heapprofile" marks values as unsampled. Our values are already
 * scaled, and any other word would make consumers scale them again.
 *
 * Stacks are written as recorded, one per node, not folded and not by source frame: the consumer
 * symbolises them and shows inlined functions. The row of a stack covers blocks of all heaps and
 * labels, because the format cannot separate them. Consumers treat addresses as return addresses
 * and subtract one: google-pprof from all but the leaf, go from all. Therefore callers are written
 * as the address after the call, and the leaf as one byte before that. Then both consumers find
 * addresses inside the call instruction.
 *
 * Only executable mappings matter to consumers, and only they are written. go tool pprof moves the
 * start of a program that is mapped at 0x400000 and then finds the wrong functions in
 * position-dependent programs, even with the kernel's own lines. profile.proto is not affected.
 *
 * Consumers skip rows without addresses, so a stack without frames gets an address outside all
 * modules. It is a large one, because google-pprof interprets small ones as functions of the
 * program. A stack that a limit has truncated ends with another such address. The format has no
 * name for it, but it keeps these stacks apart from whole ones. A row in flight may be negative or
 * have bytes without blocks, which consumers reject; it is written as 0.
 *
 * The format has no peak or temporary values: see pprof_proto.c. */
#include "pprof/pprof.h"

#include <inttypes.h>

#include "analyse/frame_name.h"
#include "export/module_map.h"
#include "util/amount.h"

#define NO_FRAMES " 0x00007ffffffff000" // The end of user space.
#define TRUNCATED " 0x00007fffffffe000" // The outermost address of a truncated stack.

struct row {
    int64_t live_blocks, live_bytes, allocations, allocated_bytes;
};

static void
pprof_text_add_row(struct row *sum, const struct row *r)
{
    sum->live_blocks = counters_sum(sum->live_blocks, r->live_blocks);
    sum->live_bytes = counters_sum(sum->live_bytes, r->live_bytes);
    sum->allocations = counters_sum(sum->allocations, r->allocations);
    sum->allocated_bytes = counters_sum(sum->allocated_bytes, r->allocated_bytes);
}

/* Change R so that consumers accept the row. */
static void
clamp_row(struct row *r)
{
    if (r->live_blocks <= 0 || r->live_bytes < 0)
        r->live_blocks = r->live_bytes = 0;
    if (r->allocations <= 0 || r->allocated_bytes < 0)
        r->allocations = r->allocated_bytes = 0;
}

/* Return one row per node that the filter kept, by node id. */
static struct row *
collect_rows(const struct profile *p, const struct stacks *stacks, struct arena *arena,
             struct row *ret_total)
{
    struct row *rows = arena_array(arena, p->node_count, sizeof *rows);

    *ret_total = (struct row){0};
    for (size_t i = 0; i < p->site_count; i++) {
        const struct counters *c = &p->sites[i].counters;
        struct row r = {counters_live_blocks(c), counters_live_bytes(c), c->allocations,
                        c->allocated_bytes};

        uint32_t stack = stacks->site_stacks[i], node = p->sites[i].node;
        bool cut = stack != 0 && stacks->v[stack - 1].depth == 0 && p->nodes[node].location != 0;

        // A caller may have replaced stacks by one without frames.
        if (stack != 0)
            pprof_text_add_row(&rows[cut ? 0 : node], &r);
    }
    for (size_t i = 0; i < p->node_count; i++) {
        clamp_row(&rows[i]);
        pprof_text_add_row(ret_total, &rows[i]);
    }
    return rows;
}

static void
write_row(const struct profile *p, uint32_t node, const struct row *r, struct strbuf *out)
{
    struct stack all = {.depth = 1};
    bool leaf = true;

    strbuf_fmt(out, "%" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @", r->live_blocks,
               r->live_bytes, r->allocations, r->allocated_bytes);
    for (; node != 0; node = p->nodes[node].parent) {
        uint64_t pc = location_pc(&p->locations[p->nodes[node].location]);

        all.flags |= p->nodes[node].flags;
        // The format has only addresses, and a named frame has none.
        if (p->nodes[node].location == 0 ||
            profile_language(p, &p->locations[p->nodes[node].location]) != 0)
            continue;
        strbuf_fmt(out, " 0x%016" PRIx64, leaf ? pc : pc + 1);
        leaf = false;
    }
    strbuf_str(out, leaf                          ? NO_FRAMES "\n"
                    : stack_root(p, &all) != NULL ? TRUNCATED "\n"
                                                  : "\n");
}

static void
write_mapping(const struct module_segment *s, const char *path, struct strbuf *out)
{
    size_t skip;

    strbuf_fmt(out, "%08" PRIx64 "-%08" PRIx64 " r-xp %08" PRIx64 " 00:00 0          ", s->start,
               s->end, s->file_offset);
    for (; *path != '\0'; path += skip) {
        size_t shown = character_shown(path, &skip);

        if (*path == '\n')
            strbuf_str(out, "\\012"); // The kernel's form of a line feed.
        else if (shown == 0)
            strbuf_char(out, '?');
        else
            strbuf_add(out, path, shown);
    }
    strbuf_char(out, '\n');
}

static void
pprof_text_write_modules(const struct profile *p, struct arena *arena, struct strbuf *out)
{
    uint32_t *order = arena_array(arena, p->module_count, sizeof *order);
    size_t count = module_order(p, order);

    strbuf_str(out, "\nMAPPED_LIBRARIES:\n");
    for (size_t i = 0; i < count; i++) {
        const struct profile_module *m = &p->modules[order[i]];
        struct module_segment segments[MODULE_SEGMENTS_MAX];
        size_t segment_count = module_code(p, m, segments);

        for (size_t k = 0; k < segment_count; k++)
            write_mapping(&segments[k], m->path, out);
    }
}

int
export_pprof_text(const struct profile *p, const struct stacks *stacks,
                  const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct arena arena = {0};
    struct row total;
    struct row *rows = collect_rows(p, stacks, &arena, &total);

    (void)options;
    (void)err;
    strbuf_fmt(out,
               "heap profile: %" PRId64 ": %" PRId64 " [%" PRId64 ": %" PRId64 "] @ heapprofile\n",
               total.live_blocks, total.live_bytes, total.allocations, total.allocated_bytes);
    for (uint32_t i = 0; i < p->node_count; i++)
        if (rows[i].allocations != 0 || rows[i].live_blocks != 0)
            write_row(p, i, &rows[i], out);
    pprof_text_write_modules(p, &arena, out);
    arena_release(&arena);
    return 0;
}
