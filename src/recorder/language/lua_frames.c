/* lua_frames.c: the calls of the states that run, as frames, and which C frames they stand inside
 * of.
 *
 * A state (of the main program or a coroutine) has a list of calls, innermost first, on the heap:
 * L->ci, then ci->previous; in 5.1 an array, from L->base_ci to L->ci. A call has the function, and
 * one of Lua's where it is in its code. One C frame of luaV_execute runs many of them, up to the
 * one that is marked as fresh. 5.1 has no such mark: there a function is fresh unless a function of
 * Lua has called it by the instruction for calls.
 *
 * Where frames stand. A C function of Lua's own stands inside of its own C frame: that function
 * begins where its pointer says. Functions of Lua stand inside of a frame of luaV_execute, which is
 * by far the largest function of any Lua; the next frame of it begins after a fresh one.
 *
 * Frames in the middle of a change. Lua moves its stack, and 5.1 its calls, by realloc, and at that
 * moment its pointers are to the old place; the recorder tells of that. A call that was left by an
 * error is in the list until pcall returns. The line is that of the last instruction that Lua has
 * written down: it does so wherever an error or a call may come, and not at a table constructor.
 */
#include "language/lua_frames.h"

#include <stdbool.h>
#include <stdint.h>

#include "language/lua_code.h"
#include "language/lua_layout.h"
#include "language/lua_name.h"
#include "language/lua_state.h"

enum {
    LATEST = 64,
    OPCODE_CALL_5_1 = 28,
    OPCODE_MASK_5_1 = 0x3f,
    KIND_LUA = 0,
    KIND_FRESH = 1,
    KIND_C = 2,
};

unsigned lua_frames_nameless;

/* --- Calls ------------------------------------------------------------------------------------ */

/* A walk along the calls of a state, from the innermost out. */
struct walk {
    struct lua_call c;
    uintptr_t l, last; // The record that is no call of anybody's.
    intptr_t calls_moved;
};

/* Is the value at FUNCTION a closure of Lua? */
static inline bool
is_lua_closure(const struct lua_layout *y, uintptr_t function)
{
    return lua_type_at(function) == LUA_IS_FUNCTION &&
           (!y->has_array || *(const unsigned char *)(lua_word(function) + y->closure_is_c) == 0);
}

/* The walk's call is that of the record at CALL. False if there are no more. */
static inline bool
stand_at(const struct lua_layout *y, struct walk *w, uintptr_t call)
{
    if (call == 0 || call == w->last)
        return false;
    w->c.call = call;
    w->c.previous = y->has_array ? call - y->call_bytes : lua_word(call + LUA_CALL_PREVIOUS);
    w->c.function = lua_word(call + y->call_function) + (uintptr_t)w->c.moved;
    w->c.code = lua_word(call + y->call_code);
    return w->c.previous != 0; // Else it is the state's own.
}

/* Of 5.1: a C function's place in the code means nothing, and the innermost one of Lua is noted
 * elsewhere. */
static inline void
correct_code(const struct lua_layout *y, struct walk *w, bool innermost)
{
    if (!is_lua_closure(y, w->c.function))
        w->c.code = 0;
    else if (innermost)
        w->c.code = lua_word(w->l + y->state_code);
}

static inline bool
walk_begin(const struct lua_layout *y, struct walk *w, uintptr_t l)
{
    const void *from = NULL, *moved = NULL;
    uintptr_t call = lua_word(l + y->state_ci);

    *w = (struct walk){.l = l};
    if (heaptap_is_moved(&from, &moved)) {
        intptr_t by = (intptr_t)((uintptr_t)moved - (uintptr_t)from);

        if (lua_word(l + y->state_stack) == (uintptr_t)from)
            w->c.moved = by;
        else if (y->has_array && lua_word(l + y->state_calls) == (uintptr_t)from)
            w->calls_moved = by;
    }
    if (!y->has_array)
        return stand_at(y, w, call);
    w->last = lua_word(l + y->state_calls) + (uintptr_t)w->calls_moved;
    // A state that is being made has none yet.
    if (call == 0 || !stand_at(y, w, call + (uintptr_t)w->calls_moved))
        return false;
    correct_code(y, w, true);
    return true;
}

static inline bool
walk_next(const struct lua_layout *y, struct walk *w)
{
    if (!stand_at(y, w, w->c.previous))
        return false;
    if (y->has_array)
        correct_code(y, w, false);
    return true;
}

/* Does the call of a function of Lua have a frame of luaV_execute of its own? */
static inline bool
is_fresh(const struct lua_layout *y, const struct walk *w, unsigned status)
{
    uintptr_t before, code;

    if (!y->has_array)
        return (status & y->fresh) != 0 || (~status & y->not_fresh) != 0;
    before = lua_word(w->c.previous + y->call_function) + (uintptr_t)w->c.moved;
    if (w->c.previous == w->last || !is_lua_closure(y, before))
        return true;
    code = lua_word(w->c.previous + y->call_code);
    return (lua_int(code - 4) & OPCODE_MASK_5_1) != OPCODE_CALL_5_1;
}

