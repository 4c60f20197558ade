#!/usr/bin/env bash
# tags.sh: heaptap heaps, labels, and the backing of heaps. If it fails, bytes are shown under the
# wrong heap or label, twice or never, or a damaged file is trusted.
. "$SRCDIR/test/run/lib.subr"
need python3

tags() {
    python3 "$area/tags.py" "$HEAPTAP" "$@" || failures=$((failures + 1))
}

tags views
tags exports
tags real "$PROG/two_arenas"
tags agree "$PROG/own_heaps"
tags damage

# The program has a heap called malloc.
cat >named.c <<'END'
#include <heaptap/heaptap.h>
#include <stdlib.h>
int main(void)
{
    void *volatile p = malloc(777);
    heaptap_alloc(heaptap_heap_create("malloc", 0), (void *)16, 1, 5);
    return p == NULL;
}
END
if gcc -O1 -g -I"$SRCDIR/include" -o named named.c 2>gcc.err; then
    "$HEAPTAP" run --quiet -o named.heaptap -- ./named
    "$HEAPTAP" merge -o named_twice.heaptap named.heaptap named.heaptap 2>merge.err
    for file in named named_twice; do
        "$HEAPTAP" report --by heap $file.heaptap >$file.text
        same "$file: a heap named malloc is no second malloc" "1 1" \
            "$(grep -cE ' malloc($|  )' $file.text | tr '\n' ' ')$(
                grep -c 'malloc (own heap)' $file.text)"
    done
else
    echo "ok - a heap named malloc # SKIP no gcc"
fi
finish
