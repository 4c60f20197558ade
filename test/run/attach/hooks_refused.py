"""hooks_refused.py: hooks that attach refuses, each with a sentence, and leaves the process as it
was."""
import os
import shutil
import subprocess
import sys

from attach import HEAPTAP, Program, compare, state

PROGRAM = """
#include <stdlib.h>
#include <unistd.h>
void *another(size_t size);
int variable = 5;
static __attribute__((noipa)) void *take(size_t size) { return malloc(size); }
__attribute__((noipa)) void give(void *p) { free(p); }
__asm__(".globl tiny\\n.type tiny, @function\\ntiny: ret\\n.size tiny, .-tiny\\n"
        ".globl next\\n.type next, @function\\nnext: xor %eax, %eax\\nret\\n.size next, .-next\\n");
void tiny(void *p);
int main(void)
{
    char c;
    while (read(0, &c, 1) == 1) {
        give(take((size_t)variable));
        give(another(5));
        tiny(NULL);
        if (write(1, &c, 1) != 1)
            return 1;
    }
    return write(1, "ok\\n", 3) != 3;
}
"""
ANOTHER = """
#include <stdlib.h>
static __attribute__((noipa)) void *take(size_t size) { return calloc(1, size); }
void *another(size_t size);
void *another(size_t size) { return take(size); }
"""


def build():
    for name, text in (("main.c", PROGRAM), ("another.c", ANOTHER)):
        with open(name, "w") as f:
            f.write(text)
    subprocess.check_call(("gcc", "-O1", "-rdynamic", "-o", "program", "main.c", "another.c"))
    subprocess.check_call(("strip", "-o", "stripped", "program"))


def refused(program, hooks, words, status=3):
    arguments = [word for hook in hooks for word in ("--hook", hook)]
    r = subprocess.run((HEAPTAP, "attach", "--detached", "-o", "refused.heaptap", *arguments,
                        str(program.pid)), capture_output=True, text=True, timeout=120)
    if r.returncode != status or words not in r.stderr or os.path.exists("refused.heaptap"):
        sys.exit(f"{hooks}: status {r.returncode}: {r.stderr}")


def main():
    build()
    program = Program("./program")
    before = state(program.pid)
    refused(program, ("pool_get=malloc",), "has no function pool_get; `nm` shows")
    refused(program, ("take=malloc",), "has several functions named take, in /")
    refused(program, ("variable=malloc",), "variable is a variable in process")
    refused(program, ("tiny=free",), "tiny in process", 3)
    refused(program, ("tiny=free",), "cannot be patched: it is too short for a jump")
    refused(program, ("dlmalloc",), "has no function of dlmalloc")
    refused(program, ("give=fre",), "no kind of function 'fre'", 2)
    refused(program, ("mmap=memalign",), "maps pages", 2)
    refused(program, ("malloc=malloc",), "recorded without being hooked", 2)
    refused(program, ("list",), "heaptap run --hook list", 2)
    compare(before, state(program.pid))
    program.tell("xx")
    if program.end() != ("ok\n", 0):
        sys.exit("the program has changed")
    shutil.copy("program", "replaced")
    replaced = Program("./replaced")
    os.unlink("replaced")
    refused(replaced, ("take=malloc",), "replaced (deleted) has been replaced since it started")
    replaced.end()
    stripped = Program("./stripped")
    refused(stripped, ("take=malloc",), "stripped is stripped; install its debug symbols")
    if stripped.end() != ("ok\n", 0):
        sys.exit("the stripped program has changed")


if __name__ == "__main__":
    main()
