/* test_unwind.c: rules and steps for hand-written frames. test_cfi.c has invalid tables.
 *
 * The functions below are never called. They have one labelled instruction for each interesting row
 * of the unwind table. The tests request the rule at a label and step from it over a stack from
 * fake_stack.h. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_stack.h"
#include "unwind/unwind.h"

extern const char t_entry[], t_pushed[], t_framed[], t_restored[], t_shrunk[], t_rbx[];
extern const char t_realigned[];
extern const char t_plt[], t_outermost[], t_no_table[], t_undefined_rbp[], t_rbp_at_cfa[];
extern const char t_rbp_by_rsp[];
extern const char t_far_rbp[], t_return_elsewhere[], t_moved_rbp[], t_signal[], t_val_offset[];
extern const char t_in_register[], t_sigreturn[], t_odd_sigreturn[];

__asm__(".text\n"
        ".p2align 4\n"
        "t_frames:\n"
        ".cfi_startproc\n"
        "t_entry: pushq %rbp\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbp, 0\n"
        "t_pushed: movq %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "t_framed: nop\n"
        ".cfi_remember_state\n"
        "    leave\n"
        ".cfi_def_cfa %rsp, 8\n"
        ".cfi_restore %rbp\n"
        "t_restored: ret\n"
        ".cfi_restore_state\n"
        "t_shrunk: nop\n"
        ".cfi_endproc\n"

        "t_rbx_frame:\n"
        ".cfi_startproc\n"
        "    pushq %rbx\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rbx, 0\n"
        ".cfi_def_cfa_register %rbx\n"
        "t_rbx: nop\n"
        ".cfi_endproc\n"

        // gcc's code for a function that realigns its stack: CFA = *(rbp - 8), rbp saved at rbp.
        "t_realigned_frame:\n"
        ".cfi_startproc\n"
        ".cfi_escape 0x10, 6, 2, 0x76, 0\n"
        ".cfi_escape 0x0f, 3, 0x76, 0x78, 6\n"
        ".cfi_escape 0x10, 3, 2, 0x76, 0x70\n"
        "t_realigned: nop\n"
        ".cfi_endproc\n"

        // The linker writes this for the PLT: CFA = rsp + 8 + ((rip & 15) >= 11) * 8.
        ".p2align 4\n"
        "t_plt_frame:\n"
        ".cfi_startproc\n"
        ".cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"
        "t_plt: .fill 16, 1, 0x90\n"
        ".cfi_endproc\n"

        "t_outermost_frame:\n"
        ".cfi_startproc\n"
        ".cfi_undefined %rip\n"
        "t_outermost: nop\n"
        ".cfi_endproc\n"

        "t_refused_frame:\n"
        ".cfi_startproc\n"
        ".cfi_undefined %rbp\n"
        "t_undefined_rbp: nop\n"
        ".cfi_offset %rbp, 0\n"
        "t_rbp_at_cfa: nop\n"
        ".cfi_escape 0x10, 6, 2, 0x77, 8\n" // rbp is saved at rsp + 8.
        "t_rbp_by_rsp: nop\n"
        ".cfi_offset %rbp, -262152\n" // One word beyond the farthest slot.
        "t_far_rbp: nop\n"
        ".cfi_offset %rbp, -262144\n"
        "t_moved_rbp: nop\n"
        ".cfi_restore %rbp\n"
        ".cfi_offset %rip, -16\n"
        "t_return_elsewhere: nop\n"
        ".cfi_offset %rip, -8\n"
        ".cfi_escape 0x15, 12, 0x7d\n" // r12 is CFA + 24.
        "t_val_offset: nop\n"
        ".cfi_register %rbx, %r12\n"
        ".cfi_same_value %r13\n"
        ".cfi_undefined %r14\n"
        "t_in_register: nop\n"
        ".cfi_endproc\n"

        // The interrupted code's rsp and pc are 16 and 24 bytes above the handler's rsp; rdx is at
        // 32.
        "t_signal_frame:\n"
        ".cfi_startproc\n"
        ".cfi_signal_frame\n"
        ".cfi_escape 0x0f, 3, 0x77, 16, 6\n"
        ".cfi_escape 0x10, 7, 2, 0x77, 16\n"
        ".cfi_escape 0x10, 16, 2, 0x77, 24\n"
        ".cfi_escape 0x10, 1, 2, 0x77, 32\n"
        "t_signal: nop\n"
        ".cfi_endproc\n"

        // libc's description of the kernel's frame: all registers are in the frame, at offsets from
        // rsp. In the second, odd frame, pc is not beside rsp.
        "t_sigreturn_frame:\n"
        ".cfi_startproc\n"
        ".cfi_signal_frame\n"
        ".cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6\n"
        ".cfi_escape 0x10, 8, 2, 0x77, 0x28\n"
        ".cfi_escape 0x10, 9, 2, 0x77, 0x30\n"
        ".cfi_escape 0x10, 10, 2, 0x77, 0x38\n"
        ".cfi_escape 0x10, 11, 3, 0x77, 0xc0, 0\n"
        ".cfi_escape 0x10, 12, 3, 0x77, 0xc8, 0\n"
        ".cfi_escape 0x10, 13, 3, 0x77, 0xd0, 0\n"
        ".cfi_escape 0x10, 14, 3, 0x77, 0xd8, 0\n"
        ".cfi_escape 0x10, 15, 3, 0x77, 0xe0, 0\n"
        ".cfi_escape 0x10, 5, 3, 0x77, 0xe8, 0\n"
        ".cfi_escape 0x10, 4, 3, 0x77, 0xf0, 0\n"
        ".cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0\n"
        ".cfi_escape 0x10, 3, 3, 0x77, 0x80, 1\n"
        ".cfi_escape 0x10, 1, 3, 0x77, 0x88, 1\n"
        ".cfi_escape 0x10, 0, 3, 0x77, 0x90, 1\n"
        ".cfi_escape 0x10, 2, 3, 0x77, 0x98, 1\n"
        ".cfi_escape 0x10, 7, 3, 0x77, 0xa0, 1\n"
        ".cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1\n"
        "t_sigreturn: nop\n"
        ".cfi_endproc\n"

        "t_odd_sigreturn_frame:\n"
        ".cfi_startproc\n"
        ".cfi_signal_frame\n"
        ".cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6\n"
        ".cfi_escape 0x10, 8, 2, 0x77, 0x28\n"
        ".cfi_escape 0x10, 9, 2, 0x77, 0x30\n"
        ".cfi_escape 0x10, 10, 2, 0x77, 0x38\n"
        ".cfi_escape 0x10, 11, 3, 0x77, 0xc0, 0\n"
        ".cfi_escape 0x10, 12, 3, 0x77, 0xc8, 0\n"
        ".cfi_escape 0x10, 13, 3, 0x77, 0xd0, 0\n"
        ".cfi_escape 0x10, 14, 3, 0x77, 0xd8, 0\n"
        ".cfi_escape 0x10, 15, 3, 0x77, 0xe0, 0\n"
        ".cfi_escape 0x10, 5, 3, 0x77, 0xe8, 0\n"
        ".cfi_escape 0x10, 4, 3, 0x77, 0xf0, 0\n"
        ".cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0\n"
        ".cfi_escape 0x10, 3, 3, 0x77, 0x80, 1\n"
        ".cfi_escape 0x10, 1, 3, 0x77, 0x88, 1\n"
        ".cfi_escape 0x10, 0, 3, 0x77, 0x90, 1\n"
        ".cfi_escape 0x10, 2, 3, 0x77, 0x98, 1\n"
        ".cfi_escape 0x10, 7, 3, 0x77, 0xa0, 1\n"
        ".cfi_escape 0x10, 16, 3, 0x77, 0xb0, 1\n"
        "t_odd_sigreturn: nop\n"
        ".cfi_endproc\n"

        "t_no_table: nop\n"
        "    nop\n");

enum { RDX = 1, R12 = 12, R13 = 13, R14 = 14 };

static struct unwind_rule
unwind_rule_at(const char *label)
{
    struct unwind_object object;

    assert_true(unwind_find_object(address_of(label), &object));
    return unwind_compile(address_of(label), &object);
}

static void
assert_rule(const char *label, enum unwind_kind kind, int cfa_offset, int rbp_words)
{
    struct unwind_rule rule = unwind_rule_at(label);

    assert_int_equal(rule.kind, kind);
    assert_int_equal(rule.cfa_offset, cfa_offset);
    assert_int_equal(rule.rbp_words, rbp_words);
    assert_int_equal(rule.reserved, 0);
}

/* If this fails, nearly every stack of every program is wrong, because a rule has a wrong
 * offset. */
