"""unloaded.py: unload a library with hooked functions while it is recorded. Then a detach must find
nothing to restore, and leave nothing."""
import subprocess
import sys

from attach import Program, compare, heaptap, report, state

LIBRARY = """
#include <stdlib.h>
void *pool_get(size_t size);
void pool_put(void *p);
void *pool_get(size_t size) { return malloc(size); }
void pool_put(void *p) { free(p); }
"""
PROGRAM = """
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    void *library = NULL;
    char c;
    while (read(0, &c, 1) == 1) {
        if (c == 'l') {
            library = dlopen("./libpool.so", RTLD_NOW);
        } else if (c == 'u') {
            dlclose(library);
        } else if (c == 'a') {
            void *(*get)(size_t) = (void *(*)(size_t))dlsym(library, "pool_get");
            void (*put)(void *) = (void (*)(void *))dlsym(library, "pool_put");
            for (int i = 0; i < 10; i++)
                put(get(100));
        }
        if (write(1, &c, 1) != 1)
            return 1;
    }
    return write(1, "ok\\n", 3) != 3;
}
"""
HOOKS = ("--hook", "pool_get=malloc", "--hook", "pool_put=free")


def main():
    for name, text in (("pool.c", LIBRARY), ("program.c", PROGRAM)):
        with open(name, "w") as f:
            f.write(text)
    subprocess.check_call(("gcc", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", "libpool.so",
                           "pool.c"))
    subprocess.check_call(("gcc", "-O1", "-o", "program", "program.c"))
    program = Program("./program")
    program.tell("lu")
    before = state(program.pid)
    program.tell("l")
    heaptap("attach", "--detached", "-o", "unloaded.heaptap", *HOOKS, program.pid)
    program.tell("au")
    heaptap("detach", "--no-pack", program.pid)
    compare(before, state(program.pid))
    sites = report("unloaded.heaptap")["sites"]
    if 10 not in sites["allocations"]:
        sys.exit(f"ten blocks of pool_get: {sites['allocations']}")
    program.tell("la")
    if program.end() != ("ok\n", 0):
        sys.exit("the program has changed")


if __name__ == "__main__":
    main()
