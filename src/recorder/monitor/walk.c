/* walk.c: whole stacks with all registers, and where stacks lie.
 *
 * Used where the fast walk of stack.c cannot go: signal frames, functions whose frame needs
 * another register than rsp and rbp, and stacks other than the thread's own (alternate signal
 * stacks, coroutines). Starts from this function's own registers and steps out through the
 * recorder's own frames until it has left the intercepted function.
 *
 * Most frames are left by rules here too, because a handler that allocates may not take longer
 * than the time to its next signal. Rules know of rsp, rbp and pc only. A frame that no rule can
 * say is first tried with these. If they are not enough, the walk is taken again, by the tables,
 * from where nothing was lost yet: the beginning or the latest signal frame, which has all
 * registers in memory. So rsp, rbp and pc are at each frame what the tables say, and so is whether
 * rbp is known.
 *
 * The thread's own cache of rules is for its events. What asks for signal frames before an event
 * may itself be interrupted by one while it fills in a rule, so it keeps to the second level.
 *
 * Bounds. The main thread's stack ends where the kernel put the program's arguments and may grow
 * down to its limit. Another thread's ends at its thread control block if glibc made it. What is
 * known is confirmed by /proc/thread-self/maps, read once per foreign stack with raw system calls.
 * That takes the longer the more threads there are, so for their own stacks it is read only until
 * it has shown where in its control block glibc keeps them.
 */
#include "monitor/walk.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "base/atomics.h"
#include "base/fmt.h"
#include "monitor/nodes.h"
#include "monitor/process.h"
#include "monitor/rules.h"
#include "monitor/stack.h"
#include "monitor/sys.h"

enum {
    RED_ZONE_BYTES = 128,
    PAGE_BYTES = 4096,
    OVERFLOW_BYTES = 1 << 20, // How far below its stack a function that overflows it may reach.
    DOUBTFUL_PAGES = 32,      // How far up a frame may reach after a guess on a foreign stack.
};

#define STACK_GROWTH_MAX ((uint64_t)1 << 30)

/* The mapping that contains ADDRESS, by /proc/thread-self/maps: false if none, or if that cannot
 * be read. Not by /proc/self, which is empty once the main thread has left by pthread_exit. */
static bool
find_mapping(struct thread *t, uint64_t address, uint64_t *ret_low, uint64_t *ret_high)
{
    char *buffer = t->text; // The stack may be a signal handler's, which is small.
    size_t kept = 0;
    uint64_t off = 0;
    bool found = false;
    bool in_rest = false; // Of a line longer than the buffer.
    int fd = sys_open("/proc/thread-self/maps", O_RDONLY, 0);

    while (fd >= 0 && !found) {
        long got = sys_pread(fd, buffer + kept, sizeof t->text - 1 - kept, off);
        char *line = buffer;
        char *end;

        if (got <= 0)
            break;
        off += (uint64_t)got;
        end = buffer + kept + got;
        *end = '\0';
        for (char *p = buffer; p < end; p++) {
            const char *s = line;
            uint64_t low, high;

            if (*p != '\n')
                continue;
            low = parse_hex(&s);
            s += *s == '-';
            high = parse_hex(&s);
            line = p + 1;
            if (!in_rest && address >= low && address < high) {
                *ret_low = low;
                *ret_high = high;
                found = true;
                break;
            }
            in_rest = false;
        }
        kept = (size_t)(end - line);
        if (kept >= sizeof t->text - 1) {
            kept = 0;
            in_rest = true; // A path may be that long, and say what looks like an address.
        }
        __builtin_memmove(buffer, line, kept);
    }
    if (fd >= 0)
        sys_close(fd);
    return found;
}

/* How far the main stack may grow, as the kernel saw it when it laid out the address space. A limit
 * that the program raises later moves nothing: what it would claim belongs to others. */
static uint64_t growth_bytes;

__attribute__((constructor)) static void
note_growth(void)
{
    uint64_t limit = sys_limit(RLIMIT_STACK);

    if (growth_bytes == 0)
        growth_bytes = limit < STACK_GROWTH_MAX ? limit : STACK_GROWTH_MAX;
}

