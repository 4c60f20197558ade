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
 *
 * The latest answer. Most events find nearly the calls that the event before has found. So a thread
 * keeps them, with the words of Lua's memory that each frame follows from. An event reads the same
 * words again, of every call, and works out only what differs. They lie outermost last, so that
 * those which stay have their place while inner ones come and go:
 *
 *     latest   … │ insert │ fill │ (state) │ resume │ main │ (state) │
 *     now             insert │ sort │ fill │ (state) …       read, and written in front of "fill"
 *
 * What the words point to is not looked at again: to make another function where one was takes an
 * allocation, which would have asked, and what is there is of the answer before this one. That
 * holds as long as Lua's own function allocates, which calls realloc for everything, and no other
 * thread has run a coroutine of the same program. A function of the host may keep a pool: then all
 * is worked out each time.
 */
#include "language/lua_frames.h"

#include <stdbool.h>
#include <stdint.h>

#include "language/lua_code.h"
#include "language/lua_layout.h"
#include "language/lua_name.h"
#include "language/lua_state.h"
#include "language/lua_types.h"

enum {
    LINKS = 128,
    PLACES = 256,
    ASKERS = 256,
    OPCODE_CALL_5_1 = 28,
    OPCODE_MASK_5_1 = 0x3f,
    KIND_LUA = 0,
    KIND_FRESH = 1,
    KIND_C = 2,
};

unsigned lua_frames_nameless;

/* --- Calls ------------------------------------------------------------------------------------ */

/* The states that run, innermost first, and what Lua has moved without knowing it yet. */
struct states {
    size_t count;
    bool all_asked;       // What they allocate has all been asked for.
    uintptr_t moved_from; // 0 = nothing.
    intptr_t moved_by;
    uintptr_t v[LUA_STATE_NOTES];
};

/* A walk along the calls of a state, from the innermost out. */
struct walk {
    struct lua_call c;
    uintptr_t noted_code; // The same as the record says it.
    uintptr_t l, last;    // The record that is no call of anybody's.
    intptr_t calls_moved;
};

/* Is the value at FUNCTION a closure of Lua? */
static inline bool
is_lua_closure(const struct lua_layout *y, uintptr_t function)
{
    return lua_type_at(function) == LUA_IS_FUNCTION &&
           (!y->has_array || *(const unsigned char *)(lua_word(function) + y->closure_is_c) == 0);
}

/* The walk's call is that of the record at CALL. False if that is no call, but the last record. */
static inline bool
stand_at(const struct lua_layout *y, struct walk *w, uintptr_t call)
{
    w->c.call = call;
    if (call == 0 || call == w->last)
        return false;
    w->c.previous = y->has_array ? call - y->call_bytes : lua_word(call + LUA_CALL_PREVIOUS);
    w->c.function = lua_word(call + y->call_function) + (uintptr_t)w->c.moved;
    w->c.code = w->noted_code = lua_word(call + y->call_code);
    return w->c.previous != 0; // Else it is the state's own.
}

/* Of 5.1: a C function's place in the code means nothing, and the innermost one of Lua is noted
 * elsewhere. */
static inline void
correct_code(const struct lua_layout *y, struct walk *w, bool innermost)
{
    if (innermost)
        w->noted_code = lua_word(w->l + y->state_code);
    w->c.code = is_lua_closure(y, w->c.function) ? w->noted_code : 0;
}

