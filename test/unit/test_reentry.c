/* test_reentry.c: one test for each edge of the diagram in event/reentry.c. The test replaces the
 * structs of threads, the walk and the ledger. If this fails, an event inside another one is lost,
 * counted twice, or ends in the wrong state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fake_recorder.h"

#include "sampling/draw.c"
#include "event/reentry.c"

static struct thread *first, *second;
static struct disk_thread row;
static enum walk_between between;
static uint32_t joins, put_back, counted;
static uint64_t return_address = 0x4000;

/* Return addresses of calls on the thread's stack, the outermost first. */
static uint64_t slots[4];

static uint64_t
reentry_slot(int depth)
{
    slots[3 - depth] = return_address++;
    return (uint64_t)(uintptr_t)&slots[3 - depth];
}

static struct arch_caller
caller(int depth)
{
    return (struct arch_caller){.slot = reentry_slot(depth), .rbp = 1};
}

struct thread *
join_thread(void)
{
    joins++;
    first->ready = THREAD_READY;
    tls.self = first;
    return first;
}

void
join_refresh(struct thread *t)
{
    t->ready = THREAD_READY;
}

struct thread *
join_nested(struct thread *t)
{
    return t == first ? second : NULL;
}

void
mode_adopt(void)
{
}

void
epoch_finish_raise(void)
{
}

void
memo_forget(struct thread *t)
{
    (void)t;
}

void
coroutines_forget(struct thread *t)
{
    (void)t;
}

enum walk_between
walk_between(struct thread *t, uint64_t from, uint64_t end)
{
    (void)t, (void)from, (void)end;
    return between;
}

static bool is_quiet;

bool
sys_is_quiet(void)
{
    return is_quiet;
}

bool
sys_on_signal_stack(void)
{
    return false;
}

void
deferred_count(struct thread *t, uint32_t mark)
{
    counted += t->inner_count - mark;
    t->inner_count = mark;
}

bool
deferred_resolve(struct thread *t, uint32_t mark, const void *result)
{
    assert_true(reentry_is_in_recorder());
    deferred_count(t, mark);
    return result != NULL;
}

void
block_keep_again(struct thread *t, void *p, struct ledger_entry old)
{
    (void)t, (void)p;
    put_back += old.site;
}

static int
test_reentry_begin(void **unused)
{
    (void)unused;
    fake_state_begin();
    state->ready = READY_YES;
    first = calloc(1, sizeof *first);
    second = calloc(1, sizeof *second);
    first->disk = second->disk = &row;
    first->ready = second->ready = THREAD_READY;
    first->stack_low = second->stack_low = (uint64_t)(uintptr_t)slots;
    first->stack_high = second->stack_high = (uint64_t)(uintptr_t)(slots + 4);
    second->outer = first;
    row = (struct disk_thread){0};
    tls = (struct tls){.self = first};
    between = WALK_CALLS;
    is_quiet = false;
    joins = put_back = counted = 0;
    return 0;
}

static int
test_reentry_end(void **unused)
{
    (void)unused;
    free(first);
    free(second);
    fake_state_end();
    return 0;
}

/* If this fails, a signal handler's event corrupts the event that it interrupts. */
static void
an_event_enters_and_leaves(void **unused)
{
    (void)unused;
    assert_ptr_equal(reentry_enter_thread(reentry_slot(0)), first);
    assert_true(reentry_is_in_recorder());
    reentry_leave();
    assert_true(reentry_is_idle());
    assert_int_equal(joins, 0);
}

/* If this fails, a thread's first event finds no struct and is lost. */
static void
the_first_event_joins(void **unused)
{
    (void)unused;
    tls.self = NULL;
    assert_ptr_equal(reentry_enter_thread(reentry_slot(0)), first);
    assert_int_equal(joins, 1);
    assert_true(reentry_is_in_recorder());
    reentry_leave();
}

/* If this fails, the result of operator new is counted twice, or its requests are lost. */
static void
a_real_call_is_one_event(void **unused)
{
    struct reentry_call c;

    (void)unused;
    reentry_begin(&c, caller(0));
    assert_int_equal(c.kind, REENTRY_RECORDED);
    reentry_real_begin(&c);
    assert_true(reentry_is_in_real());
    first->inner_count = 2; // Requests that the recorder holds back until the call ends.
    reentry_real_end(&c, &row);
    assert_true(reentry_is_idle());
    assert_int_equal(counted, 2);
    assert_ptr_equal(tls.nested_block, &row);
    reentry_end(&c);
    assert_int_equal(tls.origin_slot, 0);
}

