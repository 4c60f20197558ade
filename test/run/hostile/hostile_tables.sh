#!/usr/bin/env bash
# hostile_tables.sh: libraries whose unwind tables are damaged at random. If it fails, a working
# program dies, or behaves differently, when it is recorded, because the recorder trusts a table.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc readelf

cat >library.c <<'END'
#include <stdlib.h>

__attribute__((noinline)) void *
inner(size_t n)
{
    void *volatile p = malloc(n);

    return p;
}

__attribute__((noinline)) void *
moving(size_t n)
{
    char *volatile some = __builtin_alloca(16 + n);
    void *volatile p = inner(n);

    some[0] = 1;
    return p;
}

__attribute__((noinline)) void *
realigned(size_t n)
{
    _Alignas(64) volatile char some[64];
    void *volatile p = moving(n);

    some[0] = 1;
    return p;
}
END
cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>

void *inner(size_t n);
void *moving(size_t n);
void *realigned(size_t n);

int
main(void)
{
    for (size_t i = 0; i < 20; i++) {
        free(inner(i));
        free(moving(i));
        free(realigned(i));
    }
    puts("all is well");
    return 3;
}
END

# Segments far apart leave unmapped holes between them.
for layout in 0x1000 0x200000; do
    gcc -O1 -g -fPIC -shared -o libhostile.so library.c -Wl,-z,max-page-size=$layout &&
        gcc -O1 -o program program.c -L. -lhostile || exit 1
    check "segments $layout bytes apart" python3 "$area/hostile_tables.py" \
        libhostile.so ./program "$LIBHEAPTAP" 60
done
finish