static inline bool
walk_begin(const struct lua_layout *y, struct walk *w, const struct states *s, size_t number)
{
    uintptr_t l = s->v[number], call = lua_word(l + y->state_ci);

    w->l = l;
    w->last = 0;
    w->c.moved = 0;
    w->calls_moved = 0;
    if (s->moved_from != 0) {
        if (lua_word(l + y->state_stack) == s->moved_from)
            w->c.moved = s->moved_by;
        else if (y->has_array && lua_word(l + y->state_calls) == s->moved_from)
            w->calls_moved = s->moved_by;
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

/* --- The latest answer ------------------------------------------------------------------------ */

/* A call of the latest answer of this thread: the words that it follows from, and what followed. At
 * the end of each state's calls comes the record that is no call. */
struct link {
    uintptr_t call, value, code; // The record; the value that is called, and its type;
    uint16_t status;             // where it is in its code, as the record says.
    uint8_t type;
    uint8_t end;    // The index of the record that ends the calls of this state.
    uint32_t bytes; // Of what is shown: one frame or none.
    struct heaptap_frame frame;
};

static __thread struct {
    const void *writer; // The answer that is being written here. NULL: all of it is there.
    bool spoiled;       // It is not the latest any more, or may not be.
    unsigned kept;      // It is the last so many of V; 0 while there is a writer,
    unsigned count;     // who has them here.
    uint8_t places[PLACES]; // By hash of the record.
    struct link v[LINKS];
} latest;

static inline uint8_t *
place_of(uintptr_t call)
{
    return &latest.places[call * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

/* Where in the latest answer the call is; LINKS if it is not there. */
static inline size_t
link_of(uintptr_t call)
{
    size_t at = *place_of(call);

    return at + latest.count >= LINKS && at < LINKS && latest.v[at].call == call &&
                   latest.v[at].end != at
               ? at
               : (size_t)LINKS;
}

static inline unsigned
status_of(const struct lua_layout *y, uintptr_t call)
{
    return y->has_array ? 0 : *(const unsigned short *)(call + y->call_status);
}

static inline unsigned
type_byte(uintptr_t function)
{
    return *(const unsigned char *)(function + LUA_TYPE);
}

static inline struct heaptap_frame *
behind(struct heaptap_frame *to, const struct link *e)
{
    return (struct heaptap_frame *)((char *)to + e->bytes);
}

/* The call of W is E from now on, and goes into TO; returns the end of the frames. */
static struct heaptap_frame *
note_call(const struct lua_layout *y, const struct walk *w, struct link *e,
          struct heaptap_frame *to)
{
    *e = (struct link){.call = w->c.call,
                       .value = lua_word(w->c.function),
                       .code = w->noted_code,
                       .status = (uint16_t)status_of(y, w->c.call),
                       .type = (uint8_t)type_byte(w->c.function),
                       .end = e->end};
    if (put_call(y, w, to)) {
        e->frame = *to;
        e->bytes = sizeof *to;
    }
    return behind(to, e);
}

/* The same if E may be it already. Only of 5.1 does a frame follow from the call before as well. */
static struct heaptap_frame *
put_again(const struct lua_layout *y, const struct walk *w, struct link *e,
          struct heaptap_frame *to)
{
    if (e->value != lua_word(w->c.function) || e->code != w->noted_code ||
        e->status != status_of(y, w->c.call) || e->type != type_byte(w->c.function))
        return note_call(y, w, e, to);
    *to = e->frame;
    if (y->has_array && to->extra != KIND_C)
        to->extra = is_fresh(y, w, 0) ? KIND_FRESH : KIND_LUA;
    return behind(to, e);
}

/* The calls from E on that are what they were, up to END, into *TO; returns the first that is not.
 * Not where calls are an array. */
static inline struct link *
put_same(const struct lua_layout *y, struct link *e, const struct link *end, uintptr_t moved,
         struct heaptap_frame **to)
{
    const uintptr_t code = y->call_code, status = y->call_status;
    struct heaptap_frame *f = *to;

    for (; e != end; e++) {
        uintptr_t call = e->call, function = lua_word(call) + moved;

        if (lua_word(function) != e->value || lua_word(call + code) != e->code ||
            *(const unsigned short *)(call + status) != e->status ||
            type_byte(function) != e->type || lua_word(call + LUA_CALL_PREVIOUS) != e[1].call)
            break;
        *f = e->frame;
        f = behind(f, e);
    }
    *to = f;
    return e;
}

/* The calls of W's state, at the first of which it stands, from number AT of the latest answer on,
 * where they are. Returns the end of the frames; NULL if the calls are others. */
static struct heaptap_frame *
put_linked(const struct lua_layout *y, struct walk *w, size_t at, struct heaptap_frame *to)
{
    struct link *e = &latest.v[at], *end = &latest.v[e->end];
    bool more = true;

    while (e != end) {
        if (!y->has_array && (e = put_same(y, e, end, (uintptr_t)w->c.moved, &to)) == end)
            return to;
        if (w->c.call != e->call && !stand_at(y, w, e->call))
            return NULL;
        to = put_again(y, w, e, to);
        more = walk_next(y, w);
        e++;
        if (w->c.call != e->call || more != (e != end))
            return NULL;
    }
    return to;
}

/* How many records come before the first one that is in the latest answer, and *RET_AT, where that
 * is; LINKS if none is. No more than MAX. */
static size_t
find_latest(const struct lua_layout *y, const struct states *s, size_t max, size_t *ret_at)
{
    size_t k = 0;

    for (size_t i = 0; i < s->count; i++) {
        struct walk w;

        for (bool more = walk_begin(y, &w, s, i); more; more = walk_next(y, &w), k++)
            if ((*ret_at = link_of(w.c.call)) != LINKS || k >= max)
                return k;
        k++;
    }
    *ret_at = LINKS;
    return k;
}

/* The outermost calls of a state may be the program's own functions, which call Lua, and have C
 * frames that are shown. */
static struct heaptap_frame *
without_nameless(const struct heaptap_frame *from, struct heaptap_frame *to)
{
    while (to > from && to[-1].id == lua_frames_nameless)
        to--;
    return to;
}

/* The calls of W's state, at the first of which it stands if MORE, that are not in the latest
 * answer: from number AT on, up to JOINED. What has a number below 0 is not kept. Returns where it
 * got to. */
static ptrdiff_t
put_new(const struct lua_layout *y, struct walk *w, bool *more, ptrdiff_t at, ptrdiff_t joined,
        struct heaptap_frame **to)
{
    ptrdiff_t from = at > 0 ? at : 0;
    uint8_t end;

    for (; *more && at < joined; at++, *more = walk_next(y, w)) {
        if (at >= 0) {
            *to = note_call(y, w, &latest.v[at], *to);
            *place_of(w->c.call) = (uint8_t)at;
        } else {
            *to += put_call(y, w, *to);
        }
    }
    if (*more)
        end = latest.v[at].end;
    else
        end = (uint8_t)at;
    if (!*more && at >= 0)
        latest.v[at] = (struct link){.call = w->c.call, .end = end};
    for (ptrdiff_t i = from; i < at; i++)
        latest.v[i].end = end;
    return *more ? at : at + 1;
}

/* The calls of the states S, of which there must be fewer than MAX, as the latest answer. Returns
 * the end of the frames; NULL if the one before is of no use and to be forgotten. */
static struct heaptap_frame *
put_states(const struct lua_layout *y, const struct states *s, struct heaptap_frame *to, size_t max)
{
    size_t joined, k = find_latest(y, s, max, &joined);
    ptrdiff_t first = (ptrdiff_t)joined - (ptrdiff_t)k, at = first;

    if (k + LINKS - joined >= max)
        return NULL;
    for (size_t i = 0; i < s->count; i++) {
        struct heaptap_frame *from = to;
        struct walk w;
        bool more = walk_begin(y, &w, s, i), is_new = at < (ptrdiff_t)joined;

        if (is_new)
            at = put_new(y, &w, &more, at, (ptrdiff_t)joined, &to);
        if (!is_new || more) {
            if (at >= LINKS || w.c.call != latest.v[at].call || more != (latest.v[at].end != at) ||
                (to = put_linked(y, &w, (size_t)at, to)) == NULL)
                return NULL;
            at = latest.v[at].end + 1;
        }
        to = without_nameless(from, to);
    }
    latest.count = LINKS - (unsigned)(first > 0 ? first : 0);
    return at == LINKS ? to : NULL;
}

/* The latest answer, if nothing has changed; else NULL. That is what most events find. */
static inline struct heaptap_frame *
put_latest(const struct lua_layout *y, const struct states *s, struct heaptap_frame *to, size_t max)
{
    struct link *e = &latest.v[LINKS - latest.count], *end;

    if (y->has_array || s->moved_from != 0 || latest.count > max)
        return NULL;
    for (size_t i = 0; i < s->count; i++) {
        struct heaptap_frame *from = to;

        if (e == latest.v + LINKS || lua_word(s->v[i] + y->state_ci) != e->call)
            return NULL;
        end = &latest.v[e->end];
        if (put_same(y, e, end, 0, &to) != end)
            return NULL;
        to = without_nameless(from, to);
        e = end + 1;
    }
    return e == latest.v + LINKS ? to : NULL;
}

/* The frames of the states S without the latest answer. */
static struct heaptap_frame *
put_plainly(const struct lua_layout *y, const struct states *s, struct heaptap_frame *to,
            size_t max)
{
    struct heaptap_frame *end = to + max;

    for (size_t i = 0; i < s->count; i++) {
        struct heaptap_frame *from = to;
        struct walk w;
        bool more = walk_begin(y, &w, s, i);

        for (size_t steps = 4 * (size_t)(end - to); more && to < end && steps > 0; steps--) {
            to += put_call(y, &w, to);
            more = walk_next(y, &w);
        }
        to = without_nameless(from, to);
    }
    return to;
}

/* The frames of the states S, as the latest answer if there is room. Returns their end. */
static __attribute__((noinline)) struct heaptap_frame *
put_anew(const struct lua_layout *y, const struct states *s, struct heaptap_frame *to, size_t max)
{
    struct heaptap_frame *end = put_states(y, s, to, max);

    if (end == NULL) {
        latest.count = 0;
        end = put_states(y, s, to, max);
    }
    if (end == NULL) {
        latest.count = 0;
        end = put_plainly(y, s, to, max);
    }
    return end;
}

/* Does all that the state L allocates ask for an answer? *RET_OTHERS if other threads may have been
 * asked since this one was. */
static inline bool
is_asked_for(const struct lua_layout *y, uintptr_t l, bool *ret_others)
{
    static const void *latest_of[ASKERS]; // Atomic: by hash of the program's states.
    uintptr_t global = lua_word(l + y->state_global);
    const void **asker = &latest_of[global * UINT64_C(0x9e3779b97f4a7c15) >> 56];
    uintptr_t function = lua_word(global + y->global_alloc);

    if (__atomic_load_n(asker, __ATOMIC_RELAXED) != &latest) {
        __atomic_store_n(asker, &latest, __ATOMIC_RELAXED);
        *ret_others = true;
    }
    return lua_code_has(function) || lua_code_has(lua_types_given(function));
}

/* Put to *S the states that NOTES tell of. */
static inline void
find_states(const struct lua_layout *y, struct states *s, const unsigned long notes[HEAPTAP_NOTES])
{
    const void *from = NULL, *to = NULL;

    s->moved_from = heaptap_is_moved(&from, &to) ? (uintptr_t)from : 0;
    s->moved_by = (intptr_t)((uintptr_t)to - (uintptr_t)from);
    s->count = 0;
    s->all_asked = true;
    for (size_t k = 0; k < LUA_STATE_NOTES && notes[2 * k] != 0; k++) {
        uintptr_t l = lua_state_in(notes[2 * k], notes[2 * k + 1]);
        size_t i = 0;

        while (i < s->count && s->v[i] != l)
            i++;
        if (l == 0 || i < s->count)
            continue;
        s->v[s->count++] = l;
        s->all_asked &= is_asked_for(y, l, &latest.spoiled);
    }
}

size_t
lua_frames_noted(struct heaptap_frame *to, size_t max, const unsigned long notes[HEAPTAP_NOTES])
{
    const struct lua_layout *y = lua_layout;
    struct heaptap_frame *end;
    struct states s;

    find_states(y, &s, notes);
    // A handler that has interrupted an answer has another place for its own.
    if ((latest.writer != NULL && latest.writer != to) || !s.all_asked) {
        latest.spoiled = true;
        return (size_t)(put_plainly(y, &s, to, max) - to);
    }
    latest.writer = to;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (latest.spoiled) {
        latest.spoiled = false;
        latest.kept = 0;
    }
    latest.count = latest.kept;
    latest.kept = 0; // A handler may jump out of here.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    end = put_latest(y, &s, to, max);
    if (end == NULL)
        end = put_anew(y, &s, to, max);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    latest.kept = latest.count;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    latest.writer = NULL;
    return (size_t)(end - to);
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
