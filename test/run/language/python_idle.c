/* python_idle.c: a program that embeds CPython and rarely runs it. A script calls idle_make 50
 * times through ctypes. The program's own functions call it N times before the interpreter begins,
 * and N times between two scripts, then reallocate N blocks.
 *
 *     python_idle N [pairs | moves]
 *
 * With a second argument there is no interpreter: the program makes N pairs of malloc and free, or
 * also moves each block by realloc. Needs no headers. */
#include <stdlib.h>
#include <string.h>

void Py_InitializeEx(int signals);
int Py_FinalizeEx(void);
int PyRun_SimpleString(const char *program);

__attribute__((noinline)) void *
idle_make(size_t size_bytes)
{
    return malloc(size_bytes);
}

__attribute__((noinline)) void
idle_drop(void *p)
{
    free(p);
}

__attribute__((noinline)) static void
idle_work(long n)
{
    for (long i = 0; i < n; i++)
        idle_drop(idle_make(40));
}

__attribute__((noinline)) static void
idle_move(long n)
{
    for (long i = 0; i < n; i++) {
        void *p = idle_make(40), *q = realloc(p, 400);

        idle_drop(q != NULL ? q : p);
    }
}

static const char script[] = "import ctypes\n"
                             "library = ctypes.CDLL(None)\n"
                             "library.idle_make.restype = ctypes.c_void_p\n"
                             "library.idle_drop.argtypes = [ctypes.c_void_p]\n"
                             "def from_script():\n"
                             "    library.idle_drop(library.idle_make(40))\n"
                             "for i in range(50): from_script()\n";

int
main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 0;

    if (argc > 2) {
        if (strcmp(argv[2], "moves") == 0)
            idle_move(n);
        else
            idle_work(n);
        return 0;
    }
    idle_work(n);
    Py_InitializeEx(0);
    if (PyRun_SimpleString(script) != 0)
        return 1;
    idle_work(n);
    idle_move(n);
    if (PyRun_SimpleString("for i in range(50): from_script()\n") != 0)
        return 1;
    return Py_FinalizeEx() < 0 ? 2 : 0;
}
