/* libodd_python.c: the symbols that identify CPython for an adapter, with an unknown version. A
 * call of any function here ends the process. */
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default"), used))

EXPORT long PyType_Type[2], PyCode_Type[2] = {1, 0};

EXPORT const char *
Py_GetVersion(void)
{
    return "3.99.1 (main) [GCC]";
}

#define NEVER(name)                                                                                \
    EXPORT void *name(void)                                                                        \
    {                                                                                              \
        abort();                                                                                   \
    }

NEVER(_PyThreadState_UncheckedGet)
NEVER(PyGILState_GetThisThreadState)
NEVER(Py_IsInitialized)
NEVER(PyInterpreterState_Head)
NEVER(PyInterpreterState_Main)
NEVER(_PyEval_EvalFrameDefault)
NEVER(PyMem_GetAllocator)
NEVER(PyMem_SetAllocator)
NEVER(PyObject_GetArenaAllocator)
NEVER(PyObject_SetArenaAllocator)
