/* tool_compare.c: compare a profile with the oracle's records.
 *
 *     tool_compare [--threads] [--marked=PERCENT] PROFILE ORACLE-FILE
 *
 * Exit status 0: every counter of every stack, the totals and the size bins are equal, apart from
 * the differences permitted below. 1: there are other differences; the first ones are printed with
 * their stacks. 3: unreadable input.
 *
 * Sites are matched by the whole list of addresses, with interrupted instructions distinct from
 * return addresses; the size classes of one stack are added up first. Then all counters must be
 * equal.
 *
 * Permitted differences:
 *   - Stacks that the profile marks as truncated, guessed at or charged to "other" cannot match by
 *     address. They are put into one pool, the oracle's unmatched stacks into another, and the
 *     pools must be equal. No more than PERCENT (5) of all allocations may be at marked stacks: a
 *     recorder that charged everything to "other" would otherwise agree.
 *   - With --threads, the peak may differ. The recorder's threads publish their changes late, up to
 *     max(64 KiB, 0.1 %) in all. Each thread may also have one block between the two recorders:
 *     the oracle sees it earlier and drops it later. So the totals must agree within these late
 *     changes and one block of the largest size for each thread. The attribution of the peak to
 *     sites is not compared.
 *   - Calls that returned no block are shown and not compared: an operator new that throws passes
 *     the oracle by without a trace.
 *
 * A program whose signal handlers allocate at any moment cannot be compared: if a handler
 * interrupts one recorder, the two see different events. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oracle.h"
#include "load/load.h"

enum { SHOW_MAX = 20, SHOW_FRAMES = 24, EXIT_DIFFERENT = 1, EXIT_UNREADABLE = 3 };

/* A stack with all its counters, from heaptap or from the oracle. */
struct row {
    const uint64_t *words;
    uint32_t depth;
    bool uncertain; // The profile marks that its addresses may be wrong.
    bool settled;
    struct oracle_counters c;
};

struct rows {
    struct row *v;
    size_t count;
};

static bool threads;
static int64_t marked_percent = 5;
static struct profile *profile;
static const struct oracle_header *oracle;
static size_t shown, different;

/* The counters by name, in the order of struct oracle_counters. */
static const char *const names[] = {"allocations", "allocated_bytes", "frees",       "freed_bytes",
                                    "reallocations", "moved",         "grown_bytes", "temporary",
                                    "ended_16", "ended_256",
                                    "peak_blocks", "peak_bytes",      "size_min",    "size_max"};

enum { FIRST_PEAK = 10, FIRST_SIZE = 12, COUNTERS = 14 };
static_assert(sizeof(struct oracle_counters) == COUNTERS * sizeof(int64_t), "names lists them all");
static_assert(countof(names) == COUNTERS, "names lists them all");

static int64_t
counter(const struct oracle_counters *c, size_t i)
{
    int64_t v[COUNTERS];

    memcpy(v, c, sizeof v);
    return v[i];
}

static void
add_up(struct oracle_counters *sum, const struct oracle_counters *c)
{
    int64_t a[COUNTERS], b[COUNTERS];

    memcpy(a, sum, sizeof a);
    memcpy(b, c, sizeof b);
    for (size_t i = 0; i < FIRST_SIZE; i++)
        a[i] += b[i];
    if (c->allocations > 0 && (sum->allocations == 0 || c->size_min < sum->size_min))
        a[FIRST_SIZE] = b[FIRST_SIZE];
    if (c->size_max > sum->size_max)
        a[FIRST_SIZE + 1] = b[FIRST_SIZE + 1];
    memcpy(sum, a, sizeof a);
}

static struct oracle_counters
from_profile(const struct counters *c)
{
    return (struct oracle_counters){
        .allocations = c->allocations,
        .allocated_bytes = c->allocated_bytes,
        .frees = c->frees,
        .freed_bytes = c->freed_bytes,
        .reallocations = c->reallocations,
        .moved = c->moved,
        .grown_bytes = c->grown_bytes,
        .temporary = c->temporary,
        .ended_16 = c->ended_16,
        .ended_256 = c->ended_256,
        .peak_blocks = c->peak_blocks,
        .peak_bytes = c->peak_bytes,
        .size_min = c->allocations > 0 ? c->size_min : 0,
        .size_max = c->size_max,
    };
}

/* Return true if A and B match in all counters that must be equal. */
static bool
equal(const struct oracle_counters *a, const struct oracle_counters *b)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        if (threads && i >= FIRST_PEAK && i < FIRST_SIZE)
            continue;
        if (counter(a, i) != counter(b, i))
            return false;
    }
    return true;
}

