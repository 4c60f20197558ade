/* nameless.c: what a user misses for want of symbols, measured by what goes through it.
 *
 * A stack counts once for a module, however many of its functions are on it; and only its innermost
 * frames count, which are what a row and its callers are named by. Which of the metrics a
 * user looks at is not known, so that with the largest share decides: a hint that matters for the
 * peak must not be kept back because nearly nothing is live at the end.
 */
#include "analyse/nameless.h"

#include "analyse/own_code.h"

enum { FRAMES_MISSED = 4 }; // A name is missed in so many innermost frames of a stack.

struct nameless_bytes
nameless_bytes(const struct counters *c)
{
    struct nameless_bytes b = {{metric_value(c, METRIC_INUSE), metric_value(c, METRIC_PEAK),
                                metric_value(c, METRIC_ALLOC)}};

    return b;
}

void
nameless_bytes_add(struct nameless_bytes *sum, const struct nameless_bytes *b)
{
    for (size_t i = 0; i < countof(sum->by_metric); i++)
        sum->by_metric[i] = counters_sum(sum->by_metric[i], b->by_metric[i]);
}

double
nameless_share(const struct nameless_bytes *part, const struct nameless_bytes *whole)
{
    double largest = 0;

    for (size_t i = 0; i < countof(part->by_metric); i++) {
        double share = (double)part->by_metric[i] / (double)whole->by_metric[i];

        if (part->by_metric[i] > 0 && whole->by_metric[i] > 0 && share > largest)
            largest = share;
    }
    return largest < 1 ? largest : 1;
}

struct builder {
    const struct profile *p;
    struct nameless_module *ret;
    size_t *last_nameless, *last_lineless; // By module: the stack last counted, from 1 on.
};

static struct builder
begin(const struct profile *p, struct arena *arena)
{
    struct builder b = {.p = p};

    b.ret = arena_array(arena, p->module_count, sizeof *b.ret);
    b.last_nameless = arena_array(arena, p->module_count, sizeof *b.last_nameless);
    b.last_lineless = arena_array(arena, p->module_count, sizeof *b.last_lineless);
    return b;
}

/* Count BYTES for the modules on the DEPTH innermost frames of S, which is number NUMBER. */
static void
add_stack(struct builder *b, const struct stack *s, uint32_t depth,
          const struct nameless_bytes *bytes, size_t number)
{
    for (uint32_t i = 0; i < depth && i < FRAMES_MISSED; i++) {
        const struct profile_frame *f = &b->p->frames[s->frames[i]];
        size_t *last = f->function == 0 ? b->last_nameless : b->last_lineless;
        struct nameless_module *m = &b->ret[f->module];

        if (f->module == 0 || f->file != 0 || last[f->module] == number)
            continue;
        last[f->module] = number;
        nameless_bytes_add(f->function == 0 ? &m->nameless : &m->lineless, bytes);
    }
}

static struct nameless_module *
finish(struct builder *b)
{
    for (size_t i = 1; i < b->p->module_count; i++)
        if (own_code_is_runtime(b->p->modules[i].path))
            b->ret[i] = (struct nameless_module){0};
    return b->ret;
}

struct nameless_module *
nameless_modules(const struct profile *p, const struct stacks *stacks, struct arena *arena)
{
    struct builder b = begin(p, arena);

    for (size_t i = 0; i < stacks->count; i++) {
        const struct stack *s = &stacks->v[i];
        struct nameless_bytes bytes = nameless_bytes(&s->counters);

        add_stack(&b, s, s->depth != 0 ? stack_useful_depth(p, s) : 0, &bytes, i + 1);
    }
    return finish(&b);
}

struct nameless_module *
nameless_modules_of_all(const struct profile *p, bool fold_recursion,
                        struct nameless_bytes *ret_total, struct arena *arena)
{
    struct builder b = begin(p, arena);
    struct stack_ends *ends = stack_ends_new(p, fold_recursion, arena);
    bool whole;

    *ret_total = (struct nameless_bytes){0};
    for (size_t i = 0; i < p->site_count; i++) {
        const struct profile_site *site = &p->sites[i];
        struct stack s = stack_ends_read(ends, site->node, FRAMES_MISSED, &whole);
        struct nameless_bytes bytes = nameless_bytes(&site->counters);

        nameless_bytes_add(ret_total, &bytes);
        add_stack(&b, &s, whole && s.depth != 0 ? stack_useful_depth(p, &s) : s.depth, &bytes,
                  i + 1);
    }
    return finish(&b);
}
