/* adapter_python.c: the adapter for CPython, libheaptap_python.so.
 *
 * It is loaded beside the recorder into a program that is CPython or uses its library. At load
 * time, before the interpreter is initialised, it looks up the interpreter's functions by name. So
 * it needs no headers and no library, and one file serves all versions. Without CPython, or without
 * a recorder, it does nothing. If it does not know the structures of the version, it prints one
 * message, and the recorder shows C frames instead of Python functions. */
#include <link.h>
#include <string.h>

#include "base/base.h"
#include "heaptap/language.h"
#include "language/adapter_message.h"
#include "language/python_adapter.h"

static struct heaptap_language python = {
    .size = sizeof python,
    .name = "Python",
    .frames_again = python_frames_again,
    .only_in_code = 1, // A function runs only in a call of PyObject_Call, PyEval_EvalCode or such.
};

/* Types and functions of the interpreter, whose addresses are NULL in other programs. The dynamic
 * linker resolves them. dlsym would allocate in the program's heap for each missing name, and leave
 * an error that the program's dlerror returns. */
extern __attribute__((weak)) const char PyCode_Type[], PyType_Type[], PyGen_Type[], PyCoro_Type[],
    PyAsyncGen_Type[], PyFrame_Type[], Py_GetVersion[], Py_IsInitialized[],
    _PyThreadState_UncheckedGet[], PyThreadState_GetUnchecked[], PyGILState_GetThisThreadState[],
    PyInterpreterState_Head[], PyInterpreterState_Main[], _PyEval_EvalFrameDefault[];

/* Set the pointer TO a function of the interpreter. It is cast to the function's type before each
 * call. */
#define find(to, name) (*(const void **)&(to) = (name))

/* Print one line for the user: the interpreter is unsupported. The line contains VERSION up to its
 * first space. */
static void
python_adapter_report_unknown(const char *version)
{
    static const char before[] = "heaptap: Python ";
    static const char after[] = " is not supported, so its functions are not shown; 3.9 to 3.13 "
                                "are\n";
    char line[160];
    size_t bytes = strcspn(version, " ");

    if (bytes > sizeof line - sizeof before - sizeof after)
        bytes = sizeof line - sizeof before - sizeof after;
    memcpy(line, before, sizeof before - 1);
    memcpy(line + sizeof before - 1, version, bytes);
    bytes += sizeof before - 1;
    memcpy(line + bytes, after, sizeof after - 1);
    adapter_message(line, bytes + sizeof after - 1);
}

struct code {
    const void *known; // An address between start and end.
    uint64_t start, end;
};

/* Register the code of the loaded object that contains KNOWN as code that runs Python programs.
 * Called by dl_iterate_phdr for each object. */
static int
register_code(struct dl_phdr_info *info, size_t size, void *context)
{
    struct code *code = context;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + p->p_vaddr;

        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
            (uintptr_t)code->known - start >= p->p_memsz)
            continue;
        code->start = start;
        code->end = start + p->p_memsz;
        heaptap_runtime_code((const void *)code->start, (const void *)code->end);
        return 1;
    }
    return 0;
}

static bool
find_asked(struct python_asked *a)
{
    if (find(a->current, _PyThreadState_UncheckedGet) == NULL)
        find(a->current, PyThreadState_GetUnchecked);
    find(a->of_thread, PyGILState_GetThisThreadState);
    find(a->is_initialized, Py_IsInitialized);
    find(a->interpreters, PyInterpreterState_Head);
    find(a->main, PyInterpreterState_Main);
    a->eval = _PyEval_EvalFrameDefault;
    return a->current != NULL && a->of_thread != NULL && a->is_initialized != NULL &&
           a->interpreters != NULL && a->main != NULL && a->eval != NULL;
}

__attribute__((constructor)) static void
python_adapter_begin(void)
{
    const char *(*version)(void);
    const struct python_layout *layout;
    struct python_asked a;
    struct code interpreter = {0}, ours = {(const void *)python_adapter_begin, 0, 0};
    const void *code = PyCode_Type, *type = PyType_Type;
    const struct python_owners owners = {PyGen_Type, PyCoro_Type, PyAsyncGen_Type, PyFrame_Type};

    find(version, Py_GetVersion);
    if (HEAPTAP_LANGUAGES_ == NULL || version == NULL || code == NULL)
        return;
    layout = python_layout_of(python_layout_minor(version()));
    // The type is at another offset if a debug build puts further words before it.
    if (layout == NULL || python_pointer(code, PYTHON_OBJECT_TYPE) != type) {
        python_adapter_report_unknown(version());
        return;
    }
    if (!find_asked(&a)) // Check this last: the unsupported versions above lack some of these
                         // functions.
        return;
    python_name_begin(layout, code);
    python_reach_begin(layout, &owners);
    python_frames_begin(layout, &a);
    interpreter.known = a.eval;
    dl_iterate_phdr(register_code, &interpreter);
    dl_iterate_phdr(register_code, &ours); // The interpreter calls the adapter's hooks, so their
                                           // frames are among its own.
    python_memory_begin(layout, (const void *)interpreter.start,
                        interpreter.end - interpreter.start);
    python.memo_bytes = python_memo_bytes;
    if (layout->chain == PYTHON_CHAIN_OBJECTS)
        python.place = python_frames_place;
    heaptap_language_add(&python);
}
