#!/usr/bin/env bash
# adapter.sh: adapters of the user, by `run --adapter`, and the example of the guide. If it fails, a
# user's adapter has no effect without a message, or the example that users copy does not work.
. "$SRCDIR/test/run/lib.subr"
need gcc python3

refused() { # refused NAME FILE PATTERN: check that FILE is refused with a message
    "$HEAPTAP" run -o refused.heaptap --adapter "$2" -- true 2>refused.err
    same "$1 is refused" 2 $?
    check "$1: the reason" grep -q -- "--adapter $2: $3" refused.err
    check "$1: nothing is recorded" test ! -e refused.heaptap
}
echo 'int none;' >none.c
gcc -shared -o none.so none.c
refused "a missing file" missing.so "there is no such file"
refused "a text" none.c "it is no shared library"
refused "a program" "$PROG/grow" "it is no shared library"
refused "a library without the header" none.so "it is no adapter"

# --- The cache of names --------------------------------------------------------------------------

# Two adapters of one language: a frame for each digit of a number, from a buffer that is reused, as
# if functions were unloaded. One uses the cache, the other does not.
cat >digits.c <<'END'
#include <stdio.h>
#include "heaptap/language.h"
static __thread struct heaptap_name_cache cache;
static char function[200], file[200];
static unsigned
name_of(unsigned n)
{
    snprintf(function, sizeof function, "f%u%.*s", n % 97, n % 89 == 0 ? 60 : 0,
             "____________________________________________________________");
    snprintf(file, sizeof file, "%u.digits", n % 13);
    return heaptap_frame_name_cached(&cache, function, file, n % 7, n % 2 ? "Odd" : "Even");
}
int
main(void)
{
    for (unsigned n = 0; n < 200000; n++) {
        unsigned id = name_of(n * 2654435761u >> 8);

        if (id == 0 || heaptap_frame_name(function, file, (n * 2654435761u >> 8) % 7,
                                          (n * 2654435761u >> 8) % 2 ? "Odd" : "Even") != id)
            return 1;
    }
    return 0;
}
END
check "build a program with the cache of names" \
    gcc -O2 -Wall -Wextra -Werror -pedantic "-I$SRCDIR/include" -o digits digits.c
for language in "-x c -std=c89" "-x c -std=c11" "-x c++"; do
    check "the header, $language" gcc $language -pedantic -Wall -Wextra -Werror -fsyntax-only \
        "-I$SRCDIR/include" - <<<'#include <heaptap/language.h>'
done
"$HEAPTAP" run --quiet -o digits.heaptap -- ./digits
same "200,000 cached ids equal those without the cache" 0 $?

# A handler interrupts the cache at random instructions and uses the same entries.
cat >signals.c <<'END'
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include "heaptap/language.h"
static __thread struct heaptap_name_cache cache;
static volatile unsigned wrong, handled;
static unsigned expected[2];
static const char *const functions[] = {"abcx", "abcy"};
static void
look(unsigned i)
{
    if (heaptap_frame_name_cached(&cache, functions[i], "f", 1, "L") != expected[i])
        wrong++;
}
static void
handler(int number)
{
    (void)number;
    look(handled++ % 2);
}
int
main(void)
{
    struct itimerval every = {{0, 50}, {0, 50}}, none = {{0, 0}, {0, 0}};
    unsigned used = 0, i = 0;

    expected[0] = heaptap_frame_name(functions[0], "f", 1, "L");
    expected[1] = heaptap_frame_name(functions[1], "f", 1, "L");
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &every, NULL);
    while (handled < 10000)
        look(i++ / 3 % 2);
    setitimer(ITIMER_REAL, &none, NULL);
    for (i = 0; i < 64; i++)
        used += cache.names[i].version != 0;
    return wrong != 0 || expected[0] == expected[1] || used != 1; /* Both have the same entry. */
}
END
check "build a program with a handler" gcc -O2 -Wall "-I$SRCDIR/include" -o signals signals.c
"$HEAPTAP" run --quiet -o signals.heaptap -- ./signals
same "10,000 handlers that use the cache get the right ids" 0 $?

# --- The example of the guide --------------------------------------------------------------------

tcl=/usr/include/tcl8.6
private=$tcl/tcl-private
if ! command -v tclsh8.6 >/dev/null || [ ! -e $private/generic/tclInt.h ]; then
    echo "ok - the example for Tcl # SKIP needs tcl-dev (tclsh8.6, tclInt.h)"
    finish
fi
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$SRCDIR/docs/guide/adapters.md" \
    >adapter_tcl.c
check "build the example" gcc -O2 -Wall -Wextra -Wno-unused-parameter -Werror -shared -fPIC \
    -ftls-model=initial-exec -DHAVE_UNISTD_H "-I$SRCDIR/include" -I$tcl -I$private/generic \
    -I$private/unix -o libtcl_adapter.so adapter_tcl.c
cat >fill.tcl <<'END'
proc fill {} {
    global kept
    for {set i 0} {$i < 100} {incr i} { lappend kept [string repeat x 20000] }
}
proc outer {} { fill }
outer
puts [llength $kept]
END
"$HEAPTAP" run -o fill.heaptap --adapter libtcl_adapter.so -- tclsh8.6 fill.tcl >out 2>err
status=$?
same "Tcl: output and status" "100 0" "$(cat out) $status"
check "Tcl: the summary names the procedure" grep -q 'most was held by fill: 1\.9 MiB' err
"$HEAPTAP" export -f collapsed --metric alloc fill.heaptap 2>/dev/null | grep ';outer;fill ' >folded
# A string has a header of 16 bytes and ends with a NUL.
same "Tcl: both procedures have the 100 strings" $((100 * 20017)) "$(awk '{ print $NF }' folded)"
"$HEAPTAP" run -o child.heaptap --no-language --adapter ./libtcl_adapter.so -- \
    sh -c 'tclsh8.6 fill.tcl; true' >out 2>err
check "Tcl: a child has the adapter as well" grep -q 'most was held by fill' err

# A C function that the procedure calls is inside of the procedure.
cat >extension.c <<'END'
#include <stdlib.h>
#include <tcl.h>
__attribute__((noinline)) void *own_block(void) { return malloc(54321); }
static void *kept;
static int
take(ClientData data, Tcl_Interp *interp, int count, Tcl_Obj *const *arguments)
{
    (void)data; (void)interp; (void)count; (void)arguments;
    kept = own_block();
    return kept != NULL ? TCL_OK : TCL_ERROR;
}
int Extension_Init(Tcl_Interp *interp);
int
Extension_Init(Tcl_Interp *interp)
{
    return Tcl_CreateObjCommand(interp, "take", take, NULL, NULL) != NULL ? TCL_OK : TCL_ERROR;
}
END
check "build an extension" gcc -O1 -g -fno-optimize-sibling-calls -shared -fPIC -I$tcl \
    -o extension.so extension.c
echo 'load ./extension.so; proc calls {} { take }; calls' >extension.tcl
"$HEAPTAP" run --quiet -o extension.heaptap --adapter ./libtcl_adapter.so -- tclsh8.6 extension.tcl
same "Tcl: the order of a procedure and its C function" "calls;take;own_block 54321" \
    "$("$HEAPTAP" export -f collapsed --metric alloc extension.heaptap 2>/dev/null |
        grep -o 'calls;.*54321')"

finish