static int
tool_compare_compare_stacks(const struct row *a, const struct row *b)
{
    uint32_t common = a->depth < b->depth ? a->depth : b->depth;

    for (uint32_t i = 0; i < common; i++)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static int
by_stack(const void *a, const void *b)
{
    return tool_compare_compare_stacks(a, b);
}

/* Sort, and merge rows with equal stacks. */
static void
tool_compare_merge_rows(struct rows *rows)
{
    size_t kept = 0;

    qsort(rows->v, rows->count, sizeof *rows->v, by_stack);
    for (size_t i = 0; i < rows->count; i++) {
        if (kept > 0 && tool_compare_compare_stacks(&rows->v[kept - 1], &rows->v[i]) == 0) {
            add_up(&rows->v[kept - 1].c, &rows->v[i].c);
            rows->v[kept - 1].uncertain |= rows->v[i].uncertain;
        } else {
            rows->v[kept++] = rows->v[i];
        }
    }
    rows->count = kept;
}

static uint32_t
node_depth(uint32_t node)
{
    uint32_t depth = 0;

    for (; node != 0; node = profile->nodes[node].parent)
        depth += profile->nodes[node].location != 0;
    return depth;
}

static struct row
profile_row(const struct profile_site *site)
{
    struct row row = {.depth = node_depth(site->node), .c = from_profile(&site->counters)};
    uint64_t *words = arena_array(&profile->arena, row.depth + 1, sizeof *words);
    uint32_t i = 0;

    for (uint32_t n = site->node; n != 0; n = profile->nodes[n].parent) {
        const struct profile_location *l = &profile->locations[profile->nodes[n].location];

        row.uncertain |= profile->nodes[n].flags != 0;
        if (profile->nodes[n].location != 0)
            words[i++] = l->address | (l->exact ? ORACLE_EXACT : 0);
    }
    row.words = words;
    return row;
}

static struct rows
profile_rows(void)
{
    struct rows rows = {.v = arena_array(&profile->arena, profile->site_count + 1, sizeof *rows.v)};

    for (size_t i = 0; i < profile->site_count; i++)
        if (profile->sites[i].counters.allocations != 0)
            rows.v[rows.count++] = profile_row(&profile->sites[i]);
    tool_compare_merge_rows(&rows);
    return rows;
}

static struct rows
oracle_rows(void)
{
    const struct oracle_site *sites = (const void *)((const char *)oracle + ORACLE_SITES_OFF);
    const uint64_t *words = (const void *)((const char *)oracle + ORACLE_WORDS_OFF);
    struct rows rows = {.v = arena_array(&profile->arena, oracle->site_count, sizeof *rows.v)};

    for (uint64_t i = 1; i < oracle->site_count; i++)
        rows.v[rows.count++] = (struct row){
            .words = words + sites[i].words, .depth = sites[i].depth, .c = sites[i].counters};
    tool_compare_merge_rows(&rows);
    return rows;
}

static void
show_address(uint64_t word)
{
    uint64_t address = word & ~ORACLE_EXACT;
    const char *path = "?";
    uint64_t off = address;

    for (size_t i = 1; i < profile->module_count; i++) {
        const struct profile_module *m = &profile->modules[i];

        if (address < m->start || address >= m->end)
            continue;
        path = strrchr(m->path, '/') ? strrchr(m->path, '/') + 1 : m->path;
        off = address - m->bias;
    }
    printf("        %s+0x%" PRIx64 "%s\n", path, off, word & ORACLE_EXACT ? " (interrupted)" : "");
}

static void
tool_compare_show_stack(const char *whose, const struct row *row)
{
    printf("    %s stack, %u frames:\n", whose, row->depth);
    for (uint32_t i = 0; i < row->depth && i < SHOW_FRAMES; i++)
        show_address(row->words[i]);
}

static void
show_counters(const struct oracle_counters *p, const struct oracle_counters *o)
{
    for (size_t i = 0; i < COUNTERS; i++)
        if (counter(p, i) != counter(o, i))
            printf("    %-16s profile %" PRId64 ", oracle %" PRId64 "\n", names[i], counter(p, i),
                   counter(o, i));
}

/* Count a difference; return true if it should be printed. */
static bool
tool_compare_report(const char *what)
{
    different++;
    if (shown >= SHOW_MAX)
        return false;
    shown++;
    printf("%s\n", what);
    return true;
}

/* Compare and mark the rows that both sides have. Return the number of equal rows. */
static size_t
match_by_stack(struct rows *p, struct rows *o)
{
    size_t same = 0;

    for (size_t i = 0, k = 0; i < p->count && k < o->count;) {
        int order = tool_compare_compare_stacks(&p->v[i], &o->v[k]);
        struct row *a = &p->v[i], *b = &o->v[k];

        i += order <= 0;
        k += order >= 0;
        if (order != 0)
            continue;
        if (a->uncertain && !equal(&a->c, &b->c))
            continue; // Another stack may have been truncated to the same frames.
        a->settled = b->settled = true;
        if (equal(&a->c, &b->c)) {
            same++;
        } else if (tool_compare_report("counters differ:")) {
            show_counters(&a->c, &b->c);
            tool_compare_show_stack("common", a);
        }
    }
    return same;
}

/* Compare the remaining rows: the doubtful stacks of the profile with the oracle's unmatched
 * stacks. */
static size_t
match_pools(struct rows *p, struct rows *o)
{
    struct oracle_counters a = {0}, b = {0};
    size_t uncertain = 0, rest = 0;

    for (size_t i = 0; i < p->count; i++) {
        if (p->v[i].settled)
            continue;
        if (p->v[i].uncertain) {
            add_up(&a, &p->v[i].c);
            uncertain++;
        } else if (tool_compare_report("only in the profile:")) {
            show_counters(&p->v[i].c, &b);
            tool_compare_show_stack("its", &p->v[i]);
        }
    }
    b = (struct oracle_counters){0};
    for (size_t k = 0; k < o->count; k++) {
        if (o->v[k].settled)
            continue;
        rest++;
        add_up(&b, &o->v[k].c);
    }
    if (uncertain > 0 && equal(&a, &b)) {
        printf("marked stacks: %zu of the profile stand for %zu of the oracle, counters equal\n",
               uncertain, rest);
        return uncertain;
    }
    if (uncertain > 0 && tool_compare_report("marked stacks do not add up:"))
        show_counters(&a, &b);
    for (size_t k = 0; k < o->count; k++) {
        struct oracle_counters none = {0};

        if (!o->v[k].settled && tool_compare_report("only in the oracle:")) {
            show_counters(&none, &o->v[k].c);
            tool_compare_show_stack("its", &o->v[k]);
        }
    }
    return 0;
}

/* Marked stacks are not compared individually, so their share must be small. */
static void
compare_marked(const struct rows *rows)
{
    int64_t marked = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (rows->v[i].uncertain)
            marked += rows->v[i].c.allocations;
    if (marked * 100 > oracle->totals.allocations * marked_percent &&
        tool_compare_report("too many stacks are marked:"))
        printf("    %" PRId64 " of %" PRId64 " allocations, more than %" PRId64 " %%\n", marked,
               oracle->totals.allocations, marked_percent);
}

static bool
peaks_agree(int64_t a, int64_t b)
{
    int64_t allowed = b / 1000 > 65536 ? b / 1000 : 65536;

    allowed += (int64_t)(profile->thread_count * profile->totals.size_max);
    return threads ? a - b <= allowed && b - a <= allowed : a == b;
}

static void
compare_totals(const struct rows *rows)
{
    struct oracle_counters p = from_profile(&profile->totals);
    struct oracle_counters sum = {0};

    for (size_t i = 0; i < rows->count; i++)
        add_up(&sum, &rows->v[i].c);
    if ((!equal(&p, &oracle->totals) || !peaks_agree(p.peak_bytes, oracle->totals.peak_bytes)) &&
        tool_compare_report("totals differ:"))
        show_counters(&p, &oracle->totals);
    if (!equal(&sum, &p) && tool_compare_report("the profile's sites do not add up to its totals:"))
        show_counters(&sum, &p);
}

/* Return the oracle's blocks of SIZE_MIN to SIZE_MAX bytes. */
static struct oracle_bin
oracle_range(uint64_t size_min, uint64_t size_max)
{
    struct oracle_bin sum = {0};

    for (uint64_t i = 0; i < ORACLE_SMALL_BINS + ORACLE_RANGE_BINS; i++) {
        bool small = i < ORACLE_SMALL_BINS;
        uint64_t bit = i - ORACLE_SMALL_BINS;
        const struct oracle_bin *b = small ? &oracle->small[i] : &oracle->range[bit];
        uint64_t low = small ? i : (UINT64_C(1) << bit) + 1;

        if (low < size_min || low > size_max || (!small && bit < 10))
            continue;
        sum.allocations += b->allocations;
        sum.allocated_bytes += b->allocated_bytes;
        sum.frees += b->frees;
        sum.freed_bytes += b->freed_bytes;
    }
    return sum;
}

static void
tool_compare_compare_bins(void)
{
    for (size_t i = 0; i < profile->bin_count; i++) {
        const struct profile_bin *p = &profile->bins[i];
        struct oracle_bin o = oracle_range(p->size_min, p->size_max);
        const struct counters *c = &p->counters;

        if (c->allocations == o.allocations && c->allocated_bytes == o.allocated_bytes &&
            c->frees == o.frees && c->freed_bytes == o.freed_bytes)
            continue;
        if (tool_compare_report("sizes differ:"))
            printf("    %" PRIu64 " to %" PRIu64 " bytes: profile %" PRId64 " allocations, %" PRId64
                   " frees; oracle %" PRId64 ", %" PRId64 "\n",
                   p->size_min, p->size_max, c->allocations, c->frees, o.allocations, o.frees);
    }
}

static void
tool_compare_compare_losses(void)
{
    const struct profile_losses *l = &profile->losses;

    printf("lost events %" PRIu64 ", truncated stacks %" PRIu64 ", guessed frames %" PRIu64
           ", unwind failures %" PRIu64 ", failed calls %" PRIu64 " (oracle %" PRId64 ")\n",
           l->events, l->truncated_stacks, l->guessed_frames, l->unwind_failures, l->failed_calls,
           oracle->failed_calls);
    if (l->events != 0 || l->ledger_events != 0)
        tool_compare_report("events were lost");
    if (l->unknown_frees != (uint64_t)oracle->unknown_frees &&
        tool_compare_report("frees of unknown blocks differ:"))
        printf("    profile %" PRIu64 ", oracle %" PRId64 "\n", l->unknown_frees,
               oracle->unknown_frees);
    if (l->overwritten_blocks != (uint64_t)oracle->overwritten_blocks &&
        tool_compare_report("frees that went unseen differ:"))
        printf("    profile %" PRIu64 ", oracle %" PRId64 "\n", l->overwritten_blocks,
               oracle->overwritten_blocks);
    if (oracle->inside_calls != 0)
        printf("%" PRId64 " calls of the oracle's own unwinder: not in its books\n",
               oracle->inside_calls);
}

static int
tool_compare_compare(void)
{
    struct rows p = profile_rows();
    struct rows o = oracle_rows();
    size_t same = match_by_stack(&p, &o);
    size_t pooled = match_pools(&p, &o);

    compare_marked(&p);
    compare_totals(&p);
    tool_compare_compare_bins();
    tool_compare_compare_losses();
    printf("sites %zu: equal %zu, marked %zu; events %" PRId64 "; peak %" PRId64 " of %" PRId64
           " bytes; differences %zu\n",
           p.count, same, pooled, oracle->totals.allocations + oracle->totals.frees,
           profile->totals.peak_bytes, oracle->totals.peak_bytes, different);
    return different == 0 ? 0 : EXIT_DIFFERENT;
}

static const struct oracle_header *
map_oracle(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *p;

    if (fd < 0 || fstat(fd, &st) != 0 || (uint64_t)st.st_size != ORACLE_FILE_BYTES)
        return NULL;
    p = mmap(NULL, ORACLE_FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return p != MAP_FAILED && ((const struct oracle_header *)p)->magic == ORACLE_MAGIC ? p : NULL;
}

int
main(int argc, char **argv)
{
    struct err err = {""};
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        threads |= strcmp(argv[i], "--threads") == 0;
        if (strncmp(argv[i], "--marked=", 9) == 0)
            marked_percent = atoi(argv[i] + 9);
    }
    if (argc - i != 2) {
        fprintf(stderr, "usage: tool_compare [--threads] [--marked=PERCENT] PROFILE ORACLE-FILE\n");
        return EXIT_UNREADABLE;
    }
    if (profile_open(argv[i], &profile, &err) != 0) {
        fprintf(stderr, "tool_compare: %s\n", err.text);
        return EXIT_UNREADABLE;
    }
    oracle = map_oracle(argv[i + 1]);
    if (oracle == NULL) {
        fprintf(stderr, "tool_compare: %s: not a file of the oracle\n", argv[i + 1]);
        return EXIT_UNREADABLE;
    }
    return tool_compare_compare();
}
