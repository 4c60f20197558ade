/* unsymbolized.c: find the modules that lack symbols, weighted by the bytes of the affected stacks.
 *
 * A stack counts once for each module, however many of the module's functions are on it. Only the
 * innermost frames of a stack are examined, because views name their rows by these. Views differ in
 * their metric, so a module is weighted by the metric in which its share is largest: a hint that
 * matters for the peak must not disappear because little is live at the end.
 *
 * Most profiles have all names, which one pass over the frames detects. Stacks with the same
 * innermost calls lack the same names, so they share one search. */
#include "analyse/unsymbolized.h"

#include <string.h>

#include "analyse/user_code.h"

enum {
    FRAMES_MISSED = 4,  // Number of innermost frames whose missing names count.
    // Number of innermost calls that, despite wrappers, nearly always contain these frames.
    CALLS_COMPARED = 7,
    ENDS_KNOWN = 4096,  // Number of cached inner ends.
};

struct unsymbolized_bytes
unsymbolized_bytes(const struct counters *c)
{
    struct unsymbolized_bytes b = {{metric_value(c, METRIC_INUSE), metric_value(c, METRIC_PEAK),
                                    metric_value(c, METRIC_ALLOC)}};

    return b;
}

void
unsymbolized_bytes_add(struct unsymbolized_bytes *sum, const struct unsymbolized_bytes *b)
{
    for (size_t i = 0; i < countof(sum->by_metric); i++)
        sum->by_metric[i] = counters_sum(sum->by_metric[i], b->by_metric[i]);
}

double
unsymbolized_share(const struct unsymbolized_bytes *part, const struct unsymbolized_bytes *whole)
{
    double largest = 0;

    for (size_t i = 0; i < countof(part->by_metric); i++) {
        double share = (double)part->by_metric[i] / (double)whole->by_metric[i];

        if (part->by_metric[i] > 0 && whole->by_metric[i] > 0 && share > largest)
            largest = share;
    }
    return largest < 1 ? largest : 1;
}

/* Cached sum of the stacks with the same innermost calls. Used only if these calls determine the
 * missing names. */
struct inner_end {
    // Locations of the calls; 0 beyond the outer end. calls[0] == 0: the entry is unused.
    uint32_t calls[CALLS_COMPARED];
    uint32_t lacks[FRAMES_MISSED];  // Results of lack_of, each once; unused elements are 0.
    struct unsymbolized_bytes bytes;
};

struct builder {
    const struct profile *p;
    bool *is_runtime; // By module: true for libraries of a language's runtime.
    bool any;         // Some frame lacks a name or a line.
    struct unsymbolized_module *ret;
};

/* Return the gap of frame F: twice its module if the name is missing, plus 1 if only the line is
 * missing; 0 = no gap. */
static uint32_t
lack_of(const struct builder *b, const struct profile_frame *f)
{
    if (f->module == 0 || f->file != 0 || b->is_runtime[f->module])
        return 0;
    return f->module << 1 | (f->function != 0);
}

static struct builder
unsymbolized_begin(const struct profile *p, struct arena *arena)
{
    struct builder b = {.p = p};

    b.ret = arena_array(arena, p->module_count, sizeof *b.ret);
    b.is_runtime = arena_array(arena, p->module_count, sizeof *b.is_runtime);
    for (size_t i = 1; i < p->module_count; i++)
        b.is_runtime[i] = user_code_is_runtime(p->modules[i].path);
    for (size_t i = 0; i < p->frame_count && !b.any; i++)
        b.any = lack_of(&b, &p->frames[i]) != 0;
    return b;
}

/* Store the gaps of the DEPTH innermost frames of S in RET, each once. */
static void
find_lacks(const struct builder *b, const struct stack *s, uint32_t depth,
           uint32_t ret[FRAMES_MISSED])
{
    size_t count = 0;

    memset(ret, 0, FRAMES_MISSED * sizeof *ret);
    for (uint32_t i = 0; i < depth && i < FRAMES_MISSED; i++) {
        uint32_t lack = lack_of(b, &b->p->frames[s->frames[i]]);
        bool is_new = lack != 0;

        for (size_t k = 0; k < count; k++)
            is_new = is_new && ret[k] != lack;
        if (is_new)
            ret[count++] = lack;
    }
}

