/* python_frames.c: the Python functions that run in the calling thread.
 *
 * The interpreter links its frames, innermost first, from the state of the thread. What differs by
 * version is how one sees which of them share a C frame of _PyEval_EvalFrameDefault, and where that
 * lies; an address in it is what the recorder merges by.
 *
 *     3.9        each has its own; the n-th frame is in the n-th C frame of that function
 *     3.10       each has its own, which holds the n-th of the linked `cframe`s
 *     3.11       a frame with the mark "entry" is the outermost of its C frame; that holds a cframe
 *     3.12, 13   behind the outermost of a C frame is one more, of no function, which lies in it
 *
 * A frame that has not reached its first instruction (it is making cells for closures) is none yet:
 * the interpreter's own tracebacks leave it out, too.
 *
 * Whose thread state. The interpreter knows the one that holds its lock, and by a key of the thread
 * the first one that this thread has had. Mostly they are the same. They differ where this thread
 * runs C code without the lock, and then the frames are those of its own state; where it runs a
 * sub-interpreter, then the current one is right, which has the same thread id; and when the
 * interpreter ends and has thrown away the states of others: then there are none.
 *
 * What is linked may be damaged, or be just linked while a handler comes. No frame is read that has
 * not been proved to be in memory (python_reach.c), no code object that has not been seen to be one
 * (python_name.c), and no more of both than there is room for. Where the links lead to nowhere the
 * stack ends with the frame "[damaged frames]", so what is missing is seen, and counted.
 */
#include "language/python_frames.h"

#include "base/base.h"
#include "language/python_memory.h"
#include "language/python_name.h"
#include "language/python_reach.h"

