/* python_frames.c: finds the Python functions that run in the calling thread.
 *
 * The interpreter links its frames, innermost first, from the thread's state. Some frames share a C
 * frame of _PyEval_EvalFrameDefault, and the recorder needs an address in that C frame to merge
 * them. Versions represent this differently:
 *
 *     3.9        one frame per C frame; the n-th frame is in the n-th C frame of that function
 *     3.10       one frame per C frame, which contains the n-th of the linked `cframe`s
 *     3.11       a frame with the mark "entry" is the outermost of its C frame, which has a cframe
 *     3.12, 13   after the outermost frame of a C frame comes a shim without a function, inside it
 *
 * A frame that has not reached its first instruction (it is making cells for closures) does not
 * count yet. The interpreter's tracebacks omit it too.
 *
 * Thread states. The interpreter stores the current state, which has the lock, and under a
 * thread-specific key the first state of this thread. Mostly the two are the same. They differ in
 * three cases. If this thread runs C code without the lock, its frames are in its own state. If it
 * runs a sub-interpreter, the current state applies, which has the same thread id. If the
 * interpreter is ending and has freed the states of other threads, there are no frames.
 *
 * Caching. Most events find most of the chain unchanged since the event before. So each thread
 * caches the links, numbered from the outermost on, with their ids and the words read from them. A
 * walk proceeds outwards until it meets a cached frame, and compares from there on. The words
 * determine the answer, and all of them are read again, so equal words give the same answer.
 *
 *     links      [1] main  [2] run  [3] parse  [4] word         of the event before
 *                                       ▲          ✕ has returned
 *     walk       ◄───── compared ───────┘ ◄── [new] ◄── [new]   read and named
 *
 * Some facts are not read again, because a separate event changes them: a page is readable, a block
 * of malloc still contains a frame, a code object still exists. `python_gone` counts the events
 * that end such facts; a change of it invalidates the memo. On the C stack, the place of the
 * innermost link shows if this is the stack that was proved readable.
 *
 * Lives. From 3.11 on, the interpreter has its frames in chunks, which it maps and unmaps through
 * the adapter's hook (python_pages.c). It unmaps a chunk when the first frame of the chunk returns.
 * A function cannot continue before its callee has returned. So if a chunk is the same mapping as
 * at the event before, all links outside its first frame are unchanged, and need not be compared.
 * This also holds for generators and greenlets in the chain. The exception is a trace function,
 * which can move any frame of the chain to another line. So while one runs, and at the next event,
 * all links are compared. The interpreter allocates memory before it moves a frame; the hook on
 * that invalidates older memos, even if the allocation is no event.
 *
 *     links      [1] main  [2] run │ [3] parse  [4] word │ [5] trim  [6] copy     │ new chunk
 *     walk                                                 ◄─ compared ─┘ ◄── [new]
 *
 * Deep stacks. The recorder reads only so many inner frames (heaptap_frames_wanted). Up to 3.10, a
 * walk on a deeper chain compares the links of these frames and of some more, up to the *stop*.
 * Links outside the stop may be stale; when calls return, the stop moves outwards, and they are
 * compared again. If a chain has more links than the memo has room for, the memo stores the
 * innermost ones and fills three quarters of its room; [0] is the next frame outwards. From 3.12
 * on, the C frame of the outermost of these is known only from a frame further out. If no chunk
 * proves the outer links, an event follows the chain to that frame, reading two words per frame.
 *
 * Links may be damaged, or incomplete when a handler runs. A frame is read only after it was proved
 * readable (python_reach.c), and a code object only after it was recognised as one (python_name.c).
 * The number of both is limited. If a link is broken, the stack ends with the frame "[damaged
 * frames]", so that the gap is visible and counted. Such a stack is not cached. */
#include "language/python_adapter.h"

#include "base/atomics.h"
#include "base/base.h"

enum {
    LINKS = HEAPTAP_FRAMES_MAX, // Function frames, frames without a function, and frames that have
                                // not begun.
    LINKS_CUT = LINKS * 3 / 4, // Links to cache when a chain has more than LINKS.
    LINKS_MAX = 1 << 16,
    STOP_STEP = 64, // The stop moves by this number of frames.
    PLACES = 1 << 10,
    UNKNOWN_MAX = 4,
};

static const struct python_layout *layout;
static struct python_asked asked;

void
python_frames_begin(const struct python_layout *l, const struct python_asked *a)
{
    layout = l;
    asked = *a;
}