static void
ordinary_frames_have_their_rules(void **state)
{
    (void)state;
    assert_rule(t_entry, RULE_RSP, 8, 0);
    assert_rule(t_pushed, RULE_RSP, 16, -2);
    assert_rule(t_framed, RULE_RBP, 16, -2);
    assert_rule(t_restored, RULE_RSP, 8, 0);
    assert_rule(t_shrunk, RULE_RBP, 16, -2);
    assert_rule(t_realigned, RULE_RBP_DEREF, -8, 0);
    assert_rule(t_outermost, RULE_END, 0, 0);
    assert_rule(t_sigreturn, RULE_SIGNAL, 160, 15);
}

/* If this fails, a frame that needs more than rsp and rbp gets a rule that is almost right. */
static void
rules_refuse_what_they_cannot_say(void **state)
{
    (void)state;
    assert_rule(t_rbx, RULE_FULL, 0, 0);
    assert_rule(t_plt, RULE_FULL, 0, 0);
    assert_rule(t_undefined_rbp, RULE_FULL, 0, 0);
    assert_rule(t_rbp_at_cfa, RULE_FULL, 0, 0);
    assert_rule(t_rbp_by_rsp, RULE_FULL, 0, 0);
    assert_rule(t_far_rbp, RULE_FULL, 0, 0);
    assert_rule(t_return_elsewhere, RULE_FULL, 0, 0);
    assert_rule(t_signal, RULE_FULL, 0, 0);
    assert_rule(t_odd_sigreturn, RULE_FULL, 0, 0);
    assert_rule(t_no_table, RULE_NO_TABLE, 0, 0);
}