/* If this fails, a request of the real allocator ends the event of the call that made it. */
static void
an_inner_event_steps_out_and_back(void **unused)
{
    struct reentry_call outer, inner;
    uint64_t entered = caller(0).slot;
    struct reentry_nest n;

    (void)unused;
    reentry_begin(&outer, caller(0));
    reentry_real_begin(&outer);
    reentry_begin(&inner, caller(1));
    assert_int_equal(inner.kind, REENTRY_CALLED_BACK);
    assert_int_equal(tls.origin_slot, entered);
    n = reentry_here();
    reentry_step_out(&n);
    assert_true(reentry_is_idle());
    reentry_enter(reentry_slot(1));
    reentry_leave();
    reentry_step_back(&n);
    assert_true(reentry_is_in_real());
    assert_int_equal(tls.entered, entered);
    reentry_end(&inner);
    reentry_real_end(&outer, NULL);
    reentry_end(&outer);
    assert_true(reentry_is_idle());
}

/* If this fails, a handler's event writes to the struct that the interrupted event uses. */
static void
a_handler_gets_a_second_struct(void **unused)
{
    struct reentry_call c;
    uint64_t entered = reentry_slot(0);

    (void)unused;
    reentry_enter(entered);
    reentry_begin(&c, caller(1));
    assert_int_equal(c.kind, REENTRY_RECORDED);
    assert_ptr_equal(tls.self, second);
    assert_true(reentry_is_idle());
    reentry_end(&c);
    assert_ptr_equal(tls.self, first);
    assert_int_equal(tls.entered, entered);
    assert_true(reentry_is_in_recorder());
    reentry_leave();
}

/* If this fails, an event of a handler without a struct is recorded with another handler's struct,
 * or is not counted as lost. */
static void
too_deep_a_handler_is_lost(void **unused)
{
    struct reentry_call c, d;

    (void)unused;
    reentry_enter(reentry_slot(0));
    reentry_begin(&c, caller(1));
    reentry_enter(reentry_slot(1));
    reentry_begin(&d, caller(2));
    assert_int_equal(d.kind, REENTRY_LOST);
    assert_int_equal(row.reentrant_events, 1);
    assert_true(reentry_is_in_recorder());
    reentry_end(&d);
    assert_ptr_equal(tls.self, second);
    reentry_leave();
    reentry_end(&c);
    assert_ptr_equal(tls.self, first);
}

/* If this fails, bad_alloc leaves the thread in the recorder forever, a block that realloc has
 * removed is lost, or the next sample moves. */
static void
an_exception_restores_everything(void **unused)
{
    struct reentry_call c;

    (void)unused;
    reentry_begin(&c, caller(0));
    tls.credit = 77;
    reentry_take_block(&c, &row, (struct ledger_entry){.site = 5});
    reentry_save_credit(&c, 100);
    reentry_real_begin(&c);
    first->inner_count = 1;
    reentry_end(&c);
    assert_true(reentry_is_idle());
    assert_int_equal(row.failed_calls, 1);
    assert_int_equal(put_back, 5);
    assert_int_equal(counted, 1);
    assert_int_equal(tls.credit, 77);
    assert_int_equal(tls.origin_slot, 0);
}

/* If this fails, a thread that a handler's jump took out of the recorder is never recorded
 * again. */
static void
a_jump_out_is_noticed(void **unused)
{
    struct reentry_call c;

    (void)unused;
    reentry_enter(reentry_slot(2));
    reentry_begin(&c, caller(1));
    assert_int_equal(c.kind, REENTRY_RECORDED);
    assert_ptr_equal(tls.self, first);
    reentry_end(&c);
    assert_true(reentry_is_idle());
}

/* If this fails, after a jump out of operator new, each later event counts as an inner one. */
static void
a_jump_out_of_real_is_noticed(void **unused)
{
    struct reentry_call outer, c;

    (void)unused;
    reentry_begin(&outer, caller(1));
    reentry_real_begin(&outer);
    first->inner_count = 3;
    between = WALK_PASSES; // The event is deeper on the stack, but not within the call.
    reentry_begin(&c, caller(2));
    assert_int_equal(c.kind, REENTRY_RECORDED);
    assert_int_equal(counted, 3);
    reentry_end(&c);
    assert_true(reentry_is_idle());
}