/* The latest current state that differed from this thread's own state, and the value of python_gone
 * when it was read. NULL = none. */
static __thread struct {
    const void *state;
    uint64_t gone;
} other;

/* Return true if the id of the state CURRENT is readable. The interpreter's pointer leads to a live
 * state, so one system call suffices until the pointer changes, or the interpreter releases
 * memory. */
static bool
can_read_state(const void *current)
{
    uint64_t gone = load_acquire(&python_gone);

    if (likely(current == other.state && gone == other.gone) && current != NULL)
        return true;
    if (current == NULL || !heaptap_can_read(current, layout->thread_id + 8u))
        return false;
    // A handler may run between the two stores and store its own words; then nothing is cached.
    other.state = NULL;
    signal_fence();
    other.gone = gone;
    signal_fence();
    other.state = current;
    signal_fence();
    if (other.gone != gone)
        other.state = NULL;
    return true;
}

/* Return the state whose frames run in this thread, or NULL. Call if the current state CURRENT
 * differs from OWN, this thread's first state. */
static COLD const void *
choose_thread(const void *own, const void *current)
{
    if (own == NULL || !asked.is_initialized())
        return NULL;
    if (asked.interpreters() != asked.main() && can_read_state(current) &&
        python_word(current, layout->thread_id) == python_word(own, layout->thread_id))
        return current;
    return own;
}

/* --- The memo --------------------------------------------------------------------------------- */

/* A frame of the interpreter, or a placeholder for unreachable frames. */
struct link {
    const void *frame; // NULL: "[damaged frames]".
    const void *in;    // Address of the cframe or shim, which lies in the C frame; NULL = unknown.
    const void *code;  // The frame's code object, as read; NULL = must be read again.
    uint64_t at;       // As read.
    uint64_t number;   // Number of CODE from python_name.c; 0 = CODE is no code object.
    uint32_t id;
    uint32_t frames;   // Number of function frames from the outermost up to this one.
    uint8_t mark;      // See python_frames_mark_of.
    uint8_t shown;     // 1 = reported; 0 = has no function, or has not begun.
    uint16_t first;    // Number of the next link outwards, or this one, with a life; 0 = none.
    uint32_t life;     // See python_chunk_life.
};

struct python_memo {
    // The thread, and the value of python_gone when the words were read. If both are equal now, all
    // cached facts are valid.
    const void *thread;
    uint64_t gone;
    uintptr_t stack_end; // End of the part of the C stack that was proved readable.
    uint32_t count;      // Number of links; the outermost is number 1. 0 = nothing is cached.
    uint32_t filled;     // Links up to this number contain words and ids of an earlier answer.
    uint32_t stop;       // Only links further in than this one are compared; 0 = all.
    bool is_cut;         // The chain continues outwards with the frame in links[0].
    bool is_traced;      // A trace function may change any frame after the answer.
    uint16_t places[PLACES]; // Indexed by a frame's hash: the number of its link, as a hint.
    struct link links[LINKS + 1]; // links[0] is the end of the chain.
    struct link new_links[LINKS + 1]; // Scratch: the new links further in, innermost first.
};

const size_t python_memo_bytes = sizeof(struct python_memo);

/* An answer under construction. The walk has reached FRAME, whose C frame contains IN, and proceeds
 * outwards. */
struct walk {
    struct python_memo *m;
    const void *thread, *frame, *in;
    uint32_t count, filled, stop; // Copies of the memo's fields.
    uint32_t new_count;
    uint32_t from; // Number of the outermost changed link.
    unsigned unknown;
    bool is_lost; // Do not cache the answer.
    bool fills;   // If the chain is cut, cache as many links as fit into the memo.
    bool is_traced, was_traced; // A trace function runs now, or ran at the event before.
    struct python_reach reach;
};

