#!/usr/bin/env bash
# late_names.sh: names that are installed after a profile was packed. If it fails, a profile that
# was packed before the debug package was installed never gets its names, gets others than an
# unpacked profile, or takes them from a rebuilt program.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc objcopy strip

cat >prog.c <<'END'
#include <stdlib.h>
struct point { double x, y, z; };
static struct point *volatile points[50];
static char *volatile buffers[20];
static __attribute__((noinline)) void make_points(void)
{
    for (int i = 0; i < 30; i++)
        points[i] = malloc(sizeof(struct point));
    for (int i = 30; i < 50; i++)
        points[i] = malloc(sizeof(struct point));
}
static __attribute__((noinline)) void make_buffers(void)
{
    for (int i = 0; i < 19; i++)
        buffers[i] = malloc(1000);
    buffers[19] = malloc(5000);
}
int main(void)
{
    make_points();
    make_buffers();
    make_buffers();
    return 0;
}
END
XDG_CACHE_HOME=$PWD/cache HEAPTAP=$HEAPTAP exec python3 "$area/late_names.py"