void
stack_process_begins(void)
{
    note_growth(); // The first event may come before the constructors.
    // AT_RANDOM's bytes lie above the first frame, in the stack's own mapping.
    state->stack_top = round_down(process_value(AT_RANDOM), 8);
    state->stack_limit = state->stack_top > growth_bytes ? state->stack_top - growth_bytes : 0;
}

static bool
on_main_stack(uint64_t slot)
{
    return slot >= state->stack_limit && slot < state->stack_top;
}

static void
take_main_stack(struct thread *t)
{
    t->stack_low = state->stack_limit;
    t->stack_high = state->stack_top;
    t->thread_pointer = 0;
}

void
stack_thread_begins(struct thread *t)
{
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    uint64_t pointer = arch_thread_pointer();

    // What the row's former thread took for foreign may be this one's own stack.
    __builtin_memset(t->foreign, 0, sizeof t->foreign);
    if (on_main_stack(here)) {
        take_main_stack(t);
        return;
    }
    // glibc reuses the stacks of ended threads: the same control block is the same stack.
    if (t->thread_pointer != pointer || here < t->stack_low || here >= t->stack_high)
        t->stack_low = t->stack_high = 0;
    t->thread_pointer = pointer;
}

/* What glibc notes of a stack in the thread's control block, at an offset that is not ours to
 * know. */
struct stack_block {
    uint64_t start, size_bytes, guard_bytes;
};

static bool
is_block_of(const struct stack_block *b, uint64_t slot, uint64_t pointer)
{
    return ((b->start | b->size_bytes | b->guard_bytes) & (PAGE_BYTES - 1)) == 0 &&
           b->guard_bytes < b->size_bytes && b->start + b->guard_bytes <= slot &&
           pointer - b->start < b->size_bytes;
}

/* The control block's words at POINTER + OFF, if they are surely mapped: glibc's are in the page of
 * POINTER when it made the stack, a foreign one may end anywhere. */
static const struct stack_block *
block_at(uint64_t pointer, uint32_t off)
{
    uint64_t at = pointer + off;

    if (off == 0 || at / PAGE_BYTES != pointer / PAGE_BYTES ||
        (at + sizeof(struct stack_block) - 1) / PAGE_BYTES != pointer / PAGE_BYTES)
        return NULL;
    return (const struct stack_block *)(uintptr_t)at;
}

/* T's stack is known to begin at LOW: find the words that say so. */
static void
learn_block_off(struct thread *t, uint64_t low)
{
    const struct stack_block *b;

    for (uint32_t off = 8; (b = block_at(t->thread_pointer, off)) != NULL; off += 8)
        if (b->guard_bytes != 0 && b->start + b->guard_bytes == low &&
            is_block_of(b, low, t->thread_pointer))
            store_relaxed(&state->block_off, off);
}

/* Is SLOT on the stack that T's control block names? */
static bool
is_in_block(struct thread *t, uint64_t slot)
{
    const struct stack_block *b = block_at(t->thread_pointer, load_relaxed(&state->block_off));

    if (b == NULL || slot >= t->thread_pointer || !is_block_of(b, slot, t->thread_pointer))
        return false;
    t->stack_low = b->start + b->guard_bytes;
    t->stack_high = round_down(t->thread_pointer, 8);
    return true;
}

/* The end of what can be read from FROM on, up to HIGH and a limit. What is known of a foreign
 * stack may be out of date, which does not matter for frames that are there, but a guess may point
 * anywhere. */
static uint64_t
readable_until(uint64_t from, uint64_t high)
{
    uint64_t end = from;

    for (uint32_t i = 0; i < DOUBTFUL_PAGES && end < high; i++) {
        if (!sys_is_readable(end))
            break;
        end = round_down(end, PAGE_BYTES) + PAGE_BYTES;
    }
    return end < high ? end : high;
}