/* The call of W into TO. False if it is not to be shown. */
static inline bool
put_call(const struct lua_layout *y, const struct walk *w, struct heaptap_frame *to)
{
    unsigned status = y->has_array ? 0 : *(const unsigned short *)(w->c.call + y->call_status);
    bool is_lua = is_lua_closure(y, w->c.function);
    uintptr_t value = lua_word(w->c.function);

    // Only one of the two bits is there. Where they say so, the function is one of Lua's.
    if (!y->has_array && is_lua != (((status ^ y->is_c) & (y->is_lua | y->is_c)) != 0))
        return false;
    if (is_lua) {
        to->id = lua_name_of_lua(w->l, &w->c, lua_closure_function(y, value));
        to->extra = is_fresh(y, w, status) ? KIND_FRESH : KIND_LUA;
        to->at = 0;
        return true;
    }
    if (lua_type_at(w->c.function) != LUA_IS_LIGHT_C)
        value = lua_closure_function(y, value);
    if (!lua_code_has(value))
        return false; // It has a C frame that is shown.
    to->id = lua_name_of_c(w->l, &w->c, value);
    to->extra = KIND_C;
    to->at = value; // For lua_frames_place.
    if (to->id == 0)
        to->id = lua_frames_nameless;
    return true;
}

/* Calls that the latest answer of this thread had. What has the same function at the same place in
 * the next one is the same: to make another function there takes an allocation, which would have
 * asked. So what the prototype says of itself need not be looked at. */
struct latest {
    uintptr_t call, function, code;
    uintptr_t serial; // Of the answer.
    struct heaptap_frame frame;
};

static __thread struct {
    uintptr_t serial;
    struct latest v[LATEST];
} latest;

static inline struct latest *
latest_place(const struct lua_layout *y, const struct walk *w)
{
    uintptr_t call = w->c.call;

    return &latest.v[(y->has_array ? call / 8 : call >> 4 ^ call >> 10) % LATEST];
}

/* The same as put_call, if the call was in the latest answer. */
static inline bool
put_again(const struct lua_layout *y, const struct walk *w, struct heaptap_frame *to)
{
    struct latest *e = latest_place(y, w);

    if (e->call == w->c.call && e->function == lua_word(w->c.function) && e->code == w->c.code &&
        e->serial + 1 == latest.serial) {
        e->serial++;
        *to = e->frame;
        if (y->has_array && to->extra != KIND_C) // It follows from the call before.
            to->extra = is_fresh(y, w, 0) ? KIND_FRESH : KIND_LUA;
        return true;
    }
    return false;
}

static void
note_latest(const struct lua_layout *y, const struct walk *w, const struct heaptap_frame *f)
{
    struct latest *e = latest_place(y, w);

    e->serial = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    e->call = w->c.call;
    e->function = lua_word(w->c.function);
    e->code = w->c.code;
    e->frame = *f;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    e->serial = latest.serial;
}

/* The calls of L. */
static size_t
put_state(uintptr_t l, struct heaptap_frame *to, size_t max)
{
    const struct lua_layout *y = lua_layout;
    struct walk w;
    bool more = walk_begin(y, &w, l);
    size_t n = 0;

    for (size_t steps = 0; more && n < max && steps < 4 * max; steps++) {
        if (put_again(y, &w, &to[n])) {
            n++;
        } else if (put_call(y, &w, &to[n])) {
            note_latest(y, &w, &to[n]);
            n++;
        }
        more = walk_next(y, &w);
    }
    // The outermost are the program's own, which call Lua, and have C frames that are shown.
    while (n > 0 && to[n - 1].id == lua_frames_nameless)
        n--;
    return n;
}

size_t
lua_frames_noted(struct heaptap_frame *to, size_t max, const unsigned long notes[HEAPTAP_NOTES])
{
    uintptr_t done[LUA_STATE_NOTES];
    size_t n = 0;

    latest.serial++;
    for (size_t k = 0; k < LUA_STATE_NOTES && notes[2 * k] != 0; k++) {
        uintptr_t l = lua_state_in(notes[2 * k], notes[2 * k + 1]);
        size_t i = 0;

        while (i < k && done[i] != l)
            i++;
        done[k] = l;
        if (l != 0 && i == k && n < max)
            n += put_state(l, to + n, max - n);
    }
    return n;
}

/* The innermost of COUNT C frames of the function at START; COUNT if there is none. */
static inline size_t
find_native(const struct heaptap_native *n, size_t count, uintptr_t start)
{
    size_t i = 0;

    if (start == 0)
        return count;
    while (i < count && lua_code_start(n[i].pc) != start)
        i++;
    return i;
}

int
lua_frames_place_inner(struct heaptap_frame *f, size_t count, const struct heaptap_native *n,
                       size_t native_count)
{
    uintptr_t execute;
    size_t at = 0;
    bool next = true; // The next frame of Lua is in another one of luaV_execute.
    bool all = true;

    // Which is the largest function is known when all have been seen.
    for (size_t i = 0; i < native_count; i++)
        if (lua_code_has(n[i].pc - 1))
            lua_code_start(n[i].pc);
    execute = lua_code_execute();
    for (size_t i = 0; i < count; i++) {
        uintptr_t start = f[i].extra == KIND_C ? f[i].at : execute;
        size_t found;

        f[i].at = 0;
        if (f[i].extra == KIND_C || next) {
            found = at + find_native(n + at, native_count - at, start);
            if (found < native_count) {
                f[i].at = n[found].slot + 1;
                at = found + 1;
            } else {
                all = false;
            }
        }
        next = f[i].extra != KIND_LUA;
    }
    return all;
}

void
lua_frames_place(struct heaptap_frame *f, size_t count, const struct heaptap_native *n,
                 size_t native_count)
{
    lua_frames_place_inner(f, count, n, native_count);
}
