/* test_rules.c: rules that threads share, while code is loaded and unloaded. If this fails, stacks
 * are walked by the rules of unloaded code, or each thread reads all unwind tables again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "stack/rules.c"

enum { OBJECT_START = 0x400000, OBJECT_END = 0x500000 };

static unsigned compiled;

void *
mem_private(size_t size_bytes)
{
    return calloc(1, size_bytes);
}

void
mem_touch(const void *start, const void *end)
{
    (void)start;
    (void)end;
}

bool
unwind_find_object(uint64_t address, struct unwind_object *ret_object)
{
    *ret_object = (struct unwind_object){.start = OBJECT_START, .end = OBJECT_END};
    return address >= OBJECT_START && address < OBJECT_END;
}

/* Return a different rule at each call. */
struct unwind_rule
unwind_compile(uint64_t lookup, const struct unwind_object *object)
{
    (void)lookup;
    (void)object;
    return (struct unwind_rule){.kind = RULE_RBP, .cfa_offset = 16 * (int32_t)++compiled};
}

uint32_t
modules_id(const struct unwind_object *object)
{
    (void)object;
    return 7;
}

static int
rules_begin(void **unused)
{
    (void)unused;
    fake_state_begin();
    compiled = 0;
    return rules_start() ? 0 : -1;
}

static int
rules_end(void **unused)
{
    (void)unused;
    free(stack_state()->rules);
    fake_state_end();
    return 0;
}

/* Look up the rule for RA in a thread without a cached rule; return the index of the compiled
 * rule. */
static unsigned
rule_of(uint64_t ra)
{
    struct rule_entry e = {.frame = 0};

    rules_fill(&e, ra);
    assert_int_equal(e.rule.kind, RULE_RBP);
    assert_int_equal(e.frame, ra | UINT64_C(7) << DISK_ADDRESS_BITS);
    return (unsigned)e.rule.cfa_offset / 16;
}

/* If this fails, a thread recompiles rules that another one has compiled. */
static void
a_rule_is_compiled_once(void **unused)
{
    (void)unused;
    assert_int_equal(rule_of(0x400100), 1);
    assert_int_equal(rule_of(0x400200), 2);
    assert_int_equal(rule_of(0x400100), 1);
    assert_int_equal(rule_of(0x400200), 2);
}

/* If this fails, a program that has loaded and unloaded libraries so often that the bits of a key
 * repeat gets rules of code that was at an address long before. */
static void
a_rule_ends_with_its_generation(void **unused)
{
    (void)unused;
    state->generation = 5;
    assert_int_equal(rule_of(0x400100), 1);
    state->generation = 6;
    assert_int_equal(rule_of(0x400100), 2);
    state->generation = 5 + (1 << 16);
    assert_int_equal(rule_of(0x400100), 3);
    assert_int_equal(rule_of(0x400100), 3);
    state->generation = 6 + (1 << 16);
    assert_int_equal(rule_of(0x400100), 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_rule_is_compiled_once, rules_begin, rules_end),
        cmocka_unit_test_setup_teardown(a_rule_ends_with_its_generation, rules_begin, rules_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
