/* python_layout.h: the parts of CPython's structures that the adapter reads. */
#ifndef LANGUAGE_PYTHON_LAYOUT_H
#define LANGUAGE_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ways of linking the frames of a thread. */
enum python_chain {
    PYTHON_CHAIN_OBJECTS = 1, // 3.9: a frame is an object and has a C frame to itself
    PYTHON_CHAIN_CFRAMES,     // 3.10: like 3.9, but a cframe in each C frame identifies it
    PYTHON_CHAIN_ENTRIES,     // 3.11: frames share C frames; a mark identifies the outermost frame
                              // of each C frame
    PYTHON_CHAIN_SHIMS,       // 3.12: outside the outermost frame of each C frame there is a shim
};

/* Formats of a code object's line table. */
enum python_lines {
    PYTHON_LINES_TABLE = 1, // 3.9
    PYTHON_LINES_RANGES,    // 3.10
    PYTHON_LINES_LOCATIONS, // 3.11
};

/* The layout of one minor version. An offset counts bytes from the start of the structure in its
 * name. */
struct python_layout {
    unsigned minor;
    enum python_chain chain;
    enum python_lines lines;
    uint16_t thread_id, thread_top, thread_interp; // In PyThreadState. `chain` determines what
                                                   // thread_top points to.
    uint16_t cframe_top, cframe_previous;          // In a cframe, from 3.10 to 3.12. 3.10 has no
                                                   // cframe_top: PYTHON_NONE.
    uint16_t thread_cframe;                        // 3.10
    uint16_t thread_root;                          // The outermost cframe, which is inside the
                                                   // thread state.
    uint16_t thread_tracing;                       // From 3.11 on.
    uint16_t frame_code, frame_previous, frame_at; // frame_at is the position: a pointer, or an
                                                   // index up to 3.10.
    uint16_t frame_owner, frame_entry;
    uint16_t frame_bytes; // Upper bound of all offsets in a frame.
    uint16_t frame_head;  // Offset of the frame in its object: in generators only, or in all
                          // objects up to 3.10.
    uint16_t code_begin;    // The instructions; up to 3.10, a pointer to the instructions.
    uint16_t code_first;    // The first instruction of the function's body.
    uint16_t code_function, code_file, code_line, code_lines;
    uint16_t text_bytes, wide_bytes; // Sizes of the headers of ASCII strings and of other strings.
    size_t arena_bytes;
};

#define PYTHON_NONE UINT16_MAX

/* Offsets common to all known versions: headers of objects, bytes and strings. */
enum {
    PYTHON_OBJECT_TYPE = 8,
    PYTHON_SIZE = 16,        // In bytes and strings.
    PYTHON_BYTES = 32,       // The contents of bytes.
    PYTHON_TEXT_STATE = 32,  // Bits 2 to 4: bytes per character; 5: compact; 6: ASCII.
    PYTHON_CHUNK_HEAD = 24,  // Size of the header of a chunk of frames, from 3.11 on.
    PYTHON_COLLECTED_HEAD = 16, // Size of the header before objects that the garbage collector
                                // tracks.
    PYTHON_OWNER_GENERATOR = 1,
    PYTHON_OWNER_SHIM = 3,
};

/* Return the structures of Python 3.MINOR; NULL if they are unknown. */
const struct python_layout *python_layout_of(unsigned minor);

/* Return the minor version in VERSION, the text of Py_GetVersion ("3.11.2 (main, ...) [GCC ...]").
 * Return 0 if it is not Python 3, or a build whose structures differ. */
unsigned python_layout_minor(const char *version);

static inline uint64_t
python_word(const void *p, unsigned offset)
{
    return *(const uint64_t *)((const char *)p + offset);
}

static inline const void *
python_pointer(const void *p, unsigned offset)
{
    return *(const void *const *)((const char *)p + offset);
}

static inline int32_t
python_int(const void *p, unsigned offset)
{
    return *(const int32_t *)((const char *)p + offset);
}

static inline unsigned
python_byte(const void *p, unsigned offset)
{
    return ((const unsigned char *)p)[offset];
}

#endif