/* If this fails, the farthest save slot that 16 bits of words can encode is truncated or refused;
 * or rules for other registers slow down simple frames. */
static void
rules_reach_to_their_limits(void **state)
{
    (void)state;
    assert_rule(t_moved_rbp, RULE_RSP, 8, -32768);
    assert_rule(t_val_offset, RULE_RSP, 8, 0);
    assert_rule(t_in_register, RULE_RSP, 8, 0);
}

/* If this fails, addresses without an object (stack, 0) are treated as code, or the range is
 * wrong. */
static void
an_address_is_found_in_its_object(void **state)
{
    struct unwind_object object;
    uint64_t here = address_of(t_entry);

    (void)state;
    assert_true(unwind_find_object(here, &object));
    assert_true(object.start <= here && here < object.end);
    assert_true(address_of(object.eh_frame_hdr) > object.start);
    assert_true(address_of(object.eh_frame_hdr) < object.end);
    assert_non_null(object.link_map);
    assert_false(unwind_find_object(0, &object));
    assert_false(unwind_find_object(address_of(&object), &object));
}

static void
assert_stepped(struct fake *f, uint64_t rsp, uint64_t rbp, uint64_t pc)
{
    assert_int_equal(unwind_step(&f->r, &f->bounds), UNWIND_STEPPED);
    assert_int_equal(f->r.r[UNWIND_RSP], rsp);
    assert_int_equal(f->r.r[UNWIND_RBP], rbp);
    assert_int_equal(f->r.r[UNWIND_PC], pc);
}

/* The step fails and leaves the registers as they were. */
static void
unwind_assert_refused(struct fake *f, enum unwind_step_result expected)
{
    struct unwind_registers before = f->r;

    assert_int_equal(unwind_step(&f->r, &f->bounds), expected);
    assert_memory_equal(&f->r, &before, sizeof before);
}

/* If this fails, stepping by the table finds the wrong caller even where a rule would do. */
static void
a_step_leads_to_the_caller(void **state)
{
    struct fake f;

    (void)state;
    fake_init(&f, t_entry);
    assert_stepped(&f, slot(&f, 11), slot(&f, 20), 1010);
    assert_false(f.r.exact);
    fake_init(&f, t_pushed);
    assert_stepped(&f, slot(&f, 12), 1010, 1011);
    fake_init(&f, t_framed);
    assert_stepped(&f, slot(&f, 22), 1020, 1021);
    fake_init(&f, t_realigned);
    f.stack[19] = slot(&f, 40);
    assert_stepped(&f, slot(&f, 40), 1020, 1039);
    assert_int_equal(f.r.r[UNWIND_RBX], 1018);
}