bool
walk_own_stack(struct thread *t, uint64_t slot)
{
    uint64_t low, high;

    if (t->thread_pointer != 0 && is_in_block(t, slot))
        return true;
    // The main thread's first event was on another stack.
    if (t->stack_low == 0 && on_main_stack(slot)) {
        take_main_stack(t);
        return true;
    }
    for (uint32_t i = 0; i < FOREIGN_STACKS; i++)
        if (slot >= t->foreign[i].low && slot < t->foreign[i].high)
            return false;
    if (!find_mapping(t, slot, &low, &high)) {
        // No /proc, as in a bare chroot: what can be read around here.
        low = round_down(slot, PAGE_BYTES);
        high = readable_until(low, UINT64_MAX);
        if (high <= slot)
            return false;
    }
    if (t->thread_pointer > low && t->thread_pointer < high && slot < t->thread_pointer) {
        t->stack_low = low;
        t->stack_high = round_down(t->thread_pointer, 8);
        if (load_relaxed(&state->block_off) == 0)
            learn_block_off(t, low);
        return true;
    }
    t->foreign[t->foreign_next].low = low;
    t->foreign[t->foreign_next].high = high;
    t->foreign_next = (t->foreign_next + 1) % FOREIGN_STACKS;
    return false;
}

/* Where words may be read when rsp is at SP, for the usual frame of the thread's own stack. */
static inline bool
own_bounds_at(const struct thread *t, uint64_t sp, bool exact, struct unwind_bounds *ret)
{
    *ret = (struct unwind_bounds){sp, t->stack_high};
    return likely(!exact) && likely(sp >= t->stack_low && sp < t->stack_high);
}

/* Where words may be read when rsp is at SP. An interrupted function may still own what lies in the
 * red zone below: between the pop of a register and its return the tables say that it is there. One
 * that has overflowed the stack has its rsp below it. */
static bool
bounds_at(struct thread *t, uint64_t sp, bool exact, bool doubtful, struct unwind_bounds *ret)
{
    uint64_t low = exact ? sp - RED_ZONE_BYTES : sp;

    if ((sp >= t->stack_low && sp < t->stack_high) || walk_own_stack(t, sp)) {
        *ret = (struct unwind_bounds){low, t->stack_high};
        return true;
    }
    for (uint32_t i = 0; i < FOREIGN_STACKS; i++) {
        if (sp >= t->foreign[i].low && sp < t->foreign[i].high) {
            uint64_t high = t->foreign[i].high;

            *ret = (struct unwind_bounds){low, doubtful ? readable_until(sp, high) : high};
            return true;
        }
    }
    if (exact && t->stack_low == 0 && on_main_stack(sp + OVERFLOW_BYTES))
        take_main_stack(t);
    *ret = (struct unwind_bounds){t->stack_low, t->stack_high};
    return exact && sp < t->stack_low && t->stack_low - sp < OVERFLOW_BYTES;
}

/* Step by the frame pointer where there is no table. */
READS_STACK static bool
guess_step(struct unwind_registers *r, const struct unwind_bounds *b)
{
    uint64_t rbp = r->r[UNWIND_RBP];
    const uint64_t *frame = (const uint64_t *)(uintptr_t)rbp;

    if (!(r->valid >> UNWIND_RBP & 1) || (rbp & 7) || rbp < b->low || rbp < r->r[UNWIND_RSP] ||
        b->high < 16 || rbp > b->high - 16 || frame[1] == 0)
        return false;
    r->r[UNWIND_RBP] = frame[0];
    r->r[UNWIND_PC] = frame[1];
    r->r[UNWIND_RSP] = rbp + 16;
    r->exact = false;
    return true;
}

enum outcome { WALK_ON, WALK_ENDS, WALK_BREAKS };

/* A walk outwards. The first frame is that of the function that began it. */
struct walk {
    struct thread *t;
    struct unwind_registers r;     // Of the frame that the walk has come to; rsp, rbp, pc at least.
    struct unwind_registers whole; // Of an earlier frame or the same, from which the tables can go.
    uint32_t at, whole_at;         // Which frames these are.
    bool doubtful, whole_doubtful; // A step to them was guessed.
    struct rule_entry *rules;      // The thread's cache; NULL = leave it alone.
    struct rule_entry entry;       // What the cache is not for.
};

