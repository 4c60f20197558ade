/* lua_state.c: finds the states of Lua that run in a thread.
 *
 * The running state is known only from the C stack: no other memory points to it. Every running
 * function was started by luaD_rawrunprotected, for pcall, resume or the program. The frame of
 * luaD_rawrunprotected contains L and the struct that L->errorJmp points to:
 *
 *     lua_resume ─► luaD_rawrunprotected(L)   { …, L, …, struct lua_longjmp } ◄─ L->errorJmp
 *
 * So the innermost such frame identifies the running state, and the one outside each lua_resume
 * identifies the state that resumed it. Which function this is, and the offset of L in its frame,
 * are learnt at its first occurrence: a word of the frame is a state whose errorJmp points into the
 * same frame. Afterwards each result is checked by that property. The unwind entry identifies the
 * function, so stripped programs work.
 *
 * A C function may also call into another state. This is detected when the C frames are new: the
 * next outer frame of luaD_rawrunprotected then belongs to another state, without a lua_resume
 * between the two.
 *
 * The allocator function of a state belongs to the program, but counts as Lua's code.
 *
 * A state that runs outside any protected call is not detected. Its first error would end the
 * program. */
#include "language/lua_adapter.h"

#include <stdbool.h>

#include "language/lua_layout.h"

enum {
    STATES = 1 << 10,
    LEARN_MAX = 20000,
    ALLOCATORS = 8,
    FRAME_BYTES_MAX = 1024, // Upper bound of luaD_rawrunprotected's frame.
};

/* Address of lua_resume. Set once. */
static uintptr_t resume_start, resume_bytes;

/* Facts about luaD_rawrunprotected. Atomic; the first variable is written last and publishes the
 * others. */
static uintptr_t protected_start; // The function luaD_rawrunprotected.
static uintptr_t protected_bytes;
static unsigned learn_tries;

uintptr_t lua_state_off;

static uintptr_t states[STATES]; // Atomic, by hash: states that a frame has identified before.

static uintptr_t
lua_state_bytes_of(uintptr_t function)
{
    uintptr_t end = (uintptr_t)heaptap_function_end((const void *)function);

    return end > function ? end - function : 0;
}

void
lua_state_begin(uintptr_t resume)
{
    resume_start = resume;
    resume_bytes = lua_state_bytes_of(resume);
}

static inline uintptr_t *
state_place(uintptr_t l)
{
    return &states[(l * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* Register the allocator function of state L as Lua's code, wherever it is: Lua called it for a
 * function of the script. */
static void
know_allocator(uintptr_t l)
{
    static uintptr_t known[ALLOCATORS]; // Atomic.
    const struct lua_layout *y = lua_layout;
    uintptr_t global = lua_word(l + y->state_global), function, start, end, none = 0;
    size_t i = 0;

    if (global < 4096 || !heaptap_can_read((const void *)(global + y->global_alloc), 8))
        return;
    function = lua_types_take((uintptr_t *)(global + y->global_alloc));
    if (lua_code_has(function))
        return;
    while (i < ALLOCATORS && (none = __atomic_load_n(&known[i], __ATOMIC_RELAXED)) != 0 &&
           none != function)
        i++;
    if (i == ALLOCATORS || none == function ||
        !__atomic_compare_exchange_n(&known[i], &none, function, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    start = (uintptr_t)heaptap_function_of((const void *)function);
    end = (uintptr_t)heaptap_function_end((const void *)function);
    if (start != 0)
        heaptap_runtime_code((const void *)start, (const void *)end);
}

/* Return true if the protected call of state L is in the frame between LOW and HIGH. */
static bool
is_state(uintptr_t l, uintptr_t low, uintptr_t high)
{
    uintptr_t jump;
    bool known;

    if (l < 4096 || (l & 7) != 0)
        return false;
    known = __atomic_load_n(state_place(l), __ATOMIC_RELAXED) == l;
    if (!known && !heaptap_can_read((const void *)l, LUA_STATE_BYTES))
        return false;
    jump = lua_word(l + lua_layout->state_jump);
    if (jump <= low || jump >= high || *(const unsigned char *)(l + LUA_TYPE) != LUA_IS_THREAD)
        return false;
    if (!known && __atomic_exchange_n(state_place(l), l, __ATOMIC_RELAXED) != l)
        know_allocator(l);
    return true;
}

/* Learn the address of luaD_rawrunprotected, and the offset of L in its frame. Only stacks with a
 * candidate frame count as attempts, because a program may have many other events before Lua
 * starts. */
static void
lua_state_learn(const struct heaptap_native *n, size_t count)
{
    bool tried = false;

    if (__atomic_load_n(&learn_tries, __ATOMIC_RELAXED) >= LEARN_MAX)
        return;
    for (size_t i = 0; i + 1 < count; i++) {
        uintptr_t low = n[i].slot, high = n[i + 1].slot, start;

        if (!lua_code_has(n[i].pc - 1) || low == 0 || high <= low || high - low > FRAME_BYTES_MAX)
            continue;
        tried = true;
        for (uintptr_t at = low + 8; at < high; at += 8) {
            if (!is_state(lua_word(at), low, high))
                continue;
            start = lua_code_start(n[i].pc);
            __atomic_store_n(&lua_state_off, high - at, __ATOMIC_RELAXED);
            __atomic_store_n(&protected_bytes, lua_state_bytes_of(start), __ATOMIC_RELAXED);
            __atomic_store_n(&protected_start, start, __ATOMIC_RELEASE);
            return;
        }
    }
    if (tried)
        __atomic_fetch_add(&learn_tries, 1, __ATOMIC_RELAXED);
}

void
lua_state_probe(const struct heaptap_native *n, size_t count, unsigned long notes[HEAPTAP_NOTES])
{
    uintptr_t start = __atomic_load_n(&protected_start, __ATOMIC_ACQUIRE);
    uintptr_t latest = 0, bytes;
    bool wanted = true;
    size_t k = 0;

    if (start == 0) {
        lua_state_learn(n, count);
        start = __atomic_load_n(&protected_start, __ATOMIC_ACQUIRE);
    }
    if (start == 0)
        return;
    bytes = __atomic_load_n(&protected_bytes, __ATOMIC_RELAXED);
    for (size_t i = 0; i + 1 < count && k < LUA_STATE_NOTES; i++) {
        uintptr_t pc = n[i].pc - 1, l;

        wanted |= pc - resume_start < resume_bytes;
        if (pc - start >= bytes || n[i + 1].slot <= n[i].slot)
            continue;
        l = lua_state_in(n[i].slot, n[i + 1].slot);
        if (!wanted && (l == 0 || l == latest))
            continue;
        latest = l;
        notes[2 * k] = n[i].slot;
        notes[2 * k + 1] = n[i + 1].slot;
        k++;
        wanted = false;
    }
}

uintptr_t
lua_state_in(uintptr_t low, uintptr_t high)
{
    uintptr_t off = __atomic_load_n(&lua_state_off, __ATOMIC_RELAXED);
    uintptr_t l = high - low > off ? lua_word(high - off) : 0;

    return is_state(l, low, high) ? l : 0;
}
