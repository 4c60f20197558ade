/* python_host.c: a program with CPython inside, which begins and ends the interpreter three times,
 * and once runs a second interpreter. Needs no headers. */
#include <stdio.h>
#include <stdlib.h>

void Py_InitializeEx(int signals);
int Py_FinalizeEx(void);
int PyRun_SimpleString(const char *program);
void *PyThreadState_Get(void);
void *PyThreadState_Swap(void *);
void *Py_NewInterpreter(void);
void Py_EndInterpreter(void *);

int
main(void)
{
    for (int i = 0; i < 3; i++) {
        Py_InitializeEx(0);
        if (PyRun_SimpleString("def inside():\n"
                               "    global kept\n"
                               "    kept = [str(i) * 2 for i in range(20000)]\n"
                               "inside()\n"
                               "print(len(kept))\n") != 0)
            return 1;
        if (i == 1) {
            void *main_state = PyThreadState_Get(), *second = Py_NewInterpreter();

            PyRun_SimpleString("def second():\n"
                               "    return [str(i) * 2 for i in range(20000)]\n"
                               "print(len(second()))\n");
            Py_EndInterpreter(second);
            PyThreadState_Swap(main_state);
        }
        if (Py_FinalizeEx() < 0)
            return 2;
    }
    puts("end");
    return 0;
}