/* If this fails, frames of the dynamic linker's resolver and of the PLT end every stack that has
 * them. */
static void
steps_go_beyond_the_rules(void **state)
{
    struct fake f;

    (void)state;
    fake_init(&f, t_rbx);
    assert_stepped(&f, slot(&f, 32), slot(&f, 20), 1031);
    assert_int_equal(f.r.r[UNWIND_RBX], 1030);
    fake_init(&f, t_plt);
    assert_stepped(&f, slot(&f, 11), slot(&f, 20), 1010);
    fake_init(&f, t_plt + 10);
    assert_stepped(&f, slot(&f, 11), slot(&f, 20), 1010);
    fake_init(&f, t_plt + 11);
    assert_stepped(&f, slot(&f, 12), slot(&f, 20), 1011);
}

/* If this fails, the next function's table is used when a call is the last instruction of a
 * function. */
static void
a_return_address_is_looked_up_one_before(void **state)
{
    struct fake f;

    (void)state;
    fake_init(&f, t_pushed);
    f.r.exact = false;
    assert_stepped(&f, slot(&f, 11), slot(&f, 20), 1010);
}

/* If this fails, an outer frame relies on caller-saved registers, which the callee has
 * overwritten. */
static void
registers_are_known_only_if_saved(void **state)
{
    struct fake f;

    (void)state;
    fake_init(&f, t_in_register);
    assert_stepped(&f, slot(&f, 11), slot(&f, 20), 1010);
    assert_int_equal(f.r.valid, 1u << UNWIND_RBX | 1u << UNWIND_RBP | 1u << UNWIND_RSP | 1u << R12 |
                                    1u << R13 | 1u << 15 | 1u << UNWIND_PC);
    assert_int_equal(f.r.r[UNWIND_RBX], 2012);
    assert_int_equal(f.r.r[R12], slot(&f, 14));
    assert_int_equal(f.r.r[R13], 2013);
    fake_init(&f, t_rbx);
    f.r.valid &= ~(1u << UNWIND_RBX);
    unwind_assert_refused(&f, UNWIND_BAD);
    fake_init(&f, t_plt);
    f.r.valid &= ~(1u << UNWIND_RSP);
    unwind_assert_refused(&f, UNWIND_BAD);
}

/* If this fails, stacks end at signal handlers, or the interrupted function is looked up one byte
 * too early. */
static void
a_signal_frame_leads_to_what_it_interrupted(void **state)
{
    struct fake f;

    (void)state;
    fake_init(&f, t_signal);
    f.stack[12] = slot(&f, 50);
    assert_stepped(&f, slot(&f, 50), slot(&f, 20), 1013);
    assert_true(f.r.exact);
    assert_int_equal(f.r.r[RDX], 1014);
    assert_int_equal(unwind_lookup(&f.r), 1013);

    // The step leads to a lower address, because the handler had a separate stack.
    fake_init(&f, t_signal);
    f.stack[12] = slot(&f, 5);
    assert_stepped(&f, slot(&f, 5), slot(&f, 20), 1013);

    // The step leads to an unreadable stack. It succeeds, and the caller must determine the new
    // bounds.
    fake_init(&f, t_signal);
    f.stack[12] = slot(&f, STACK_WORDS) + 8;
    assert_stepped(&f, slot(&f, STACK_WORDS) + 8, slot(&f, 20), 1013);
}

/* If this fails, walks continue past the outermost frame, or a truncated stack is called whole. */
static void
a_walk_ends_where_the_stack_ends(void **state)
{
    struct fake f;

    (void)state;
    fake_init(&f, t_outermost);
    unwind_assert_refused(&f, UNWIND_END);
    fake_init(&f, t_entry);
    f.stack[10] = 0;
    unwind_assert_refused(&f, UNWIND_END);
    fake_init(&f, t_no_table);
    unwind_assert_refused(&f, UNWIND_NO_TABLE);
    fake_init(&f, NULL);
    unwind_assert_refused(&f, UNWIND_NO_TABLE);
}

