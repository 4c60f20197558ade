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
 * Signal handlers may come while frames are being linked, and see one too few or one too many. What
 * must hold for a pointer to be followed is that it is aligned, and for a name that the object is
 * readable and has the type of code objects (python_name.c).
 */
#include "language/python_frames.h"

#include "base/base.h"
#include "language/python_memory.h"
#include "language/python_name.h"

enum { LINKS_MAX = 1 << 16 };

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

/* Frames and their like lie at multiples of eight and not among the first pages. */
static inline bool
is_plausible(const void *p)
{
    return ((uintptr_t)p & 7) == 0 && (uintptr_t)p >= 4096 && (uintptr_t)p >> 47 == 0;
}

/* --- 3.11 to 3.13 ----------------------------------------------------------------------------- */

static inline bool
has_begun(const void *frame, const void *code)
{
    uint64_t begin = (uintptr_t)code + layout->code_begin;
    uint64_t first = 2 * (uint64_t)python_int(code, layout->code_first);

    return python_byte(frame, layout->frame_owner) == PYTHON_OWNER_GENERATOR ||
           python_word(frame, layout->frame_at) >= begin + first;
}

static inline unsigned
id_of(const void *frame, const void *code)
{
    uint64_t begin = (uintptr_t)code + layout->code_begin;
    uint64_t at = python_word(frame, layout->frame_at);

    return python_name_of(code, at >= begin ? at - begin : PYTHON_NOT_BEGUN);
}

static size_t
frames_with_entries(const void *thread, struct heaptap_frame *to, size_t max)
{
    const void *cframe = python_pointer(thread, layout->thread_top), *frame;
    size_t n = 0;

    if (!is_plausible(cframe))
        return 0;
    frame = python_pointer(cframe, layout->cframe_top);
    for (size_t links = 0; links < LINKS_MAX && n <= max && is_plausible(frame); links++) {
        const void *code = python_pointer(frame, layout->frame_code);

        if (!is_plausible(code))
            break;
        if (has_begun(frame, code)) {
            if (n < max)
                to[n] = (struct heaptap_frame){(uintptr_t)cframe, id_of(frame, code), 0};
            n++;
        }
        if (python_byte(frame, layout->frame_entry) != 0) {
            cframe = python_pointer(cframe, layout->cframe_previous);
            if (!is_plausible(cframe))
                break;
        }
        frame = python_pointer(frame, layout->frame_previous);
    }
    return n;
}

static size_t
frames_with_shims(const void *thread, struct heaptap_frame *to, size_t max)
{
    const void *frame = python_pointer(thread, layout->thread_top);
    size_t n = 0, placed = 0;

    if (layout->cframe_top != PYTHON_NONE && is_plausible(frame))
        frame = python_pointer(frame, layout->cframe_top);
    for (size_t links = 0; links < LINKS_MAX && n <= max && is_plausible(frame); links++) {
        const void *code = python_pointer(frame, layout->frame_code);

        if (python_byte(frame, layout->frame_owner) == PYTHON_OWNER_SHIM) {
            for (; placed < n && placed < max; placed++)
                to[placed].at = (uintptr_t)frame;
        } else if (!is_plausible(code)) {
            break;
        } else if (has_begun(frame, code)) {
            if (n < max)
                to[n] = (struct heaptap_frame){0, id_of(frame, code), 0};
            n++;
        }
        frame = python_pointer(frame, layout->frame_previous);
    }
    // Beyond what there is room for lies the frame that tells where the last ones are.
    for (size_t links = 0; placed < max && placed < n && links < LINKS_MAX && is_plausible(frame);
         links++) {
        if (python_byte(frame, layout->frame_owner) == PYTHON_OWNER_SHIM)
            for (; placed < n && placed < max; placed++)
                to[placed].at = (uintptr_t)frame;
        frame = python_pointer(frame, layout->frame_previous);
    }
    return n;
}

/* --- 3.9 and 3.10 ----------------------------------------------------------------------------- */

static size_t
frames_of_objects(const void *thread, struct heaptap_frame *to, size_t max)
{
    const void *frame = python_pointer(thread, layout->thread_top), *cframe = NULL;
    unsigned unit = layout->minor >= 10 ? 2 : 1;
    size_t n = 0;

    if (layout->thread_cframe != PYTHON_NONE)
        cframe = python_pointer(thread, layout->thread_cframe);
    for (; n <= max && is_plausible(frame); n++) {
        const void *code = python_pointer(frame, layout->frame_code);
        int32_t at = python_int(frame, layout->frame_at);

        if (!is_plausible(code))
            break;
        if (n < max)
            to[n] = (struct heaptap_frame){
                (uintptr_t)cframe,
                python_name_of(code, at >= 0 ? (uint64_t)at * unit : PYTHON_NOT_BEGUN), 0};
        if (cframe != NULL)
            cframe = python_pointer(cframe, layout->cframe_previous);
        frame = python_pointer(frame, layout->frame_previous);
    }
    return n;
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

size_t
python_frames(struct heaptap_frame *to, size_t max)
{
    const void *own = asked.of_thread(), *current = asked.current();
    const void *thread = likely(own == current) ? own : choose_thread(own, current);

    if (unlikely(!python_memory_settled))
        python_memory_settle();
    if (thread == NULL)
        return 0;
    switch (layout->chain) {
    case PYTHON_CHAIN_OBJECTS:
    case PYTHON_CHAIN_CFRAMES:
        return frames_of_objects(thread, to, max);
    case PYTHON_CHAIN_ENTRIES:
        return frames_with_entries(thread, to, max);
    case PYTHON_CHAIN_SHIMS:
        return frames_with_shims(thread, to, max);
    }
    return 0;
}
