/* lost_gate.c: judge unreachable blocks.
 *
 * Memory that was not read may have pointers to blocks that seem lost, and blocks that are not
 * known may be lost. So nothing is judged unless all blocks and all words are known. */
#include "command/lost_gate.h"

#include "command/leak_rules.h"
#include "command/report_limits.h"
#include "option/opts.h"
#include "view/messages.h"
#include "view/style.h"

/* Return why M and P do not show all blocks and pointers, as a clause; NULL if they do. */
static const char *
lost_gate_gap(const struct memory_view *m, const struct profile *p)
{
    const struct examined *e = m->e;

    if (e->memory.missing_bytes > 0 || e->excluded_bytes > 0)
        return "the dump lacks memory that may have pointers";
    if (e->running > 0)
        return "a thread could not be stopped";
    if (e->held > 0)
        return "the kernel holds a thread, so its registers are not known";
    if (e->blocks.missing_leaves > 0)
        return "a part of the recorder's list of blocks is missing";
    if (e->part_walked || e->inherited.unknown || e->inherited.sampled)
        return "some blocks are not known";
    if (p->process.attached)
        return "blocks from before the attach are not known";
    return NULL;
}

int
lost_gate_check(const struct limits *limits, const struct memory_view *m, const struct profile *p)
{
    const struct limit *l = &limits->v[LIMIT_LEAKS];
    uint64_t blocks = m->reached[REACH_NONE].blocks + m->reached[REACH_THROUGH].blocks;
    uint64_t bytes = m->reached[REACH_NONE].bytes + m->reached[REACH_THROUGH].bytes;
    const char *gap = lost_gate_gap(m, p);
    struct arena arena = {0};

    if (!l->given)
        return 0;
    if (p->damage != NULL) {
        report_damaged("fail-over", p);
        return EXIT_BAD_INPUT;
    }
    if (gap != NULL) {
        message_error("--fail-over cannot judge %s: %s", m->e->memory.name, gap);
        return EXIT_BAD_INPUT;
    }
    // The list of blocks is in the memory, so a copy of the profile that lags matters not.
    if (report_incomplete("fail-over", &p->losses, false))
        return EXIT_BAD_INPUT;
    if (bytes <= l->value && (blocks == 0 || l->value > 0))
        return 0;
    leak_rules_exceeded(
        l,
        arena_printf(&arena, "%s in %s %s lost",
                     style_bytes_beside(&arena, (int64_t)bytes, (int64_t)l->value),
                     style_plural(&arena, (int64_t)blocks, "block"), blocks == 1 ? "is" : "are"),
        (int64_t)bytes);
    arena_release(&arena);
    return EXIT_FINDINGS;
}
