/* lua_frames.c: turns the calls of the running states into frames, and assigns each to a C frame.
 *
 * A state (the main program or a coroutine) has a list of calls on the heap, innermost first:
 * L->ci, then ci->previous; in 5.1 an array, from L->base_ci to L->ci. A call has its function, and
 * a call of a Lua function also has its position in the code. One C frame of luaV_execute runs many
 * Lua calls, up to the one that is marked as fresh. 5.1 has no such mark: there a call is fresh
 * unless a Lua function has made it with a call instruction.
 *
 * C frames. A call of a C function belongs to the C frame of that function, found by its address.
 * Calls of Lua functions belong to a frame of luaV_execute, which is by far the largest function of
 * any Lua; after a fresh call, they belong to the next frame of luaV_execute.
 *
 * Changes in progress. Lua moves its stack, and 5.1 its calls, by realloc. During the call its
 * pointers contain the old addresses; the recorder reports the move. From 5.4.5 on Lua first
 * replaces the pointers into the stack by offsets, in the same words. They remain offsets while the
 * host's allocator runs, with any calls that it makes. So each event checks if they are offsets. A
 * call that was left by an error stays in the list until pcall returns. The line comes from the
 * latest instruction that Lua has stored. Lua stores it wherever an error or a call may occur, but
 * not at a table constructor.
 *
 * The latest answer. Most events find nearly the same calls as the event before. So a thread caches
 * the calls, with the words of Lua's memory that determine each frame. An event reads the same
 * words again for every call, recomputes only the frames whose words differ, and returns the number
 * of unchanged outer frames. Frames are stored outermost last, so unchanged frames keep their place
 * while inner ones change:
 *
 *     latest   … │ insert │ fill │ (state) │ resume │ main │ (state) │
 *     now             insert │ sort │ fill │ (state) …       read, and written in front of "fill"
 *
 * The objects that these words point to are not read again. Another function can get the same
 * address only by an allocation, which would have caused an event. So the object is unchanged since
 * the latest answer. This requires that Lua's default allocator is used, which calls realloc for
 * all memory, and that no other thread has run a coroutine of the same program. An allocator of the
 * host may use a pool. In that case the source of the name is read again too: the prototype's
 * description. The same is done for a call that is found again after some events without it.
 *
 * Deep stacks. The recorder reads only so many inner frames (heaptap_frames_wanted). An event on a
 * deeper stack compares the links of these frames and of some more, up to the *stop*. Links outside
 * the stop may be stale: when calls return, the stop moves outwards, and that event also compares
 * the objects that the words point to. If a stack has more calls than there are links, the latest
 * answer has links for the innermost calls and fills three quarters of its room. So many calls can
 * begin and return before the whole chain is read again. Its outermost link is then not the end of
 * the list: the answer is *cut*.
 *
 *     (not read) …  │ cut │ … stale … │ stop │ … compared … │ new │ */
#include "language/lua_adapter.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "language/lua_layout.h"

enum {
    LINKS = HEAPTAP_FRAMES_MAX, // One per call, and an end record for each state.
    LINKS_CUT = LINKS * 3 / 4,  // Links to cache when a stack has more calls than LINKS.
    STOP_STEP = 64,             // The stop moves by this number of frames.
    PLACES = 1 << 10,
    ASKERS = 256,
    HEAD_BYTES_MAX = 4096,
    OPCODE_CALL_5_1 = 28,
    OPCODE_MASK_5_1 = 0x3f,
    KIND_LUA = 0,
    KIND_FRESH = 1,
    KIND_C = 2,
};

unsigned lua_frames_unnamed;

/* --- Calls ------------------------------------------------------------------------------------ */

/* The running states V, innermost first, and the block that realloc has moved while Lua still uses
 * the old address. */
struct states {
    size_t count;
    bool all_queried;     // Every allocation of these states has caused an event.
    bool is_plain;        // Calls are not an array, no block has moved, and no address is an
                          // offset.
    uintptr_t moved_from; // Old address of the moved block.
    size_t moved_bytes;
    intptr_t moved_by;
    uintptr_t v[LUA_STATE_NOTES];
};

