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

static void
add_stack(const struct profile *p, const struct stack *s, size_t number, size_t *last_nameless,
          size_t *last_lineless, struct nameless_module *ret)
{
    struct nameless_bytes bytes = nameless_bytes(&s->counters);
    uint32_t depth = s->depth != 0 ? stack_useful_depth(p, s) : 0;

    for (uint32_t i = 0; i < depth && i < FRAMES_MISSED; i++) {
        const struct profile_frame *f = &p->frames[s->frames[i]];
        size_t *last = f->function == 0 ? last_nameless : last_lineless;

        if (f->module == 0 || f->file != 0 || last[f->module] == number)
            continue;
        last[f->module] = number;
        nameless_bytes_add(f->function == 0 ? &ret[f->module].nameless : &ret[f->module].lineless,
                           &bytes);
    }
}

struct nameless_module *
nameless_modules(const struct profile *p, const struct stacks *stacks, struct arena *arena)
{
    struct nameless_module *ret = arena_array(arena, p->module_count, sizeof *ret);
    size_t *last_nameless = arena_array(arena, p->module_count, sizeof *last_nameless);
    size_t *last_lineless = arena_array(arena, p->module_count, sizeof *last_lineless);

    for (size_t i = 0; i < stacks->count; i++)
        add_stack(p, &stacks->v[i], i + 1, last_nameless, last_lineless, ret);
    for (size_t i = 1; i < p->module_count; i++)
        if (own_code_is_runtime(p->modules[i].path))
            ret[i] = (struct nameless_module){0};
    return ret;
}
