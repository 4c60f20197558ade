/* python_frames.h: the Python functions that run in the calling thread. */
#ifndef LANGUAGE_PYTHON_FRAMES_H
#define LANGUAGE_PYTHON_FRAMES_H

#include "heaptap/language.h"
#include "language/python_layout.h"

/* Functions of the interpreter that the adapter calls. None takes a lock. */
struct python_asked {
    void *(*current)(void);     // Returns the thread state that has the lock, or this thread's.
    void *(*of_thread)(void);   // Returns this thread's first thread state.
    int (*is_initialized)(void);
    void *(*interpreters)(void); // Returns the latest interpreter.
    void *(*main)(void);         // Returns the first interpreter.
    const void *eval;            // Address of the function that runs Python functions.
};

void python_frames_begin(const struct python_layout *layout, const struct python_asked *asked);

/* Implement frames_again and memo_bytes of heaptap/language.h. */
size_t python_frames_again(struct heaptap_frame *end, void *memo, const unsigned long *notes,
                           size_t *ret_same);
extern const size_t python_memo_bytes;

/* Implement `place` of heaptap/language.h. Only for 3.9, where frames contain no address in their C
 * frame. */
void python_frames_place(struct heaptap_frame *frames, size_t count,
                         const struct heaptap_native *natives, size_t native_count);

#endif