/* There is no table for R's pc: guess. In a loaded object that is how stacks end (see stack.c). */
static enum outcome
step_blindly(struct unwind_registers *r, const struct unwind_bounds *b, bool *ret_guessed)
{
    struct unwind_object o;

    *ret_guessed = guess_step(r, b);
    if (*ret_guessed)
        return WALK_ON;
    return unwind_find_object(unwind_lookup(r), &o) ? WALK_ENDS : WALK_BREAKS;
}

/* The same within the bounds of a guess. */
static enum outcome
step_without_table(struct thread *t, struct unwind_registers *r, bool *ret_guessed)
{
    struct unwind_bounds b;

    return bounds_at(t, r->r[UNWIND_RSP], r->exact, true, &b) ? step_blindly(r, &b, ret_guessed)
                                                              : WALK_BREAKS;
}

/* One step outwards by the tables; *RET_GUESSED if it had to be guessed. DOUBTFUL: an earlier one
 * was. */
static enum outcome
step_by_tables(struct thread *t, struct unwind_registers *r, bool doubtful, bool *ret_guessed)
{
    struct unwind_bounds b;

    *ret_guessed = false;
    if (!bounds_at(t, r->r[UNWIND_RSP], r->exact, doubtful, &b))
        return WALK_BREAKS;
    switch (unwind_step(r, &b)) {
    case UNWIND_STEPPED:
        return WALK_ON;
    case UNWIND_END:
        return WALK_ENDS;
    case UNWIND_NO_TABLE:
        return step_without_table(t, r, ret_guessed);
    default:
        return WALK_BREAKS;
    }
}

/* One step of W that needs registers which rules have not kept: take all steps again from the frame
 * of which they are known. */
static enum outcome
step_whole(struct walk *w, bool *ret_guessed)
{
    enum outcome outcome;

    do {
        outcome = step_by_tables(w->t, &w->whole, w->whole_doubtful, ret_guessed);
        w->whole_doubtful |= *ret_guessed;
    } while (outcome == WALK_ON && w->whole_at++ < w->at);
    w->r = w->whole;
    return outcome;
}

/* One step of W that no rule can say, within B. */
static enum outcome
step_full(struct walk *w, const struct unwind_bounds *b, bool *ret_guessed)
{
    if (w->at == w->whole_at)
        return step_whole(w, ret_guessed);
    switch (unwind_step(&w->r, b)) {
    case UNWIND_STEPPED:
        return w->r.valid >> UNWIND_RBP & 1 ? WALK_ON : step_whole(w, ret_guessed);
    case UNWIND_END:
        return WALK_ENDS;
    default:
        return step_whole(w, ret_guessed);
    }
}

/* The frame that W has come to and how to step out of it; valid until the next call. An interrupted
 * instruction is looked up itself, so its key is that of a return address just behind it. */
static inline const struct rule_entry *
rule_at(struct walk *w)
{
    uint64_t pc = w->r.r[UNWIND_PC];

    if (likely(w->rules != NULL) && likely(!w->r.exact))
        return rules_find(w->rules, pc);
    rules_fill(&w->entry, pc + w->r.exact);
    w->entry.frame = (w->entry.frame & ~DISK_ADDRESS_MASK) | (pc & DISK_ADDRESS_MASK);
    return &w->entry;
}

static enum outcome
step_by_rule(struct walk *w, const struct unwind_rule *rule, bool *ret_guessed)
{
    struct unwind_bounds b;

    if (!own_bounds_at(w->t, w->r.r[UNWIND_RSP], w->r.exact, &b) &&
        !bounds_at(w->t, w->r.r[UNWIND_RSP], w->r.exact, w->doubtful, &b))
        return WALK_BREAKS;
    switch (rule->kind) {
    case RULE_END:
        return WALK_ENDS;
    case RULE_NO_TABLE:
        return step_without_table(w->t, &w->r, ret_guessed);
    case RULE_FULL:
        return step_full(w, &b, ret_guessed);
    case RULE_SIGNAL:
        // From here the tables find all registers again.
        w->whole = w->r;
        w->whole_at = w->at;
        w->whole_doubtful = w->doubtful;
        break;
    default:
        break;
    }
    switch (unwind_step_by_rule(&w->r, rule, &b)) {
    case UNWIND_STEPPED:
        return WALK_ON;
    case UNWIND_END:
        return WALK_ENDS;
    default:
        return WALK_BREAKS;
    }
}

