# tools_inside.sh: other tools that instrument programs, recorded: an emulator that also replaces
# malloc, another heap profiler, and a tracer.
#
# needs: valgrind gcc
# hide: ==\d+==|0x[0-9A-Fa-f]+|\d+(,\d+)* (allocs|frees|bytes)
# hide: ^(heaptrack|starting|  ).*$|PID \d+|\d+\.\d+

prepare() {
    cat >small.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    for (int i = 1; i < 2000; i++) free(realloc(malloc((size_t)i), (size_t)i * 2));
    puts("done");
    return 3;
}
END
    gcc -g -O1 -o small small.c
}

run() {
    valgrind -q ./small
    echo "status $?"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null ./small 2>/dev/null
    echo "status $?"
    command -v strace >/dev/null && strace -f -o /dev/null ./small
    echo "status $?"
    command -v heaptrack >/dev/null && heaptrack --record-only -o trace ./small >/dev/null 2>&1
    echo "status $?"
    ltrace -o /dev/null ./small 2>/dev/null | tail -n 1
}

"$@"