/* If this fails, the recorder reads beyond the stack and kills the program it profiles. */
static void
nothing_is_read_beyond_the_stack(void **state)
{
    struct fake f;

    (void)state;
    fake_init(&f, t_entry);
    f.bounds.high = slot(&f, 11) - 1;
    unwind_assert_refused(&f, UNWIND_BAD);
    f.bounds.high = slot(&f, 11);
    assert_stepped(&f, slot(&f, 11), slot(&f, 20), 1010);

    fake_init(&f, t_framed);
    f.bounds.low = slot(&f, 21) + 1;
    unwind_assert_refused(&f, UNWIND_BAD);
    f.bounds = (struct unwind_bounds){0, 0, NULL};
    unwind_assert_refused(&f, UNWIND_BAD);

    // A saved register outside the bounds is unknown. Only a frame that needs that register fails.
    fake_init(&f, t_framed);
    f.bounds.low = slot(&f, 20) + 1;
    assert_int_equal(unwind_step(&f.r, &f.bounds), UNWIND_STEPPED);
    assert_int_equal(f.r.r[UNWIND_PC], 1021);
    assert_false(f.r.valid >> UNWIND_RBP & 1);
    f.r.r[UNWIND_PC] = address_of(t_framed);
    f.r.exact = true;
    unwind_assert_refused(&f, UNWIND_BAD);

    // A frame pointer below the stack pointer cannot be a caller's frame.
    fake_init(&f, t_framed);
    f.r.r[UNWIND_RBP] = slot(&f, 4);
    unwind_assert_refused(&f, UNWIND_BAD);
    f.r.r[UNWIND_RBP] = UINT64_MAX - 7;
    unwind_assert_refused(&f, UNWIND_BAD);
}

/* Return a word that is likely to expose errors: an aligned or unaligned address near F's stack, 0,
 * or any number. */
static uint64_t
drawn_word(const struct fake *f, unsigned *seed)
{
    unsigned r = (unsigned)rand_r(seed);
    uint64_t near = slot(f, 0) - 64 + r % (8 * STACK_WORDS + 128);

    switch (r >> 16 & 15) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX - r % 32;
    case 2:
        return near;
    default:
        return near & ~UINT64_C(7);
    }
}

/* Step F from LABEL by its rule and by the table, and compare. SEED draws registers, stack and
 * bounds. */
static void
compare_steps(struct fake *f, const char *label, unsigned *seed)
{
    const uint32_t rsp_rbp_pc = 1u << UNWIND_RSP | 1u << UNWIND_RBP | 1u << UNWIND_PC;
    struct unwind_rule rule = unwind_rule_at(label);
    struct unwind_registers before, by_rule;
    enum unwind_step_result result;

    fake_init(f, label);
    for (unsigned i = 0; i < STACK_WORDS; i++)
        f->stack[i] = drawn_word(f, seed);
    f->r.r[UNWIND_RSP] = drawn_word(f, seed);
    f->r.r[UNWIND_RBP] = drawn_word(f, seed);
    if (rand_r(seed) % 8 == 0)
        f->r.valid &= ~(1u << (rand_r(seed) % 2 ? UNWIND_RBP : UNWIND_RSP));
    if (rand_r(seed) % 4 == 0) {
        f->bounds.low += (unsigned)rand_r(seed) % (4 * STACK_WORDS);
        f->bounds.high -= (unsigned)rand_r(seed) % (4 * STACK_WORDS);
    }
    before = by_rule = f->r;
    result = unwind_step_by_rule(&by_rule, &rule, &f->bounds);
    assert_int_equal(unwind_step(&f->r, &f->bounds), result);
    if (result != UNWIND_STEPPED) {
        assert_memory_equal(&by_rule, &before, sizeof before);
        return;
    }
    assert_int_equal(by_rule.r[UNWIND_RSP], f->r.r[UNWIND_RSP]);
    assert_int_equal(by_rule.r[UNWIND_PC], f->r.r[UNWIND_PC]);
    assert_int_equal(by_rule.valid, f->r.valid & rsp_rbp_pc);
    assert_int_equal(by_rule.exact, f->r.exact);
    if (by_rule.valid >> UNWIND_RBP & 1)
        assert_int_equal(by_rule.r[UNWIND_RBP], f->r.r[UNWIND_RBP]);
}

