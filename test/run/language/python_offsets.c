/* python_offsets.c: compare the structures of the CPython whose headers it is compiled with with
 * the adapter's offsets, and print the differences. */
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX < 0x030b0000
#include <frameobject.h>
#define FRAME struct _frame
#else
#include <internal/pycore_frame.h>
#define FRAME struct _PyInterpreterFrame
#endif
#include <internal/pycore_gc.h>
#include <stddef.h>
#include <stdio.h>

#include "language/python_layout.h"

static int wrong;

static void
compare(const char *name, size_t believed, size_t right)
{
    if (believed != right) {
        printf("%s is at %zu, not %zu\n", name, right, believed);
        wrong = 1;
    }
}

#define AT(member, type, field) compare(#member, l->member, offsetof(type, field))

/* Compare the adapter's offsets in frames, and the sizes that it reads. */
static void
compare_reach(const struct python_layout *l)
{
#if PY_MINOR_VERSION >= 10 && PY_MINOR_VERSION <= 12
    AT(thread_root, PyThreadState, root_cframe);
#endif
#if PY_VERSION_HEX < 0x030b0000
    compare("frame_head", l->frame_head, PYTHON_COLLECTED_HEAD);
#else
    compare("frame_head", l->frame_head,
            PYTHON_COLLECTED_HEAD + offsetof(PyGenObject, gi_iframe));
#endif
    compare("PYTHON_COLLECTED_HEAD", PYTHON_COLLECTED_HEAD, sizeof(PyGC_Head));
    if (l->frame_bytes < l->frame_at + 8 || l->frame_bytes > sizeof(FRAME)) {
        printf("frame_bytes is %u of %zu\n", l->frame_bytes, sizeof(FRAME));
        wrong = 1;
    }
}

int
main(void)
{
    const struct python_layout *l = python_layout_of(PY_MINOR_VERSION);

    if (l == NULL) {
        printf("%s is not known\n", PY_VERSION);
        return 1;
    }
    AT(thread_id, PyThreadState, thread_id);
    AT(thread_interp, PyThreadState, interp);
#if PY_VERSION_HEX < 0x030b0000
    AT(thread_top, PyThreadState, frame);
    AT(frame_code, FRAME, f_code);
    AT(frame_previous, FRAME, f_back);
    AT(frame_at, FRAME, f_lasti);
    AT(code_begin, PyCodeObject, co_code);
    AT(code_function, PyCodeObject, co_name);
#else
    AT(thread_tracing, PyThreadState, tracing);
    compare("PYTHON_CHUNK_HEAD", PYTHON_CHUNK_HEAD, offsetof(_PyStackChunk, data));
    AT(frame_previous, FRAME, previous);
    AT(frame_owner, FRAME, owner);
    AT(code_begin, PyCodeObject, co_code_adaptive);
    AT(code_first, PyCodeObject, _co_firsttraceable);
    AT(code_function, PyCodeObject, co_qualname);
#endif
#if PY_MINOR_VERSION == 9
    AT(code_lines, PyCodeObject, co_lnotab);
#else
    AT(code_lines, PyCodeObject, co_linetable);
#endif
#if PY_MINOR_VERSION == 10
    AT(thread_cframe, PyThreadState, cframe);
    AT(cframe_previous, CFrame, previous);
#elif PY_MINOR_VERSION == 11 || PY_MINOR_VERSION == 12
    AT(thread_top, PyThreadState, cframe);
    AT(cframe_top, _PyCFrame, current_frame);
    AT(cframe_previous, _PyCFrame, previous);
    AT(frame_code, FRAME, f_code);
    AT(frame_at, FRAME, prev_instr);
#elif PY_MINOR_VERSION == 13
    AT(thread_top, PyThreadState, current_frame);
    AT(frame_code, FRAME, f_executable);
    AT(frame_at, FRAME, instr_ptr);
#endif
#if PY_MINOR_VERSION == 11
    AT(frame_entry, FRAME, is_entry);
#endif
#if PY_MINOR_VERSION >= 12
    compare("PYTHON_OWNER_SHIM", PYTHON_OWNER_SHIM, FRAME_OWNED_BY_CSTACK);
#endif
#if PY_MINOR_VERSION >= 11
    compare("PYTHON_OWNER_GENERATOR", PYTHON_OWNER_GENERATOR, FRAME_OWNED_BY_GENERATOR);
#endif
    compare_reach(l);
    AT(code_file, PyCodeObject, co_filename);
    AT(code_line, PyCodeObject, co_firstlineno);
    compare("text_bytes", l->text_bytes, sizeof(PyASCIIObject));
    compare("wide_bytes", l->wide_bytes, sizeof(PyCompactUnicodeObject));
    compare("PYTHON_OBJECT_TYPE", PYTHON_OBJECT_TYPE, offsetof(PyObject, ob_type));
    compare("PYTHON_SIZE", PYTHON_SIZE, offsetof(PyVarObject, ob_size));
    compare("PYTHON_SIZE", PYTHON_SIZE, offsetof(PyASCIIObject, length));
    compare("PYTHON_BYTES", PYTHON_BYTES, offsetof(PyBytesObject, ob_sval));
    compare("PYTHON_TEXT_STATE", PYTHON_TEXT_STATE, offsetof(PyASCIIObject, state));
    return wrong;
}