enum {
    LINKS_PER_FRAME = 3, // Of functions, of none, and of such that have not begun.
    LINKS_MAX = 1 << 16,
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

/* The current state CURRENT is not OWN, that of this thread. */
static COLD const void *
choose_thread(const void *own, const void *current)
{
    if (own == NULL || !asked.is_initialized())
        return NULL;
    if (current != NULL && asked.interpreters() != asked.main() &&
        heaptap_can_read(current, layout->thread_id + 8u) &&
        python_word(current, layout->thread_id) == python_word(own, layout->thread_id))
        return current;
    return own;
}

/* An answer that is being made. */
struct answer {
    struct heaptap_frame *to;
    size_t max, count;
    unsigned unknown; // Frames without a code object,
    bool is_over;     // and there are no more to be looked at.
    struct python_reach reach;
};

static inline void
add(struct answer *a, uintptr_t at, unsigned id)
{
    if (a->count < a->max)
        a->to[a->count] = (struct heaptap_frame){at, id, 0};
    a->count++;
}

/* In place of the frames that cannot be reached. */
static COLD void
add_damaged(struct answer *a, uintptr_t at)
{
    add(a, at, heaptap_frame_name("[damaged frames]", "", 0, "Python"));
}

/* A frame that can be read, but has no code object. To find that takes system calls, so whoever
 * has gone astray, perhaps in a circle, gets not far. */
static COLD void
add_unknown(struct answer *a, uintptr_t at)
{
    add(a, at, 0);
    if (++a->unknown == UNKNOWN_MAX) {
        add_damaged(a, at);
        a->is_over = true;
    }
}

/* Can the frame P be read? 0 is the end of frames, and no damage. */
static inline bool
is_there(struct answer *a, const void *p, uintptr_t at)
{
    if (likely(python_can_reach(&a->reach, p)))
        return !a->is_over;
    if (p != NULL)
        add_damaged(a, at);
    return false;
}

/* --- 3.11 to 3.13 ----------------------------------------------------------------------------- */

/* The frame FRAME, which can be read, unless its function has not begun. What is no code object is
 * shown as an unknown function. */
static inline void
add_function(struct answer *a, uintptr_t in, const void *frame)
{
    const void *code = python_pointer(frame, layout->frame_code);
    uint64_t number = python_name_code(code), begin, at;

    if (unlikely(number == 0)) {
        add_unknown(a, in);
        return;
    }
    begin = (uintptr_t)code + layout->code_begin;
    at = python_word(frame, layout->frame_at);
    if (at < begin + 2 * (uint64_t)python_int(code, layout->code_first) &&
        python_byte(frame, layout->frame_owner) != PYTHON_OWNER_GENERATOR)
        return;
    add(a, in, python_name_of(code, number, at >= begin ? at - begin : PYTHON_NOT_BEGUN));
}

/* Where Python is not running the cframe is one in the thread's state itself. */
static inline bool
is_cframe_there(struct answer *a, const void *thread, const void *cframe, uintptr_t at)
{
    return cframe == (const char *)thread + layout->thread_root || is_there(a, cframe, at);
}

static void
frames_with_entries(struct answer *a, const void *thread)
{
    const void *cframe = python_pointer(thread, layout->thread_top), *frame;
    size_t links_max = LINKS_PER_FRAME * (a->max + 1);

    if (!is_cframe_there(a, thread, cframe, 0))
        return;
    frame = python_pointer(cframe, layout->cframe_top);
    for (size_t links = 0; links < links_max && a->count <= a->max; links++) {
        if (!is_there(a, frame, (uintptr_t)cframe))
            return;
        add_function(a, (uintptr_t)cframe, frame);
        if (python_byte(frame, layout->frame_entry) != 0) {
            uintptr_t inner = (uintptr_t)cframe;

            cframe = python_pointer(cframe, layout->cframe_previous);
            if (!is_cframe_there(a, thread, cframe, inner))
                return;
        }
        frame = python_pointer(frame, layout->frame_previous);
    }
}

/* Those frames up to now that have no place yet are in the C frame that FRAME lies in. */
static inline void
place_up_to(struct answer *a, size_t *placed, const void *frame)
{
    for (; *placed < a->count && *placed < a->max; ++*placed)
        a->to[*placed].at = (uintptr_t)frame;
}

/* Beyond what there is room for, from FRAME on, lies the frame that tells where the last ones are.
 * If it does not, they are no stack, and would only hide the C frames. A circle is seen when it
 * comes back to a frame of before, of those after 1, 2, 4 and so on. */
static COLD void
place_outer(struct answer *a, size_t placed, const void *frame)
{
    const void *before = NULL;

    for (size_t links = 0; placed < a->max && placed < a->count && links < LINKS_MAX; links++) {
        if (frame == before || !python_can_reach(&a->reach, frame)) {
            a->count = placed;
            add_damaged(a, 0);
            return;
        }
        if ((links & (links - 1)) == 0)
            before = frame;
        if (python_byte(frame, layout->frame_owner) == PYTHON_OWNER_SHIM)
            place_up_to(a, &placed, frame);
        frame = python_pointer(frame, layout->frame_previous);
    }
}

static void
frames_with_shims(struct answer *a, const void *thread)
{
    const void *frame = python_pointer(thread, layout->thread_top);
    size_t links_max = LINKS_PER_FRAME * (a->max + 1), placed = 0;

    if (layout->cframe_top != PYTHON_NONE) {
        if (!is_cframe_there(a, thread, frame, 0))
            return;
        frame = python_pointer(frame, layout->cframe_top);
    }
    for (size_t links = 0; links < links_max && a->count <= a->max; links++) {
        if (!is_there(a, frame, 0))
            return;
        if (python_byte(frame, layout->frame_owner) == PYTHON_OWNER_SHIM)
            place_up_to(a, &placed, frame);
        else
            add_function(a, 0, frame);
        frame = python_pointer(frame, layout->frame_previous);
    }
    place_outer(a, placed, frame);
}

/* --- 3.9 and 3.10 ----------------------------------------------------------------------------- */

static void
frames_of_objects(struct answer *a, const void *thread)
{
    const void *frame = python_pointer(thread, layout->thread_top), *cframe = NULL;
    unsigned unit = layout->minor >= 10 ? 2 : 1;

    if (layout->thread_cframe != PYTHON_NONE)
        cframe = python_pointer(thread, layout->thread_cframe);
    while (a->count <= a->max && is_there(a, frame, (uintptr_t)cframe)) {
        const void *code = python_pointer(frame, layout->frame_code);
        int32_t at = python_int(frame, layout->frame_at);
        uint64_t number = python_name_code(code);

        if (unlikely(number == 0))
            add_unknown(a, (uintptr_t)cframe);
        else
            add(a, (uintptr_t)cframe,
                python_name_of(code, number, at >= 0 ? (uint64_t)at * unit : PYTHON_NOT_BEGUN));
        if (cframe != NULL) {
            if (!is_cframe_there(a, thread, cframe, 0))
                return;
            cframe = python_pointer(cframe, layout->cframe_previous);
        }
        frame = python_pointer(frame, layout->frame_previous);
    }
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

/* Perhaps because the interpreter has ended. It may begin again. */
static COLD size_t
none_runs(void)
{
    if (!asked.is_initialized())
        python_memory_settle();
    return 0;
}

size_t
python_frames(struct heaptap_frame *to, size_t max)
{
    const void *own = asked.of_thread(), *current = asked.current();
    const void *thread = likely(own == current) ? own : choose_thread(own, current);

    struct answer a = {.to = to, .max = max};

    if (unlikely(!python_memory_settled))
        python_memory_settle();
    if (thread == NULL)
        return none_runs();
    python_reach_start(&a.reach);
    switch (layout->chain) {
    case PYTHON_CHAIN_OBJECTS:
    case PYTHON_CHAIN_CFRAMES:
        frames_of_objects(&a, thread);
        break;
    case PYTHON_CHAIN_ENTRIES:
        frames_with_entries(&a, thread);
        break;
    case PYTHON_CHAIN_SHIMS:
        frames_with_shims(&a, thread);
        break;
    }
    return a.count;
}