/* If this fails, a child that a handler has forked continues with a struct of its parent. */
static void
a_child_finishes_the_event(void **unused)
{
    struct reentry_call c;

    (void)unused;
    reentry_enter(reentry_slot(0));
    reentry_begin(&c, caller(1));
    first->ready = second->ready = THREAD_NOT; // The fork has reset the threads.
    tls.self = NULL;
    reentry_end(&c);
    assert_null(tls.self);
    assert_true(reentry_is_in_recorder());
    reentry_leave();
    assert_ptr_equal(reentry_enter_thread(reentry_slot(0)), first);
    assert_int_equal(joins, 1);
    reentry_leave();
}

/* If this fails, a handler's blocks are counted as requests of the real allocator. */
static void
a_handler_in_real_is_an_event(void **unused)
{
    struct reentry_call outer, c;

    (void)unused;
    reentry_begin(&outer, caller(0));
    reentry_real_begin(&outer);
    between = WALK_SIGNAL;
    reentry_begin(&c, caller(1));
    assert_int_equal(c.kind, REENTRY_RECORDED);
    assert_ptr_equal(tls.self, first);
    assert_true(reentry_is_idle());
    reentry_end(&c);
    assert_true(reentry_is_in_real());
    reentry_real_end(&outer, NULL);
    reentry_end(&outer);
}

/* Without system calls, a walk may end before the signal frame. If this fails, a handler's events
 * are missing in a profile with a reserve, and no count says so. */
static void
a_call_from_an_unreadable_stack_is_counted_as_lost(void **unused)
{
    struct reentry_call outer, c;

    (void)unused;
    reentry_begin(&outer, caller(0));
    reentry_real_begin(&outer);
    between = WALK_UNKNOWN;
    is_quiet = true;
    for (int i = 1; i <= 2; i++) { // The recorder must not remember the address as a callback's.
        return_address = 0x4800;
        reentry_begin(&c, caller(1));
        assert_int_equal(c.kind, REENTRY_LOST);
        assert_int_equal(row.reentrant_events, i);
        reentry_end(&c);
        assert_true(reentry_is_in_real());
    }
    is_quiet = false; // Outside of a reserve, the usual case is assumed.
    reentry_begin(&c, caller(1));
    assert_int_equal(c.kind, REENTRY_CALLED_BACK);
    reentry_end(&c);
    reentry_real_end(&outer, NULL);
    reentry_end(&outer);
    assert_true(reentry_is_idle());
}

/* If this fails, dlclose in a handler ends the event that the handler has interrupted. */
static void
an_interruption_restores_the_state(void **unused)
{
    static const uint32_t states[] = {REENTRY_IDLE, REENTRY_IN_REAL, REENTRY_IN_RECORDER};

    (void)unused;
    for (size_t i = 0; i < countof(states); i++) {
        struct reentry_saved saved;

        tls.busy = states[i];
        tls.entered = 10;
        saved = reentry_interrupt(20);
        assert_true(reentry_is_in_recorder());
        assert_int_equal(tls.entered, states[i] == REENTRY_IDLE ? 20 : 10);
        reentry_restore(&saved);
        assert_int_equal(tls.busy, states[i]);
        assert_int_equal(tls.entered, 10);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_enters_and_leaves, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(the_first_event_joins, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(a_real_call_is_one_event, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(an_inner_event_steps_out_and_back, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(a_handler_gets_a_second_struct, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(too_deep_a_handler_is_lost, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(an_exception_restores_everything, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(a_jump_out_is_noticed, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(a_jump_out_of_real_is_noticed, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(a_child_finishes_the_event, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(a_handler_in_real_is_an_event, test_reentry_begin,
                                        test_reentry_end),
        cmocka_unit_test_setup_teardown(a_call_from_an_unreadable_stack_is_counted_as_lost,
                                        test_reentry_begin, test_reentry_end),
        cmocka_unit_test_setup_teardown(an_interruption_restores_the_state, test_reentry_begin,
                                        test_reentry_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