/* If this fails, a stack behind a signal differs from the tables, or is read out of bounds. */
static void
a_rule_steps_as_its_table_does(void **state)
{
    static const char *const labels[] = {
        t_entry,     t_pushed,    t_framed,     t_restored,    t_shrunk,
        t_realigned, t_moved_rbp, t_val_offset, t_in_register, t_sigreturn,
    };
    unsigned seed = 1;
    struct fake f;

    (void)state;
    for (unsigned i = 0; i < 2000; i++)
        for (unsigned j = 0; j < countof(labels); j++)
            compare_steps(&f, labels[j], &seed);
}

static unsigned
walk_to_end(struct unwind_registers *r, enum unwind_step_result *ret_result)
{
    struct unwind_bounds all = {4096, UINT64_C(1) << 47, NULL};
    unsigned frames = 0;

    do
        *ret_result = unwind_step(r, &all);
    while (*ret_result == UNWIND_STEPPED && ++frames < 1000);
    return frames;
}

static NOINLINE unsigned
walk_from_here(uint64_t *ret_caller)
{
    struct unwind_bounds all = {4096, UINT64_C(1) << 47, NULL};
    struct unwind_registers r;
    enum unwind_step_result result;
    unsigned frames;

    unwind_capture(&r);
    assert_int_equal(unwind_step(&r, &all), UNWIND_STEPPED);
    assert_int_equal(r.r[UNWIND_PC], address_of(__builtin_return_address(0)));
    *ret_caller = r.r[UNWIND_PC];
    frames = walk_to_end(&r, &result);
    assert_int_equal(result, UNWIND_END);
    return frames;
}

/* If this fails, real stacks, through cmocka and libc to _start, are not walked to their end. */
static void
a_live_walk_reaches_the_end(void **state)
{
    uint64_t caller;
    unsigned frames = walk_from_here(&caller);

    (void)state;
    assert_in_range(frames, 4, 100);
    assert_in_range(caller, address_of((void *)a_live_walk_reaches_the_end),
                    address_of((void *)a_live_walk_reaches_the_end) + 4096);
}

/* The stack that unwind_on_signal walked, starting two steps out. */
static struct {
    enum unwind_step_result results[2];
    struct unwind_registers interrupted;
    bool through_test;
} seen;

static void a_live_signal_is_stepped_through(void **state);

static void
unwind_on_signal(int number)
{
    struct unwind_bounds all = {4096, UINT64_C(1) << 47, NULL};
    uint64_t test = address_of((void *)a_live_signal_is_stepped_through);
    struct unwind_registers r;

    (void)number;
    unwind_capture(&r);
    seen.results[0] = unwind_step(&r, &all);
    seen.results[1] = unwind_step(&r, &all);
    seen.interrupted = r;
    while (unwind_step(&r, &all) == UNWIND_STEPPED)
        seen.through_test |= r.r[UNWIND_PC] - test < 4096;
}

/* If this fails, no walk gets through the kernel's signal frame, which libc describes by
 * expressions. */
static void
a_live_signal_is_stepped_through(void **state)
{
    (void)state;
    signal(SIGUSR1, unwind_on_signal);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(seen.results[0], UNWIND_STEPPED);
    assert_int_equal(seen.results[1], UNWIND_STEPPED);
    assert_true(seen.interrupted.exact);
    assert_int_equal(seen.interrupted.valid, (1u << UNWIND_REGISTERS) - 1);
    assert_true(seen.through_test);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_frames_have_their_rules),
        cmocka_unit_test(rules_refuse_what_they_cannot_say),
        cmocka_unit_test(rules_reach_to_their_limits),
        cmocka_unit_test(an_address_is_found_in_its_object),
        cmocka_unit_test(a_step_leads_to_the_caller),
        cmocka_unit_test(steps_go_beyond_the_rules),
        cmocka_unit_test(a_return_address_is_looked_up_one_before),
        cmocka_unit_test(registers_are_known_only_if_saved),
        cmocka_unit_test(a_signal_frame_leads_to_what_it_interrupted),
        cmocka_unit_test(a_walk_ends_where_the_stack_ends),
        cmocka_unit_test(nothing_is_read_beyond_the_stack),
        cmocka_unit_test(a_rule_steps_as_its_table_does),
        cmocka_unit_test(a_live_walk_reaches_the_end),
        cmocka_unit_test(a_live_signal_is_stepped_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