static inline uint16_t *
python_frames_place_of(struct python_memo *m, const void *frame)
{
    static_assert(PLACES == 1 << (64 - 54), "the hash");
    return &m->places[((uintptr_t)frame >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

/* --- By kind of chain ------------------------------------------------------------------------- */

/* Return the mark that shows if the link at FRAME is the outermost one in its C frame. */
static INLINE uint8_t
python_frames_mark_of(enum python_chain kind, const void *frame)
{
    if (kind == PYTHON_CHAIN_ENTRIES)
        return (uint8_t)python_byte(frame, layout->frame_entry);
    return kind == PYTHON_CHAIN_SHIMS ? (uint8_t)python_byte(frame, layout->frame_owner) : 0;
}

/* Return true if a link with MARK is a shim, which has no function. */
static INLINE bool
python_frames_is_shim(enum python_chain kind, uint8_t mark)
{
    return kind == PYTHON_CHAIN_SHIMS && mark == PYTHON_OWNER_SHIM;
}

static INLINE bool
has_marks(enum python_chain kind)
{
    return kind == PYTHON_CHAIN_ENTRIES || kind == PYTHON_CHAIN_SHIMS;
}

/* Return the position in the word at P of a frame: a pointer to an instruction, or an index up to
 * 3.10. */
static INLINE uint64_t
at_in(enum python_chain kind, const void *p)
{
    return has_marks(kind) ? python_word(p, 0) : (uint64_t)python_int(p, 0);
}

static INLINE uint64_t
at_of(enum python_chain kind, const void *frame)
{
    return at_in(kind, (const char *)frame + layout->frame_at);
}

/* Return true if the next frame is in another C frame. IN is this frame's cframe. */
static INLINE bool
leaves_cframe(enum python_chain kind, const void *in, uint8_t mark)
{
    return (kind == PYTHON_CHAIN_ENTRIES && mark != 0) ||
           (kind == PYTHON_CHAIN_CFRAMES && in != NULL);
}

/* Return the last link of the chain from L outwards that must be compared: the next one outside the
 * first frame of a chunk, or the stop. */
static inline const struct link *
python_frames_proved(enum python_chain kind, const struct walk *w, const struct link *l)
{
    const struct link *first = &w->m->links[l->first];

    if (has_marks(kind) && l->first > 0 && likely(!w->is_traced) && likely(!w->was_traced) &&
        likely(python_chunk_life(first->frame) == first->life))
        return first - 1;
    return &w->m->links[w->stop];
}

/* Return true if L and the links outside it, up to ROOT, still follow one another. Then store in
 * W->from the outermost link whose instruction or function has changed. If false, store in
 * *RET_DIFFERS the number of the first link whose successor has changed. */
static INLINE bool
python_frames_stays(enum python_chain kind, struct walk *w, const struct link *l,
                    const struct link *root, uint32_t *ret_differs)
{
    const struct link *changed = l + 1;
    const char *frame = l->frame, *next;
    size_t code = layout->frame_code, at = layout->frame_at, previous = layout->frame_previous;
    size_t mark = kind == PYTHON_CHAIN_ENTRIES ? layout->frame_entry : layout->frame_owner;

    // Kept in registers, because this loop is most of an event's cost.
    KEEP(code);
    KEEP(at);
    KEEP(previous);
    KEEP(mark);
    for (; l > root; l--, frame = next) {
        if (has_marks(kind) && (uint8_t)frame[mark] != l->mark)
            break;
        if (!python_frames_is_shim(kind, l->mark) &&
            (unlikely(*(const void *const *)(frame + code) != l->code) ||
             unlikely(at_in(kind, frame + at) != l->at))) {
            changed = l;
            KEEP(changed); // Force a branch instead of a conditional move, because the branch is
                           // very rarely taken.
        }
        next = *(const char *const *)(frame + previous);
        if (next != l[-1].frame)
            break;
        next = l[-1].frame; // Take the next frame from the cache, so that no load waits for the
                            // previous load.
        if (leaves_cframe(kind, l->in, l->mark) &&
            python_pointer(l->in, layout->cframe_previous) != l[-1].in)
            break;
    }
    w->from = (uint32_t)(changed - w->m->links);
    *ret_differs = (uint32_t)(l - w->m->links);
    return l == root;
}

/* Return the next shim from FRAME outwards, or NULL. To detect a circle, compare each frame with
 * the frame after 1, 2, 4 and so on steps. */
static const void *
find_shim(struct walk *w, const void *frame)
{
    const void *before = NULL;

    for (size_t links = 0; links < LINKS_MAX; links++) {
        if (frame == before || !python_can_reach(&w->reach, frame))
            return NULL;
        if ((links & (links - 1)) == 0)
            before = frame;
        if (python_byte(frame, layout->frame_owner) == PYTHON_OWNER_SHIM)
            return frame;
        frame = python_pointer(frame, layout->frame_previous);
    }
    return NULL;
}

/* Return a stop that leaves enough frames from link number INNER outwards, one step further out
 * than needed; 0 if the links end before that. */
static uint32_t
python_frames_stop_from(enum python_chain kind, const struct python_memo *m, uint32_t inner)
{
    uint32_t wanted = (uint32_t)heaptap_frames_wanted() + 1, stop;

    // These kinds need no stop, because chunks prove the outer links.
    if (has_marks(kind))
        return 0;
    stop = inner > wanted + STOP_STEP ? inner - wanted - STOP_STEP : 0;
    while (stop > 0 && m->links[inner].frames < m->links[stop].frames + wanted)
        stop--;
    return stop;
}

/* Move the stop so that enough frames from link number INNER outwards are compared. Return false if
 * the links do not reach that far. */
static INLINE bool
python_frames_reaches(enum python_chain kind, struct walk *w, uint32_t inner)
{
    const struct link *l = w->m->links;
    uint32_t wanted;

    // Without a stop and with all links, the recorder need not be asked. That is the common case.
    if (likely(has_marks(kind) || w->stop == 0) && likely(!w->m->is_cut))
        return true;
    wanted = (uint32_t)heaptap_frames_wanted() + 1;
    if (w->stop > 0 && l[inner].frames < l[w->stop].frames + wanted)
        w->stop = python_frames_stop_from(kind, w->m, inner);
    return w->stop > 0 || !w->m->is_cut || l[inner].frames >= wanted;
}

/* If the link that W has reached and all links outside it are unchanged, return the number of that
 * link. Otherwise drop the links from the first changed one inwards, and return 0. */
static INLINE uint32_t
find_link(enum python_chain kind, struct walk *w)
{
    uint32_t number = *python_frames_place_of(w->m, w->frame), differs;
    const struct link *l = &w->m->links[number], *root;

    if (number - 1 >= w->count || l->frame != w->frame)
        return 0;
    if (kind == PYTHON_CHAIN_SHIMS || kind == PYTHON_CHAIN_OBJECTS) {
        if (l->in != NULL && (uintptr_t)l->in < w->reach.stack)
            return 0;
    } else if (l->in != w->in || (uintptr_t)l->in < w->reach.stack)
        return 0;
    if (!python_frames_reaches(kind, w, number)) {
        w->count = 0;
        return 0;
    }
    root = python_frames_proved(kind, w, l);
    if (!python_frames_stays(kind, w, l, root, &differs)) {
        w->count = differs - 1;
        return 0;
    }
    if (kind == PYTHON_CHAIN_SHIMS && unlikely(w->m->is_cut) && root == w->m->links &&
        find_shim(w, w->m->links[0].frame) != w->m->links[0].in) {
        w->count = 0;
        return 0;
    }
    return number;
}

/* Add a placeholder for unreachable frames. */
static COLD void
add_damaged(struct walk *w, const void *in)
{
    w->m->new_links[w->new_count++] = (struct link){.in = in, .shown = 1};
    w->is_lost = true;
}

/* Return true if the frame that W has reached is readable. NULL is the regular end of the chain. */
static inline bool
python_frames_is_present(struct walk *w, const void *p, const void *in)
{
    if (likely(python_can_reach(&w->reach, p)))
        return true;
    w->is_lost = true;
    if (p != NULL)
        add_damaged(w, in);
    return false;
}

/* Return true if CFRAME is readable. When no Python code runs, it is the one inside the thread's
 * state. */
static inline bool
is_cframe_present(struct walk *w, const void *cframe, const void *in)
{
    return cframe == (const char *)w->thread + layout->thread_root ||
           python_frames_is_present(w, cframe, in);
}

/* Read the frame that W has reached, and step outwards. Return false at the end of the chain. A
 * readable frame without a code object is an unknown function. That check makes system calls, so
 * their number is limited: a walk along wrong links, perhaps in a circle, ends early. */
static INLINE bool
take_link(enum python_chain kind, struct walk *w)
{
    const void *frame = w->frame, *inner = w->in;
    struct link *l = &w->m->new_links[w->new_count];

    if (!python_frames_is_present(w, frame, w->in))
        return false;
    w->new_count++;
    l->frame = frame;
    l->in = w->in;
    l->code = python_pointer(frame, layout->frame_code);
    l->at = at_of(kind, frame);
    l->mark = python_frames_mark_of(kind, frame);
    l->shown = !python_frames_is_shim(kind, l->mark);
    l->life = has_marks(kind) ? python_chunk_life(frame) : 0;
    l->number = l->shown ? python_name_code(l->code) : 0;
    w->frame = python_pointer(frame, layout->frame_previous);
    if (unlikely(l->number == 0) && l->shown) {
        w->is_lost = true;
        if (++w->unknown == UNKNOWN_MAX) {
            add_damaged(w, w->in);
            return false;
        }
    }
    if (kind == PYTHON_CHAIN_ENTRIES && l->mark) {
        w->in = python_pointer(w->in, layout->cframe_previous);
        return is_cframe_present(w, w->in, inner);
    }
    if (kind == PYTHON_CHAIN_CFRAMES && w->in != NULL) {
        if (!is_cframe_present(w, w->in, NULL))
            return false;
        w->in = python_pointer(w->in, layout->cframe_previous);
    }
    return true;
}

/* --- The answer ------------------------------------------------------------------------------- */

/* Return true if the function of L has reached its first instruction. Before that, it does not
 * count. */
static INLINE bool
has_begun(enum python_chain kind, const struct link *l)
{
    uint64_t begin;

    if (!has_marks(kind))
        return true;
    begin = (uintptr_t)l->code + layout->code_begin;
    return l->at >= begin + 2 * (uint64_t)python_int(l->code, layout->code_first) ||
           python_byte(l->frame, layout->frame_owner) == PYTHON_OWNER_GENERATOR;
}

/* Return the offset of L's instruction in bytes from the first one of its function. */
static INLINE uint64_t
offset_of(enum python_chain kind, const struct link *l)
{
    uint64_t begin = (uintptr_t)l->code + layout->code_begin;

    if (!has_marks(kind))
        return (int64_t)l->at < 0 ? PYTHON_NOT_BEGUN : l->at * (layout->minor >= 10 ? 2 : 1);
    return l->at >= begin ? l->at - begin : PYTHON_NOT_BEGUN;
}

/* Set the id of L, a link that was read and will be reported. */
static INLINE void
name_link(enum python_chain kind, struct link *l)
{
    if (unlikely(l->number == 0)) {
        l->id = l->frame == NULL ? heaptap_frame_name("[damaged frames]", "", 0, "Python") : 0;
        return;
    }
    if (likely(has_begun(kind, l))) {
        l->id = python_name_of(l->code, l->number, offset_of(kind, l));
        return;
    }
    // Do not cache the answer: the check has read the frame's owner, which later events do not
    // compare.
    l->shown = 0;
    l->code = NULL;
}

/* Read the instruction and function of L again. Return false if L no longer has a code object. */
static INLINE bool
read_again(enum python_chain kind, struct link *l)
{
    const void *code = python_pointer(l->frame, layout->frame_code);
    uint64_t at = at_of(kind, l->frame);

    if ((python_frames_is_shim(kind, l->mark)) || (code == l->code && at == l->at))
        return true;
    if (code != l->code)
        l->number = python_name_code(code);
    l->code = code;
    l->at = at;
    l->shown = 1;
    name_link(kind, l);
    return l->number != 0;
}

/* Store NEW as L. If FILLED, L is a link of an earlier answer; reuse its id if both are equal. */
static INLINE void
take_new(enum python_chain kind, struct link *l, const struct link *new, bool filled)
{
    bool same = filled && l->frame == new->frame && l->code == new->code && l->at == new->at &&
                l->number == new->number && l->mark == new->mark && l->shown == new->shown;
    uint32_t id = l->id;

    *l = *new;
    l->id = id;
    if (l->shown && !same)
        name_link(kind, l);
}

/* Update the memo from the first changed link inwards: read the links up to number KNOWN again,
 * then add the new ones. Store their functions before END. Return false if one of the links up to
 * KNOWN has lost its function. */
static INLINE bool
python_frames_answer(enum python_chain kind, struct walk *w, uint32_t known,
                     struct heaptap_frame *end)
{
    uint32_t top = known + w->new_count;

    for (uint32_t i = w->from; i <= top; i++) {
        struct link *l = &w->m->links[i];

        if (i > known)
            take_new(kind, l, &w->m->new_links[top - i], i <= w->filled);
        else if (!read_again(kind, l))
            return false;
        if (kind == PYTHON_CHAIN_SHIMS)
            l->in = python_frames_is_shim(kind, l->mark) ? l->frame : l[-1].in;
        // The links span several C stacks, so the position of the innermost link does not prove the
        // others readable.
        if (i > 1 && l->in > l[-1].in && l[-1].in != NULL)
            w->is_lost = true;
        *python_frames_place_of(w->m, l->frame) = (uint16_t)i;
        l->first = l->life != 0 ? (uint16_t)i : l[-1].first;
        l->frames = l[-1].frames + l->shown;
        if (l->shown)
            end[-(int)l->frames] = (struct heaptap_frame){(uintptr_t)l->in, l->id, 0};
    }
    return true;
}

/* Handle a chain with more links than the limit, in a version where only a frame further out
 * identifies the C frame. If that frame is missing, report no frames: the links form no stack, and
 * would hide the C frames. */
static COLD void
python_frames_cut(struct walk *w)
{
    struct link *root = &w->m->links[0];
    const struct link *outer = &w->m->new_links[LINKS_CUT];

    w->m->is_cut = true;
    if (likely(!w->fills)) {
        w->new_count = LINKS_CUT;
        root->frame = outer->frame;
        root->in = outer->in;
    } else {
        w->is_lost = true;
        root->frame = w->frame;
        root->in = NULL;
    }
    if (layout->chain != PYTHON_CHAIN_SHIMS || (root->in = find_shim(w, root->frame)) != NULL)
        return;
    w->is_lost = true;
    while (w->new_count > 0 &&
           !python_frames_is_shim(PYTHON_CHAIN_SHIMS, w->m->new_links[w->new_count - 1].mark))
        w->new_count--;
    add_damaged(w, NULL);
}

/* Follow the chain until it meets a known link, or ends. Return the number of that link; 0 at the
 * end. */
static INLINE uint32_t
python_frames_follow(enum python_chain kind, struct walk *w)
{
    for (uint32_t known; w->new_count + 1 < LINKS;) {
        if (w->frame != NULL && (known = find_link(kind, w)) > 0)
            return known;
        if (w->frame == NULL || !take_link(kind, w)) {
            w->from = 1;
            w->m->links[0].frame = NULL;
            w->m->links[0].in = w->in;
            w->m->is_cut = false;
            w->stop = 0;
            return 0;
        }
    }
    w->from = 1;
    w->stop = 0;
    python_frames_cut(w);
    return 0;
}

/* Begin a walk at the innermost frame of the chain. */
static inline void
python_frames_start(struct walk *w)
{
    w->new_count = 0;
    w->unknown = 0;
    w->is_lost = false;
    w->in = NULL;
    w->frame = python_pointer(w->thread, layout->thread_top);
    if (layout->thread_cframe != PYTHON_NONE)
        w->in = python_pointer(w->thread, layout->thread_cframe);
    if (layout->cframe_top == PYTHON_NONE)
        return;
    // In 3.12 the cframe leads to the frames, but does not identify their C frame.
    if (layout->chain == PYTHON_CHAIN_ENTRIES)
        w->in = w->frame;
    w->frame = is_cframe_present(w, w->frame, NULL) ? python_pointer(w->frame, layout->cframe_top)
                                                    : NULL;
}

/* Return the stop for the events after W, whose innermost link is number TOP. */
static inline uint32_t
python_frames_next_stop(enum python_chain kind, const struct walk *w, uint32_t top)
{
    const struct link *l = w->m->links;

    if (has_marks(kind))
        return 0;
    if (l[top].frames <= l[w->stop].frames + heaptap_frames_wanted() + 2 * STOP_STEP)
        return w->stop;
    return python_frames_stop_from(kind, w->m, top);
}

/* Return true if there are fewer frames than wanted between link number TOP and the stop. Functions
 * that have not begun do not count. */
static inline bool
is_short(const struct walk *w, uint32_t top)
{
    const struct link *l = w->m->links;
    bool is_part = w->stop > 0 || (w->m->is_cut && !w->is_lost);

    return is_part && l[top].frames <= l[w->stop].frames + heaptap_frames_wanted();
}

static INLINE size_t
python_frames_walk(enum python_chain kind, struct walk *w, struct heaptap_frame *end,
                   size_t *ret_same)
{
    struct python_memo *m = w->m;
    uint32_t known, top;

    for (;;) {
        python_frames_start(w);
        known = python_frames_follow(kind, w);
        *ret_same = m->links[w->from - 1].frames;
        top = known + w->new_count;
        if (likely(top <= LINKS) && likely(python_frames_answer(kind, w, known, end)) &&
            likely(!is_short(w, top)))
            break;
        // Walk once more without the cache. That walk always ends.
        w->fills = known == 0;
        w->count = w->filled = 0;
    }
    signal_fence();
    if (likely(!w->is_lost && !w->reach.asked)) {
        m->thread = w->thread;
        m->stack_end = w->reach.stack + w->reach.stack_room;
        m->filled = w->filled > top ? w->filled : top;
        m->stop = python_frames_next_stop(kind, w, top);
        m->is_traced = w->is_traced;
        m->count = top;
    }
    return m->links[top].frames;
}

void
python_frames_place(struct heaptap_frame *frames, size_t count,
                    const struct heaptap_native *natives, size_t native_count)
{
    size_t n = 0;

    if (layout->chain != PYTHON_CHAIN_OBJECTS)
        return;
    for (size_t i = 0; i < native_count && n < count; i++)
        if (natives[i].slot != 0 &&
            heaptap_function_of((const void *)(natives[i].pc - 1)) == asked.eval)
            frames[n++].at = natives[i].slot + 1;
}

/* Return no frames, and drop the cached ones. The interpreter may have ended, and the program may
 * initialise it again. */
static COLD size_t
none_runs(struct python_memo *m)
{
    m->count = m->filled = 0;
    if (!asked.is_initialized())
        python_memory_check_hooks();
    return 0;
}

/* Drop the links in chunks that have been unmapped. */
static inline void
drop_unmapped(struct walk *w)
{
    const struct link *links = w->m->links;
    uint32_t first = links[w->count].first;

    while (first > 0 && unlikely(python_chunk_life(links[first].frame) != links[first].life)) {
        w->count = first - 1;
        first = links[w->count].first;
    }
    // The chunk of these links begins outside the memo.
    if (first == 0 && unlikely(w->m->is_cut))
        w->count = 0;
}

/* Begin with the part of M that is valid for THREAD. M is empty until the end, because a handler
 * may jump out of here. */
static inline void
take_memo(struct walk *w, struct python_memo *m)
{
    uint64_t gone = load_acquire(&python_gone);
    bool is_valid = m->thread == w->thread && m->gone == gone &&
                    (layout->chain == PYTHON_CHAIN_OBJECTS ||
                     m->stack_end == w->reach.stack + w->reach.stack_room);

    w->m = m;
    w->count = likely(is_valid) ? m->count : 0;
    w->filled = likely(is_valid) ? m->filled : 0;
    w->stop = m->stop;
    w->fills = false;
    w->was_traced = m->is_traced;
    w->is_traced = layout->thread_tracing != PYTHON_NONE &&
                   python_int(w->thread, layout->thread_tracing) != 0;
    if (has_marks(layout->chain) && likely(w->count > 0))
        drop_unmapped(w);
    m->count = m->filled = 0;
    signal_fence();
    m->gone = gone;
}

bool
python_frames_is_traced(void)
{
    const void *own, *current, *thread;

    if (layout->thread_tracing == PYTHON_NONE)
        return false;
    own = asked.of_thread();
    current = asked.current();
    thread = likely(own == current) ? own : choose_thread(own, current);
    return thread != NULL && python_int(thread, layout->thread_tracing) != 0;
}

size_t
python_frames_again(struct heaptap_frame *end, void *memo, const unsigned long *notes,
                    size_t *ret_same)
{
    const void *own = asked.of_thread(), *current = asked.current();
    struct walk w;

    (void)notes;
    *ret_same = 0;
    w.thread = likely(own == current) ? own : choose_thread(own, current);
    if (unlikely(!python_memory_hooks_final))
        python_memory_check_hooks();
    if (w.thread == NULL)
        return none_runs(memo);
    python_reach_start(&w.reach);
    take_memo(&w, memo);
    switch (layout->chain) {
    case PYTHON_CHAIN_OBJECTS:
        return python_frames_walk(PYTHON_CHAIN_OBJECTS, &w, end, ret_same);
    case PYTHON_CHAIN_CFRAMES:
        return python_frames_walk(PYTHON_CHAIN_CFRAMES, &w, end, ret_same);
    case PYTHON_CHAIN_ENTRIES:
        return python_frames_walk(PYTHON_CHAIN_ENTRIES, &w, end, ret_same);
    case PYTHON_CHAIN_SHIMS:
        return python_frames_walk(PYTHON_CHAIN_SHIMS, &w, end, ret_same);
    }
    return 0;
}