/* A walk along the calls of a state, from the innermost call outwards. */
struct walk {
    struct lua_call c;
    uintptr_t noted_code; // The position in the code that the record contains.
    uintptr_t l, last;    // The state, and the record after its last call, which represents no
                          // call.
    intptr_t calls_moved;
};

/* Return true if the value at FUNCTION is a closure of a Lua function. */
static inline bool
is_lua_closure(const struct lua_layout *y, uintptr_t function)
{
    return lua_type_at(function) == LUA_IS_FUNCTION &&
           (!y->has_array || *(const unsigned char *)(lua_word(function) + y->closure_is_c) == 0);
}

/* Move W to the call record at CALL. Return false at the end record, which represents no call, and
 * at a damaged record. */
static inline bool
move_to_call(const struct lua_layout *y, struct walk *w, uintptr_t call)
{
    w->c.call = call;
    if (call == 0 || call == w->last)
        return false;
    w->c.previous = y->has_array ? call - y->call_bytes : lua_word(call + LUA_CALL_PREVIOUS);
    w->c.function = lua_call_function(y, &w->c, call);
    w->c.code = w->noted_code = lua_word(call + y->call_code);
    // The end record has no previous record.
    return w->c.previous != 0 && w->c.function != 0;
}

/* Correct W's position in the code, for 5.1. There the record's position is meaningless for a C
 * function, and the state stores the position of the innermost Lua function. */
static inline void
correct_code(const struct lua_layout *y, struct walk *w, bool innermost)
{
    if (innermost)
        w->noted_code = lua_word(w->l + y->state_code);
    w->c.code = is_lua_closure(y, w->c.function) ? w->noted_code : 0;
}

/* Return true if ADDRESS, as Lua stores it, is in the moved block. The host's allocator may have
 * put a header before the address that Lua uses. */
static inline bool
is_moved(const struct states *s, uintptr_t address)
{
    return address == s->moved_from ||
           (s->moved_bytes != SIZE_MAX && address - s->moved_from < s->moved_bytes);
}

/* Return true if ADDRESS may be in the moved block, whose size is unknown. */
static inline bool
may_be_moved(const struct states *s, uintptr_t address)
{
    return s->moved_bytes == SIZE_MAX && address - s->moved_from - 1 < HEAD_BYTES_MAX;
}

static inline bool
walk_begin(const struct lua_layout *y, struct walk *w, const struct states *s, size_t number)
{
    uintptr_t l = s->v[number], call = lua_word(l + y->state_ci);

    w->l = l;
    w->last = 0;
    w->c.call = 0;
    w->c.moved = 0;
    w->c.stack = w->c.stack_used = 0;
    w->calls_moved = 0;
    if (!s->is_plain && lua_has_offsets(y, l)) {
        w->c.stack = lua_word(l + y->state_stack);
        w->c.stack_used = lua_stack_used(y, l);
    }
    if (s->moved_from != 0) {
        uintptr_t stack = lua_word(l + y->state_stack);
        uintptr_t calls = y->has_array ? lua_word(l + y->state_calls) : 0;

        if (may_be_moved(s, stack) || may_be_moved(s, calls))
            return false;
        if (is_moved(s, stack))
            w->c.moved = s->moved_by;
        else if (is_moved(s, calls))
            w->calls_moved = s->moved_by;
    }
    if (!y->has_array)
        return move_to_call(y, w, call);
    w->last = lua_word(l + y->state_calls) + (uintptr_t)w->calls_moved;
    // A new state has no calls yet.
    if (call == 0 || !move_to_call(y, w, call + (uintptr_t)w->calls_moved))
        return false;
    correct_code(y, w, true);
    return true;
}

static inline bool
walk_next(const struct lua_layout *y, struct walk *w)
{
    if (!move_to_call(y, w, w->c.previous))
        return false;
    if (y->has_array)
        correct_code(y, w, false);
    return true;
}

