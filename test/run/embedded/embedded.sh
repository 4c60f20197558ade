#!/usr/bin/env bash
# embedded.sh: test the embedded allocator with words of 4 and 8 bytes, in both byte orders, with
# and without guards, and behind ld --wrap in a static program with threads. It must also compile as
# strict C99 without a library. If it fails, a firmware with the two files has a heap that does not
# work, or blames the wrong block for an overflow.
#
# Targets without a compiler are skipped; tools/setup embedded installs them.

. "$SRCDIR/test/run/lib.subr"

here=$SRCDIR/test/embedded
room=$SRCDIR/src/embedded
strict="-std=c99 -pedantic -ffreestanding -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes
        -Wvla -Werror"

# selftest NAME RUNNER COMPILER FLAGS...: build the self-test and pass its results on. RUNNER may be
# several words.
selftest() {
    local name=$1 runner=$2
    shift 2
    if ! "$@" -std=gnu99 -Wall -Wextra -Werror -I"$room" -o "selftest-$name" \
        "$here/embedded_selftest.c" >build.log 2>&1; then
        failed "$name: it builds"
        sed 's/^/#   /' build.log
        return
    fi
    $runner "./selftest-$name" >"$name.out" 2>&1 </dev/null
    sed "s/^\(ok\|not ok\) - /&$name: /; s/^# /# $name: /; /^1\.\.done/d" "$name.out" |
        sed '/^ok - /b;/^not ok - /b;/^# /b;s/^/# /'
    failures=$((failures + $(grep -c '^not ok' "$name.out")))
    grep -q '^1\.\.done$' "$name.out" || failed "$name: it came to its end"
}

# compiles NAME COMPILER...: compile the file alone, as strictly as possible.
compiles() {
    local name=$1
    shift
    check "$name: strict C99 without a library" "$@" $strict -Os \
        -DHEAPTAP_EMBEDDED_POOL_BYTES=65536 -c -o alone.o "$room/heaptap_embedded.c"
    check "$name: with unwind tables, a clock, no guard" "$@" $strict -Os \
        -DHEAPTAP_EMBEDDED_POOL_BYTES=65536 -DHEAPTAP_EMBEDDED_UNWIND=1 \
        '-DHEAPTAP_EMBEDDED_CLOCK()=1' -DHEAPTAP_EMBEDDED_GUARD=0 -DHEAPTAP_EMBEDDED_FRAMES=1 \
        -c -o alone.o "$room/heaptap_embedded.c"
}

# edge NAME COMPILER FLAGS...: test steps of a check if the heap ends with the last block.
edge() {
    local name=$1
    shift
    if "$@" -std=gnu99 -Wall -Wextra -Werror -I"$room" -o "edge-$name" "$here/embedded_edge.c" \
        >build.log 2>&1; then
        same "$name: a step of a check ends where the heap does" "0 0 1" "$("./edge-$name")"
    else
        failed "$name: the program of steps builds"
        sed 's/^/#   /' build.log
    fi
}

skipped() {
    echo "ok - $1 # SKIP needs $2: tools/setup embedded"
}

compiles native "${CC:-gcc}"
selftest words-of-8 '' "${CC:-gcc}" -g -fsanitize=address,undefined -fno-sanitize-recover=all
selftest without-guards '' "${CC:-gcc}" -O2 -DHEAPTAP_EMBEDDED_GUARD=0
selftest other-shapes '' "${CC:-gcc}" -O2 -DHEAPTAP_EMBEDDED_GUARD=3 -DHEAPTAP_EMBEDDED_ALIGN=32 \
    -DHEAPTAP_EMBEDDED_FRAMES=1 '-DHEAPTAP_EMBEDDED_CLOCK()=7' \
    '-DHEAPTAP_EMBEDDED_THREAD()=9'

edge words-of-8 "${CC:-gcc}" -O2

if command -v i686-linux-gnu-gcc >/dev/null; then
    compiles i686 i686-linux-gnu-gcc
    edge words-of-4 i686-linux-gnu-gcc -static -O2
    selftest words-of-4 '' i686-linux-gnu-gcc -static -O2
    selftest words-of-4-without-guards '' i686-linux-gnu-gcc -static -O2 -DHEAPTAP_EMBEDDED_GUARD=0
else
    skipped words-of-4 i686-linux-gnu-gcc
fi
if command -v powerpc-linux-gnu-gcc >/dev/null && command -v qemu-ppc >/dev/null; then
    compiles powerpc powerpc-linux-gnu-gcc
    selftest big-endian qemu-ppc powerpc-linux-gnu-gcc -static -O2
else
    skipped big-endian "powerpc-linux-gnu-gcc and qemu-ppc"
fi
if command -v arm-none-eabi-gcc >/dev/null; then
    compiles cortex-m arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb
    if command -v qemu-system-arm >/dev/null; then
        # At link time, newlib warns about calls that it lacks; the program makes none of them.
        selftest on-cortex-m3 "timeout 120 qemu-system-arm -M mps2-an385 -nographic -monitor none
            -serial none -semihosting -kernel" arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -O2 \
            --specs=rdimon.specs -Wl,--section-start=.vectors=0 -Wl,--defsym=stack_end=0x20300000 \
            "$here/selftest_board.c"
    else
        skipped on-cortex-m3 qemu-system-arm
    fi
else
    skipped cortex-m arm-none-eabi-gcc
fi

# The allocator on top of the C library's, with threads.
wrap=$(for f in malloc free calloc realloc memalign aligned_alloc posix_memalign \
    malloc_usable_size; do echo "-Wl,--wrap=$f"; done)
if "${CC:-gcc}" -std=gnu99 -Wall -Wextra -Werror -O2 -g -fno-omit-frame-pointer -static -I"$room" \
    -I"$here" '-DHEAPTAP_EMBEDDED_CONFIG="embedded_wrapped_config.h"' $wrap -o wrapped \
    "$here/embedded_wrapped.c" "$room/heaptap_embedded.c" -lpthread >build.log 2>&1; then
    same "static program, over the C library's allocator" \
        "damaged 0 0, unknown 0, many 1, kept 1" "$(./wrapped)"
else
    failed "a static program builds"
    sed 's/^/#   /' build.log
fi

# Use the command in docs/guide/embedded.md, which needs only the two files and the configuration.
mkdir page
cp "$room"/heaptap_embedded.[ch] page
cp "$here/embedded_wrapped_config.h" page/CONFIG.h
cp "$here/embedded_wrapped.c" page/program.c
awk '/^## / { here = /statically linked/ }
     here && /^```/ { inside = !inside; next }
     here && inside' "$SRCDIR/docs/guide/embedded.md" >page/command
same "the page's command for a static program links it" "damaged 0 0, unknown 0, many 1, kept 1" \
    "$(cd page && sh ./command 2>&1 && ./a.out)"
finish
