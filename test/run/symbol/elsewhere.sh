#!/usr/bin/env bash
# elsewhere.sh: profiles whose programs have moved: --debug-dir and --sysroot. If it fails, a
# profile from a container or from another machine has no names although the user has named the
# directory of the files, or it has the names of other files.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc objcopy strip

cat >prog.c <<'END'
#include <stdlib.h>
struct point { double x, y, z; };
static struct point *volatile point;
static __attribute__((noinline)) void make_point(void)
{
    point = malloc(sizeof(struct point));
}
int main(void)
{
    make_point();
    return 0;
}
END
XDG_CACHE_HOME=$PWD/cache exec python3 "$area/elsewhere.py"
