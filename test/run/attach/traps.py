"""traps.py: attach to programs with handlers for SIGTRAP. No trap may be lost, and no disposition
may change."""
import os
import subprocess
import sys
import time

from attach import HEAPTAP

SOURCE = """
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t got;
static void on_trap(int number) { got = number; }
int main(int argc, char **argv)
{
    struct sigaction a = {.sa_handler = on_trap};
    time_t end = time(NULL) + 3;
    (void)argc;
    sigaction(SIGTRAP, &a, NULL);
    while (time(NULL) < end) {
        got = 0;
        free(malloc(10));
        if (*argv[1] == 'r')
            raise(SIGTRAP);
        else if (*argv[1] == 'i')
            __asm__ volatile("int3");
        else
            __asm__ volatile("pushf; orl $0x100, (%%rsp); popf; nop; nop;"
                             "pushf; andl $~0x100, (%%rsp); popf" ::: "memory", "cc");
        if (!got)
            _exit(3);
    }
    _exit(9);
}
"""


def main():
    with open("traps.c", "w") as f:
        f.write(SOURCE)
    subprocess.check_call(("gcc", "-O1", "-w", "-o", "traps", "traps.c"))
    for way in ("raise", "int3", "step"):
        program = subprocess.Popen(("./traps", way))
        time.sleep(0.2)
        for _ in range(5):
            if os.path.exists("traps.heaptap"):
                os.unlink("traps.heaptap")
            # A thread that always has a signal cannot be borrowed; it may be refused.
            subprocess.run((HEAPTAP, "attach", "--detached", "-o", "traps.heaptap",
                            str(program.pid)), capture_output=True)
            subprocess.run((HEAPTAP, "detach", "--no-pack", str(program.pid)),
                           capture_output=True)
        status = program.wait()
        if status != 9:
            sys.exit(f"{way}: status {status}")


if __name__ == "__main__":
    main()