/* Add BYTES to the modules of the gaps LACKS. */
static void
add_lacks(struct builder *b, const uint32_t lacks[FRAMES_MISSED],
          const struct unsymbolized_bytes *bytes)
{
    for (size_t i = 0; i < FRAMES_MISSED && lacks[i] != 0; i++) {
        struct unsymbolized_module *m = &b->ret[lacks[i] >> 1];

        unsymbolized_bytes_add(lacks[i] & 1 ? &m->lineless : &m->unsymbolized, bytes);
    }
}

struct unsymbolized_module *
unsymbolized_modules(const struct profile *p, const struct stacks *stacks, struct arena *arena)
{
    struct builder b = unsymbolized_begin(p, arena);

    for (size_t i = 0; i < stacks->count && b.any; i++) {
        const struct stack *s = &stacks->v[i];
        struct unsymbolized_bytes bytes = unsymbolized_bytes(&s->counters);
        uint32_t lacks[FRAMES_MISSED];

        find_lacks(&b, s, s->depth != 0 ? stack_useful_depth(p, s) : 0, lacks);
        add_lacks(&b, lacks, &bytes);
    }
    return b.ret;
}

/* Store the innermost calls of the stack of NODE in RET. Returns their hash. */
static uint64_t
read_calls(const struct profile *p, uint32_t node, uint32_t ret[CALLS_COMPARED])
{
    uint64_t hash = 0;

    for (size_t i = 0; i < CALLS_COMPARED; i++) {
        ret[i] = p->nodes[node].location; // The root has location 0 and is its own parent.
        hash = (hash ^ ret[i]) * UINT64_C(0x9e3779b97f4a7c15);
        node = p->nodes[node].parent;
    }
    return hash >> 32;
}

/* Store the gaps of SITE's stack in RET. Return true if its innermost calls alone determine
 * them. */
static bool
read_lacks(const struct builder *b, struct stack_ends *ends, const struct profile_site *site,
           uint32_t ret[FRAMES_MISSED])
{
    bool whole;
    struct stack s = stack_ends_read(ends, site->node, FRAMES_MISSED, &whole);

    find_lacks(b, &s, whole && s.depth != 0 ? stack_useful_depth(b->p, &s) : s.depth, ret);
    return stack_ends_are_known_from(ends, CALLS_COMPARED);
}

struct unsymbolized_module *
unsymbolized_modules_of_all(const struct profile *p, bool fold_recursion,
                            struct unsymbolized_bytes *ret_total, struct arena *arena)
{
    struct builder b = unsymbolized_begin(p, arena);
    struct stack_ends *ends;
    struct inner_end *known;

    *ret_total = unsymbolized_bytes(&p->totals);
    if (!b.any)
        return b.ret;
    ends = stack_ends_new(p, fold_recursion, arena);
    known = arena_array(arena, ENDS_KNOWN, sizeof *known);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        struct unsymbolized_bytes bytes = unsymbolized_bytes(&site->counters);
        struct inner_end e = {0}, *before;

        before = &known[read_calls(p, site->node, e.calls) % ENDS_KNOWN];
        if (e.calls[0] != 0 && memcmp(before->calls, e.calls, sizeof e.calls) == 0) {
            unsymbolized_bytes_add(&before->bytes, &bytes);
            continue;
        }
        if (read_lacks(&b, ends, site, e.lacks) && e.calls[0] != 0) {
            add_lacks(&b, before->lacks, &before->bytes);
            *before = e;
            before->bytes = bytes;
        } else {
            add_lacks(&b, e.lacks, &bytes);
        }
    }
    for (size_t i = 0; i < ENDS_KNOWN; i++)
        add_lacks(&b, known[i].lacks, &known[i].bytes);
    return b.ret;
}