/* Return true if W's call, of a Lua function, is the outermost one in its C frame of
 * luaV_execute. */
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

/* Facts from the objects that a link's words point to, read when the call was new, and the frame
 * made of these facts. */
struct facts {
    uintptr_t function; // Prototype or C function of the closure; 0 = not read.
    struct lua_proto proto;
    struct heaptap_frame frame; // Valid if the link's has_frame is true.
};

/* Store the facts of the call of W in *F. Return false if the call is not shown. */
static inline bool
read_call(const struct lua_layout *y, const struct walk *w, struct facts *f)
{
    unsigned status = y->has_array ? 0 : *(const unsigned short *)(w->c.call + y->call_status);
    bool is_lua = is_lua_closure(y, w->c.function);
    uintptr_t value = lua_word(w->c.function);

    f->function = 0;
    // A layout has only one of the two bits. Either shows if the function is a Lua function.
    if (!y->has_array && is_lua != (((status ^ y->is_c) & (y->is_lua | y->is_c)) != 0))
        return false;
    if (is_lua) {
        f->function = lua_closure_function(y, value);
        f->proto = lua_proto_at(y, f->function);
        f->frame = (struct heaptap_frame){
            .id = lua_name_of_lua(w->l, &w->c, f->function, &f->proto),
            .extra = is_fresh(y, w, status) ? KIND_FRESH : KIND_LUA,
        };
        return true;
    }
    if (lua_type_at(w->c.function) != LUA_IS_LIGHT_C)
        value = f->function = lua_closure_function(y, value);
    if (!lua_code_has(value))
        return false; // Reports show the C frame of this function instead. lua_frames_place looks
                      // for the C frame with this address.
    f->frame = (struct heaptap_frame){value, lua_name_of_c(w->l, &w->c, value), KIND_C};
    if (f->frame.id == 0)
        f->frame.id = lua_frames_unnamed;
    return true;
}

/* --- The latest answer ------------------------------------------------------------------------ */

/* A call of the latest answer, with the words that determine its frame. A link for the end record,
 * which represents no call, follows the calls of each state. */
struct link {
    uintptr_t call, value, code; // Addresses of the call record and the called value, and
    uint16_t status;             // the code position; these and the status as in the record.
    uint8_t type;
    bool has_frame;
    uint16_t end;    // Index of the end record of this state.
    uint16_t frames; // Number of frames from the outermost one up to this one.
};

struct memo {
    unsigned count;  // Number of valid links; they are the last ones of V. 0 while an answer is
                     // made.
    unsigned filled; // Number of links at the end of V that contain data of earlier answers.
    bool is_unsure;  // The objects that the words point to may have changed.
    bool is_cut;     // The calls continue beyond the outermost link. V[LINKS] has the next call.
    unsigned stop;   // Index into V: only links before this one are compared; LINKS = all.
    uintptr_t states[LUA_STATE_NOTES]; // The states of the latest answer, one per note.
    uintptr_t allocator;     // Lua's own allocator function.
    uint16_t places[PLACES]; // Index into V, by the hash of a call record's address.
    struct link v[LINKS + 1];
    struct facts facts[LINKS];
};

const size_t lua_frames_memo_bytes = sizeof(struct memo);

/* An answer under construction. The links from CHANGED on are unchanged. */
struct answer {
    const struct lua_layout *y;
    const struct states *s;
    struct memo *m;
    bool deep; // Also compare the objects that the links' words point to.
    unsigned count, filled; // In the memo.
    const struct link *changed;
    const struct link *stop; // End of the comparison; beyond V if all links are compared.
};

/* Return the link at index STOP, where comparisons end early. Return a link beyond V if there is no
 * stop and the links end with the calls. */
static inline const struct link *
stop_of(const struct memo *m, unsigned stop)
{
    return stop < LINKS || m->is_cut ? &m->v[stop] : &m->v[LINKS] + 1;
}

