/* oracle_stack.c: capture stacks by other unwinders.
 *
 * There are two unwinders that share no code with each other or with heaptap: libunwind's step
 * interface and libgcc's _Unwind_Backtrace. libunwind is referenced weakly, and LD_PRELOAD must
 * name it after libgcc_s, because it defines libgcc's functions as well and must not replace them
 * in the program.
 *
 * The innermost frames, up to the call of the intercepted function, belong to the oracle and to
 * heaptap. They are recognised by their objects and dropped, whatever their number. Frames of
 * either object further out (a destructor run by dlclose) are kept, as in heaptap's stacks.
 *
 * The operator's frame on the stack shows whether a call comes from inside an operator new. State
 * for that purpose would be wrong after an exception.
 *
 * Frames without unwind information are not compared: some unwinders guess and continue, others
 * stop. heaptap marks its guesses, and tool_compare treats such stacks separately. */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <string.h>
#include <unwind.h>

#include "oracle.h"
#include "oracle_book.h"

#pragma weak _Ux86_64_getcontext
#pragma weak _ULx86_64_init_local
#pragma weak _ULx86_64_step
#pragma weak _ULx86_64_get_reg
#pragma weak _ULx86_64_is_signal_frame
#pragma weak _ULx86_64_local_addr_space
#pragma weak _Ux86_64_flush_cache

extern const char __start_oracle_operators[], __stop_oracle_operators[];

struct range {
    uint64_t start, end;
};

static bool use_libgcc;
static struct range own, recorder;

static bool
within(struct range r, uint64_t address)
{
    return address - r.start < r.end - r.start;
}

static struct range
object_range(void *address)
{
    struct dl_find_object o;

    if (_dl_find_object(address, &o) != 0)
        return (struct range){0, 0};
    return (struct range){(uintptr_t)o.dlfo_map_start, (uintptr_t)o.dlfo_map_end};
}

void
stack_choose(const char *name)
{
    // malloc would not do: if an executable at a fixed address takes malloc's address, it has a
    // stub of that name.
    void *first = dlsym(RTLD_DEFAULT, "heaptap_hooks");
    Dl_info info;

    use_libgcc = name != NULL && strcmp(name, "libgcc") == 0;
    if (!use_libgcc && _ULx86_64_step == NULL)
        oracle_die("libunwind.so.8 is not in LD_PRELOAD");
    own = object_range((void *)(uintptr_t)stack_choose);
    if (first != NULL && dladdr(first, &info) != 0 && strstr(info.dli_fname, "libheaptap") != NULL)
        recorder = object_range(first);
}

static void
oracle_stack_push(struct oracle_stack *stack, uint64_t address, bool exact)
{
    if (address == 0)
        return;
    if (stack->depth == ORACLE_DEPTH_MAX)
        oracle_die("a stack is too deep");
    stack->words[stack->depth++] = address | (exact ? ORACLE_EXACT : 0);
}

static void
oracle_stack_walk_libunwind(struct oracle_stack *stack)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t address;

    unw_getcontext(&context);
    if (unw_init_local(&cursor, &context) != 0)
        oracle_die("libunwind does not start");
    // Despite its name, unw_is_signal_frame describes the frame that a signal interrupted.
    while (unw_step(&cursor) > 0)
        if (unw_get_reg(&cursor, UNW_REG_IP, &address) == 0)
            oracle_stack_push(stack, address, unw_is_signal_frame(&cursor) > 0);
}

static _Unwind_Reason_Code
oracle_stack_libgcc_frame(struct _Unwind_Context *context, void *arg)
{
    int exact = 0;
    uint64_t address = _Unwind_GetIPInfo(context, &exact);

    oracle_stack_push(arg, address, exact != 0);
    return _URC_NO_REASON;
}

static bool
is_operator(uint64_t address)
{
    return address > (uintptr_t)__start_oracle_operators &&
           address <= (uintptr_t)__stop_oracle_operators;
}

static bool
is_monitor(uint64_t address)
{
    return within(own, address) || within(recorder, address);
}

/* Return the number of innermost frames that belong to the oracle and heaptap. */
static uint32_t
own_frames(const struct oracle_stack *stack)
{
    uint32_t first = 0;

    while (first < stack->depth && is_monitor(stack->words[first]))
        first++;
    return first;
}

uint32_t
stack_take(struct oracle_stack *stack)
{
    uint32_t operators = 0;
    uint32_t first;

    stack->depth = 0;
    if (use_libgcc)
        _Unwind_Backtrace(oracle_stack_libgcc_frame, stack);
    else
        oracle_stack_walk_libunwind(stack);
    for (uint32_t i = 0; i < stack->depth; i++)
        operators += is_operator(stack->words[i] & ~ORACLE_EXACT);
    first = own_frames(stack);
    stack->depth -= first;
    memmove(stack->words, stack->words + first, stack->depth * sizeof *stack->words);
    return operators;
}

void *
stack_caller_object(void)
{
    struct oracle_stack stack = {.words = book_borrow_words()};
    struct dl_find_object o;
    void *handle = NULL;

    stack_take(&stack);
    if (stack.depth > 0 && _dl_find_object((void *)(uintptr_t)(stack.words[0] - 1), &o) == 0)
        handle = o.dlfo_link_map;
    book_return_words(stack.words);
    return handle;
}

void
stack_invalidate(void)
{
    if (!use_libgcc && book_is_open())
        unw_flush_cache(unw_local_addr_space, 0, 0);
}