/* One step of W outwards by RULE; *RET_GUESSED if it had to be guessed. */
static enum outcome
step_out(struct walk *w, const struct unwind_rule *rule, bool *ret_guessed)
{
    enum outcome outcome;

    *ret_guessed = false;
    outcome = step_by_rule(w, rule, ret_guessed);
    w->doubtful |= *ret_guessed;
    w->at++;
    return outcome;
}

/* W begins at the frame of the registers that were captured in W->whole. */
static void
begin(struct walk *w, struct thread *t, struct rule_entry *rules)
{
    w->t = t;
    w->rules = rules;
    w->r = w->whole;
    w->at = w->whole_at = 0;
    w->doubtful = w->whole_doubtful = false;
}

/* Step out of the recorder's own frames to the caller of the intercepted function. */
static bool
leave_recorder(struct walk *w, uint64_t slot)
{
    bool guessed;

    while (w->r.r[UNWIND_RSP] <= slot)
        if (step_out(w, &rule_at(w)->rule, &guessed) != WALK_ON)
            return false;
    return w->r.r[UNWIND_RSP] == slot + 8;
}

COLD enum walk_between
walk_between(struct thread *t, uint64_t slot, uint64_t end)
{
    bool guessed, any_guessed = false;
    struct walk w;

    unwind_capture(&w.whole);
    begin(&w, t, NULL);
    if (!leave_recorder(&w, slot))
        return WALK_UNKNOWN;
    for (uint32_t i = 0; i < LIMIT_DEPTH && !w.r.exact && w.r.r[UNWIND_RSP] <= end; i++) {
        if (step_out(&w, &rule_at(&w)->rule, &guessed) != WALK_ON)
            return WALK_UNKNOWN;
        any_guessed |= guessed;
    }
    if (w.r.exact)
        return WALK_SIGNAL;
    if (w.r.r[UNWIND_RSP] <= end || any_guessed)
        return WALK_UNKNOWN;
    return w.r.r[UNWIND_RSP] == end + 8 ? WALK_CALLS : WALK_PASSES;
}

/* Put the frames from W on into its thread's walked ones, and their number into RET_COUNT. */
static enum outcome
walk_out(struct walk *w, uint32_t *ret_count)
{
    enum outcome outcome;
    uint32_t count = 0;
    bool guessed;

    do {
        struct stack_frame *f = &w->t->walked[count++];
        const struct rule_entry *e = rule_at(w);

        f->frame = e->frame;
        f->flags = w->r.exact ? DISK_NODE_EXACT : 0;
        outcome = step_out(w, &e->rule, &guessed);
        f->flags |= guessed ? DISK_NODE_GUESSED : 0;
    } while (outcome == WALK_ON && count < state->depth_max);
    *ret_count = count;
    return outcome;
}

COLD uint32_t
walk_full(struct thread *t, struct arch_caller caller)
{
    struct walk w;
    enum outcome outcome = WALK_BREAKS;
    uint32_t parent = DISK_NODE_ROOT;
    uint32_t count = 1;

    unwind_capture(&w.whole);
    begin(&w, t, t->rules);
    bump(&t->disk->full_unwinds);
    if (leave_recorder(&w, caller.slot)) {
        outcome = walk_out(&w, &count);
    } else {
        // Nobody can tell where this stack lies, but the caller is known.
        t->walked[0].frame = rules_find(t->rules, *(const uint64_t *)(uintptr_t)caller.slot)->frame;
        t->walked[0].flags = 0;
    }
    bump_by(&t->disk->frames_unwound, count);
    if (outcome == WALK_BREAKS)
        parent = DISK_NODE_BROKEN;
    else if (outcome == WALK_ON)
        parent = DISK_NODE_TRUNCATED;
    for (uint32_t i = count; i > 0; i--)
        parent = nodes_child(parent, t->walked[i - 1].frame, t->walked[i - 1].flags);
    return parent;
}