static inline uint16_t *
lua_frames_place_of(struct memo *m, uintptr_t call)
{
    static_assert(PLACES == 1 << (64 - 54), "the hash");
    return &m->places[call * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

/* Return the link of the call record CALL; the end of V if no link has it. */
static inline struct link *
link_of(const struct answer *a, uintptr_t call)
{
    size_t at = *lua_frames_place_of(a->m, call);
    struct link *e = &a->m->v[at];

    return at + a->count >= LINKS && e->call == call && e->end != at ? e : &a->m->v[LINKS];
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

/* Return true if the objects that the words of E point to are unchanged. If the facts do not come
 * from the closure, equal words suffice. */
static inline bool
leads_to_same(const struct lua_layout *y, const struct memo *m, const struct link *e)
{
    const struct facts *f = &m->facts[e - m->v];
    struct lua_proto now;

    if (f->function == 0)
        return true;
    if (lua_closure_function(y, e->value) != f->function)
        return false;
    if (!e->has_frame || f->frame.extra == KIND_C)
        return true;
    now = lua_proto_at(y, f->function);
    return lua_proto_is(&now, &f->proto);
}

/* Store the call of W in link E. */
static NOINLINE void
note_call(const struct answer *a, const struct walk *w, struct link *e)
{
    const struct lua_layout *y = a->y;
    struct facts *f = &a->m->facts[e - a->m->v];

    *e = (struct link){.call = w->c.call,
                       .value = lua_word(w->c.function),
                       .code = w->noted_code,
                       .status = (uint16_t)status_of(y, w->c.call),
                       .type = (uint8_t)type_byte(w->c.function),
                       .end = e->end};
    e->has_frame = read_call(y, w, f);
}

/* Return true if the call of W equals link E. In 5.1 alone, a frame also depends on the previous
 * call. */
static inline bool
is_call(const struct answer *a, const struct walk *w, const struct link *e, bool deep)
{
    const struct lua_layout *y = a->y;
    const struct facts *f = &a->m->facts[e - a->m->v];

    if (e->value != lua_word(w->c.function) || e->code != w->noted_code ||
        e->status != status_of(y, w->c.call) || e->type != type_byte(w->c.function))
        return false;
    if (deep && !leads_to_same(y, a->m, e))
        return false;
    return !y->has_array || !e->has_frame || f->frame.extra == KIND_C ||
           f->frame.extra == (is_fresh(y, w, 0) ? (unsigned)KIND_FRESH : (unsigned)KIND_LUA);
}

/* Like note_call, for a link E of the latest answer. Count E as changed from then on. */
static void
note_other(struct answer *a, const struct walk *w, struct link *e)
{
    note_call(a, w, e);
    if (a->changed <= e)
        a->changed = e + 1;
}

static NOINLINE void
note_again(struct answer *a, uintptr_t l, struct link *e)
{
    struct walk w = {.l = l};

    move_to_call(a->y, &w, e->call);
    note_other(a, &w, e);
}

/* Return true if the record of the call still has the words of E. CODE and STATUS are the offsets
 * of two of them. The states must be plain. */
static INLINE bool
has_words(uintptr_t call, uintptr_t code, uintptr_t status, const struct link *e)
{
    uintptr_t function = lua_word(call);

    return likely(lua_word(function) == e->value) && likely(lua_word(call + code) == e->code) &&
           likely(*(const unsigned short *)(call + status) == e->status) &&
           likely(type_byte(function) == e->type);
}

/* Return true if the calls from E outwards still have their links, in state NUMBER and in the
 * states that resumed it. Update links whose words have changed. Handles only plain states. */
static INLINE bool
lua_frames_stays(struct answer *a, size_t number, struct link *e, bool deep)
{
    const struct link *row_end = &a->m->v[LINKS];
    const struct states *s = a->s;
    uintptr_t code = a->y->call_code, status = a->y->call_status, ci = a->y->state_ci;

    KEEP(code);
    KEEP(status);
    for (;;) {
        const struct link *end = &a->m->v[e->end], *last = end < a->stop ? end : a->stop;

        for (; e != last; e++) {
            uintptr_t call = e->call;

            if (!has_words(call, code, status, e) || (deep && !leads_to_same(a->y, a->m, e)))
                note_again(a, s->v[number], e);
            if (lua_word(call + LUA_CALL_PREVIOUS) != e[1].call)
                return false;
        }
        if (e == a->stop)
            return true;
        if (lua_word(e->call + LUA_CALL_PREVIOUS) != 0)
            return false;
        e++;
        if (e == a->stop)
            return true;
        if (++number == s->count)
            return e == row_end;
        if (e == row_end || lua_word(s->v[number] + ci) != e->call)
            return false;
    }
}

static NOINLINE bool
stays_shallow(struct answer *a, size_t number, struct link *e)
{
    return lua_frames_stays(a, number, e, false);
}

static NOINLINE bool
stays_deep(struct answer *a, size_t number, struct link *e)
{
    return lua_frames_stays(a, number, e, true);
}

/* Do the same as lua_frames_stays for states that are not plain. W is at the call of link E, in
 * state NUMBER. */
static bool
stays_moved(struct answer *a, size_t number, struct walk *w, struct link *e)
{
    const struct link *row_end = &a->m->v[LINKS];
    const struct lua_layout *y = a->y;
    bool more;

    for (;;) {
        const struct link *end = &a->m->v[e->end];

        while (e != end) {
            if (e == a->stop)
                return true;
            if (!is_call(a, w, e, a->deep))
                note_other(a, w, e);
            more = walk_next(y, w);
            e++;
            if (w->c.call != e->call || (e != row_end && more != (e != end)))
                return false;
        }
        if (e == a->stop || ++e == a->stop)
            return true;
        if (++number == a->s->count)
            return e == row_end;
        if (e == row_end)
            return false;
        more = walk_begin(y, w, a->s, number);
        if (w->c.call != e->call || more != (&a->m->v[e->end] != e))
            return false;
    }
}

/* The join: the innermost call that already has a link in the latest answer. */
struct join {
    struct link *at;     // The end of V if no call has a link.
    size_t record_count; // Number of records further in.
    size_t state;
    struct walk w;
};

/* Find the join of the states' calls with the latest answer. Read at most LINKS records. */
static void
find_join(const struct answer *a, struct join *j)
{
    const struct states *s = a->s;
    size_t k = 0;

    for (size_t i = 0; i < s->count; i++) {
        for (bool more = walk_begin(a->y, &j->w, s, i); more; more = walk_next(a->y, &j->w)) {
            j->at = link_of(a, j->w.c.call);
            if (j->at != &a->m->v[LINKS] || k > LINKS) {
                j->record_count = k;
                j->state = i;
                return;
            }
            k++;
        }
        k++;
    }
    j->at = &a->m->v[LINKS];
    j->record_count = k;
}

/* Return true if the calls from J outwards are unchanged. */
static inline bool
lua_frames_goes_on(struct answer *a, struct join *j)
{
    if (!a->s->is_plain)
        return stays_moved(a, j->state, &j->w, j->at);
    return a->deep ? stays_deep(a, j->state, j->at) : stays_shallow(a, j->state, j->at);
}

/* Store the call of W in link number AT, unless it is there already. */
static void
put_new_call(const struct answer *a, const struct walk *w, size_t at)
{
    struct link *e = &a->m->v[at];

    if (at + a->filled < LINKS || e->call != w->c.call || e->end == at || !is_call(a, w, e, true))
        note_call(a, w, e);
    *lua_frames_place_of(a->m, w->c.call) = (uint16_t)at;
}

/* Make links for the calls inside link number JOINED, from number AT on. */
static void
put_new(const struct answer *a, size_t at, size_t joined)
{
    struct link *v = a->m->v;

    for (size_t i = 0; i < a->s->count && at < joined; i++) {
        size_t from = at, end;
        struct walk w;
        bool more = walk_begin(a->y, &w, a->s, i);

        for (; more && at < joined; more = walk_next(a->y, &w))
            put_new_call(a, &w, at++);
        end = more ? v[at].end : at;
        for (size_t k = from; k < at; k++)
            v[k].end = (uint16_t)end;
        if (more && at == LINKS) // See put_cut.
            v[at].call = w.c.call;
        if (!more) {
            v[at] = (struct link){.call = w.c.call, .end = (uint16_t)at};
            at++;
        }
    }
}

/* Number the changed links from FIRST on, and store their frames before END. The outermost calls of
 * a state may be C functions of the program, which call Lua and have C frames that are shown. */
static void
put_changed(const struct answer *a, struct link *first, struct heaptap_frame *end)
{
    struct link *v = a->m->v;

    for (struct link *e = &v[a->changed - v]; e-- > first;) {
        const struct heaptap_frame *f = &a->m->facts[e - v].frame;
        unsigned frames = e[1].frames;

        if (e->has_frame && (f->id != lua_frames_unnamed || frames > v[e->end].frames))
            end[-(ptrdiff_t)++frames] = *f;
        e->frames = (uint16_t)frames;
    }
}

/* Store the innermost frames of the states without the latest answer, as many as fit. Return their
 * number. */
static COLD size_t
put_plainly(const struct answer *a, struct heaptap_frame *end)
{
    struct heaptap_frame *begin = end - HEAPTAP_FRAMES_MAX, *to = begin;
    struct facts f;

    for (size_t i = 0; i < a->s->count; i++) {
        struct heaptap_frame *from = to;
        struct walk w;
        bool more = walk_begin(a->y, &w, a->s, i);

        for (size_t steps = 4 * (size_t)(end - to); more && to < end && steps > 0; steps--) {
            if (read_call(a->y, &w, &f))
                *to++ = f.frame;
            more = walk_next(a->y, &w);
        }
        while (to > from && to[-1].id == lua_frames_unnamed)
            to--;
    }
    memmove(end - (to - begin), begin, (size_t)(to - begin) * sizeof *to);
    return (size_t)(to - begin);
}

/* Choose the stop for an answer whose innermost link is FROM, and return its index. It is
 * STOP_STEP further out than the answer needs, so that it need not move soon; LINKS if the links
 * end before that. */
static unsigned
lua_frames_stop_from(const struct memo *m, const struct link *from)
{
    const struct link *row_end = &m->v[LINKS], *e;
    size_t wanted = heaptap_frames_wanted() + 1, max = (size_t)(row_end - from);

    e = from + (wanted + STOP_STEP < max ? wanted + STOP_STEP : max);
    while (e < row_end && from->frames < e->frames + wanted)
        e++;
    return (unsigned)(e - m->v);
}

/* Move the stop so that enough frames from FROM outwards are compared. Return false if the links do
 * not reach that far. */
static bool
lua_frames_reaches(struct answer *a, const struct link *from)
{
    size_t wanted = heaptap_frames_wanted() + 1;

    if (a->stop > &a->m->v[LINKS] || from->frames >= a->stop->frames + wanted)
        return true;
    // While these links were outside the stop, no event compared them. So their prototypes may have
    // changed.
    a->deep = true;
    a->stop = stop_of(a->m, lua_frames_stop_from(a->m, from));
    return a->stop > &a->m->v[LINKS] || from->frames >= a->stop->frames + wanted;
}

/* Read only the innermost LINKS_CUT links. Return the first. */
static struct link *
put_cut(struct answer *a)
{
    struct link *row_end = &a->m->v[LINKS];

    *row_end = (struct link){.end = LINKS};
    a->m->is_cut = true;
    a->stop = a->changed = row_end;
    put_new(a, LINKS - LINKS_CUT, LINKS);
    return row_end - LINKS_CUT;
}

/* Build the links of the answer. Return the first. */
static struct link *
put_links(struct answer *a)
{
    struct link *row_end = &a->m->v[LINKS];
    struct join j;
    size_t joined;

    find_join(a, &j);
    if (j.at != row_end && (!lua_frames_reaches(a, j.at) || !lua_frames_goes_on(a, &j))) {
        a->count = 0;
        find_join(a, &j);
    }
    if (a->changed < j.at)
        a->changed = j.at;
    if (j.at == row_end) {
        a->m->is_cut = false;
        a->stop = row_end + 1;
    }
    joined = (size_t)(j.at - a->m->v);
    if (j.record_count > joined)
        return put_cut(a);
    put_new(a, joined - j.record_count, joined);
    return j.at - j.record_count;
}

/* Return the stop for the events after A, whose innermost link is FIRST. */
static unsigned
lua_frames_next_stop(const struct answer *a, const struct link *first)
{
    const struct link *row_end = &a->m->v[LINKS];
    const struct link *stop = a->stop < row_end ? a->stop : row_end;

    if (first->frames <= stop->frames + heaptap_frames_wanted() + 2 * STOP_STEP)
        return (unsigned)(stop - a->m->v);
    return lua_frames_stop_from(a->m, first);
}

/* Record that this thread has an event of the Lua program with the global state GLOBAL. Set M's
 * is_unsure if another thread has had an event of this program since this thread's latest one. */
static inline void
ask_whose(struct memo *m, uintptr_t global)
{
    static const struct memo *latest_of[ASKERS]; // Atomic, by hash of GLOBAL: the memo of the
                                                 // thread with the latest event.
    const struct memo **asker = &latest_of[global * UINT64_C(0x9e3779b97f4a7c15) >> 56];

    if (likely(__atomic_load_n(asker, __ATOMIC_RELAXED) == m))
        return;
    m->is_unsure = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); // A handler may jump out of here.
    __atomic_store_n(asker, m, __ATOMIC_RELAXED);
}

static NOINLINE bool
is_lua_allocator(struct memo *m, uintptr_t function)
{
    if (!lua_code_has(function) && !lua_code_has(lua_types_given(function)))
        return false;
    m->allocator = function;
    return true;
}

/* Store the states that NOTES identify in *S. */
static inline void
find_states(const struct lua_layout *y, struct memo *m, struct states *s,
            const unsigned long notes[HEAPTAP_NOTES])
{
    const void *from = NULL, *to = NULL;

    s->moved_bytes = heaptap_moved(&from, &to);
    s->moved_from = (uintptr_t)from;
    s->moved_by = (intptr_t)((uintptr_t)to - (uintptr_t)from);
    s->count = 0;
    s->all_queried = true;
    s->is_plain = !y->has_array && s->moved_from == 0;
    for (size_t k = 0; k < LUA_STATE_NOTES && notes[2 * k] != 0; k++) {
        uintptr_t l = m->states[k], global, function;
        size_t i = 0;

        if (unlikely(!lua_state_is(l, notes[2 * k], notes[2 * k + 1])))
            m->states[k] = l = lua_state_in(notes[2 * k], notes[2 * k + 1]);
        while (i < s->count && s->v[i] != l)
            i++;
        if (l == 0 || i < s->count)
            continue;
        s->v[s->count++] = l;
        s->is_plain &= !lua_has_offsets(y, l);
        global = lua_word(l + y->state_global);
        function = lua_word(global + y->global_alloc);
        ask_whose(m, global);
        if (unlikely(function != m->allocator))
            s->all_queried &= is_lua_allocator(m, function);
    }
}

/* Return true if the frames of the states S equal the cached ones, which holds at most events. S
 * must be plain and have at least one state. */
static INLINE bool
is_latest(const struct lua_layout *y, const struct memo *m, const struct states *s, bool deep)
{
    const struct link *e = &m->v[LINKS - m->count], *stop = stop_of(m, m->stop);
    uintptr_t code = y->call_code, status = y->call_status;

    KEEP(code);
    KEEP(status);
    for (size_t i = 0; i < s->count; i++) {
        const struct link *end = &m->v[e->end], *last = end < stop ? end : stop;

        if (e == &m->v[LINKS] || lua_word(s->v[i] + y->state_ci) != e->call)
            return false;
        // Load from the expected address, so that no load waits for another one.
        for (; e != last; e++) {
            uintptr_t call = e->call;

            if (!has_words(call, code, status, e) || (deep && !leads_to_same(y, m, e)))
                return false;
            if (lua_word(call + LUA_CALL_PREVIOUS) != e[1].call)
                return false;
        }
        if (e == stop)
            return true;
        if (lua_word(e->call + LUA_CALL_PREVIOUS) != 0)
            return false;
        if (++e == stop)
            return true;
    }
    return e == &m->v[LINKS];
}

/* Like is_latest, but also compare the objects that the links' words point to. */
static NOINLINE bool
is_deep_latest(const struct lua_layout *y, struct memo *m, const struct states *s)
{
    if (!is_latest(y, m, s, true))
        return false;
    m->is_unsure = !s->all_queried;
    return true;
}

/* Compute the answer A again where the calls have changed. */
static NOINLINE size_t
lua_frames_answer(struct answer *a, struct heaptap_frame *end, size_t *ret_same)
{
    struct memo *m = a->m;
    struct link *first = &m->v[LINKS - m->count];

    a->deep = m->is_unsure || !a->s->all_queried;
    a->count = m->count;
    a->filled = m->filled;
    a->changed = first;
    a->stop = stop_of(m, m->stop);
    m->count = m->filled = 0; // A handler may jump out of here.
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    first = put_links(a);
    *ret_same = a->changed->frames;
    put_changed(a, first, end);
    // Fewer frames than wanted are inside the stop: calls that are not shown have replaced calls
    // that are.
    if (a->stop <= &m->v[LINKS] && first->frames <= a->stop->frames + heaptap_frames_wanted()) {
        *ret_same = 0;
        return put_plainly(a, end);
    }
    m->stop = lua_frames_next_stop(a, first);
    a->count = (unsigned)(&m->v[LINKS] - first);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    m->is_unsure = !a->s->all_queried;
    m->count = a->count;
    m->filled = a->filled > a->count ? a->filled : a->count;
    return first->frames;
}

size_t
lua_frames_again(struct heaptap_frame *end, void *memo, const unsigned long notes[HEAPTAP_NOTES],
                 size_t *ret_same)
{
    const struct lua_layout *y = lua_layout;
    struct memo *m = memo;
    struct states s;

    find_states(y, m, &s, notes);
    if (likely(s.is_plain) &&
        (likely(s.all_queried) && likely(!m->is_unsure) ? is_latest(y, m, &s, false)
                                                        : is_deep_latest(y, m, &s)))
        return *ret_same = m->v[LINKS - m->count].frames;
    return lua_frames_answer(&(struct answer){.y = y, .s = &s, .m = m}, end, ret_same);
}

/* Return the index of the innermost of the C frames N[AT] to N[COUNT - 1] that runs the function at
 * START; COUNT if none does. */
static inline size_t
find_native(const struct heaptap_native *n, size_t at, size_t count, uintptr_t start)
{
    if (start == 0)
        return count;
    while (at < count && lua_code_start(n[at].pc) != start)
        at++;
    return at;
}

/* Like find_native, for the function whose code is CODE. */
static inline size_t
find_native_in(const struct heaptap_native *n, size_t at, size_t count, struct lua_code_range code)
{
    while (at < count && n[at].pc - 1 - code.start >= code.end - code.start)
        at++;
    return at;
}

int
lua_frames_place_inner(struct heaptap_frame *f, size_t count, const struct heaptap_native *n,
                       size_t native_count)
{
    struct lua_code_range execute;
    size_t at = 0;
    bool next = true; // The next Lua call has another C frame of luaV_execute.
    bool all = true;

    // lua_code_execute returns the largest function seen so far, so look up all C frames first.
    for (size_t i = 0; i < native_count; i++)
        if (lua_code_has(n[i].pc - 1))
            lua_code_start(n[i].pc);
    execute = lua_code_execute();
    for (size_t i = 0; i < count; i++) {
        bool is_c = f[i].extra == KIND_C;
        uintptr_t start = f[i].at;

        f[i].at = 0;
        if (is_c || next) {
            size_t found = is_c ? find_native(n, at, native_count, start)
                                : find_native_in(n, at, native_count, execute);

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
