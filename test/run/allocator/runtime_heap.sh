#!/usr/bin/env bash
# runtime_heap.sh: language runtimes that manage their objects themselves. If it fails, a report of
# such a program shows a small heap without the reason, names a remedy that does not work, or blames
# a runtime that is not there.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc

# ran FILE OPTIONS... -- PROGRAM: run PROGRAM, with its messages in FILE.err.
ran() {
    local file=$1
    shift
    rm -rf "$file" "${file%.heaptap}".*
    "$HEAPTAP" run -o "$file" "$@" >"$file.out" 2>"$file.err" </dev/null
    status=$?
}

# noted NAME FILE FACT REMEDY: check the sentence in the summary, in the report and in its JSON.
noted() {
    local name=$1 file=$2 fact=$3 remedy=$4
    check "$name: the summary has one hint" \
        test "$(grep -cF "hint: $fact: $remedy" "$file.err")" = 1
    "$HEAPTAP" report "$file" >"$file.txt" 2>/dev/null
    check "$name: the report has the note" python3 - "$file.txt" "Note: $fact" "$remedy" <<'END'
import sys
text = " ".join(open(sys.argv[1]).read().split())
assert sys.argv[2] in text and sys.argv[3] in text, text
END
    check "$name: the JSON has the note" python3 -c '
import json, sys
[n] = json.load(sys.stdin)["notes"]
if n["kind"] == "memory-not-through-malloc":
    assert n["advice"] == sys.argv[1] + ": " + sys.argv[2], n
else:
    assert n == {"kind": "runtime-heap", "text": sys.argv[1], "advice": sys.argv[2]}, n' \
        "$fact" "$remedy" < <("$HEAPTAP" report --json "$file" 2>/dev/null)
}

# unnoted NAME FILE: check that FILE has no note on a runtime.
unnoted() {
    same "$1: no hint" 0 "$(grep -c 'own heap\|own pages\|from pages' "$2.err")"
    same "$1: no note" "[]" "$("$HEAPTAP" report --json "$2" 2>/dev/null | python3 -c '
import json, sys
print(json.load(sys.stdin)["notes"])')"
}

php_fact="PHP allocates objects from its own heap, which heaptap does not see"
php_remedy="USE_ZEND_ALLOC=0 makes it use malloc"

# --- Programs made for the test ------------------------------------------------------------------

cat >small.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef NAME
void *NAME(void) { return malloc(100); }
#endif
int main(int argc, char **argv)
{
    void *volatile p = malloc(10);
#ifdef MAPS
    memset(mmap(NULL, 40 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1,
           40 << 20);
    usleep(500000);
#endif
    usleep(50000); // The command reads the environment meanwhile.
    if (argc > 1 && dlopen(argv[1], RTLD_NOW) == NULL)
        return 1;
    free(p);
    return 0;
}
END
gcc -O1 -rdynamic -DNAME=_emalloc -o phplike small.c
gcc -O1 -DNAME=_emalloc -o notexported small.c
gcc -O1 -o plain small.c
gcc -O1 -o java small.c
gcc -O1 -shared -fPIC -DNAME=JNI_CreateJavaVM -o libjvm.so small.c
ran phplike.heaptap -- ./phplike
same "a program with _emalloc: status" 0 "$status"
noted "a program with _emalloc" phplike.heaptap "$php_fact" "$php_remedy"
check "a program with _emalloc: no warning" bash -c '! grep warning: phplike.heaptap.err'
ran hidden.heaptap -- ./notexported
noted "a program with _emalloc inside" hidden.heaptap "$php_fact" "$php_remedy"
ran quiet.heaptap --quiet -- ./phplike
same "--quiet: no hint" "" "$(cat quiet.heaptap.err)"
check "--quiet: the note is in the profile" \
    grep -q "Note: PHP allocates" <("$HEAPTAP" report quiet.heaptap 2>/dev/null)
USE_ZEND_ALLOC=0 ran off.heaptap -- ./phplike
unnoted "the remedy in the environment of the run" off.heaptap
ran off.heaptap -- env USE_ZEND_ALLOC=0 ./phplike
unnoted "the remedy in the environment of the program" off.heaptap
USE_ZEND_ALLOC=0 ran off.heaptap --only phplike -- ./phplike
unnoted "the remedy with --only" off.heaptap
USE_ZEND_ALLOC=1 ran on.heaptap -- ./phplike
noted "the variable with another value" on.heaptap "$php_fact" "$php_remedy"
gcc -O1 -DNAME=_emalloc -DMAPS -rdynamic -o maps small.c
USE_ZEND_ALLOC=0 ran maps.heaptap -- ./maps
check "a remedy in effect is not repeated below a warning" bash -c \
    'grep -q "warning: about" maps.heaptap.err && ! grep "USE_ZEND_ALLOC" maps.heaptap.err'
ran plain.heaptap -- ./plain
unnoted "a program without a runtime" plain.heaptap
ran java.heaptap -- ./java
noted "a program called java" java.heaptap \
    "Java allocates objects from its own heap, which heaptap does not see" \
    "java -XX:StartFlightRecording:filename=app.jfr records their allocation"
ran embeds.heaptap -- ./plain ./libjvm.so
unnoted "a small program that loads libjvm.so" embeds.heaptap
ran shell.heaptap -- sh -c './phplike; ./phplike; true'
same "two children: no hint for a shell" 0 "$(grep -c 'own heap' shell.heaptap.err)"
"$HEAPTAP" merge -o sum.heaptap shell.heaptap shell.processes >merge.out 2>&1
check "two children: the sum names one" python3 -c '
import json, re, sys
[n] = json.load(sys.stdin)["notes"]
assert n["kind"] == "runtime-heap" and n["processes"] == 2, n
assert re.fullmatch(r"phplike \(pid \d+\)", n["process"]), n' \
    < <("$HEAPTAP" report --json sum.heaptap)

# Without `heaptap run` nobody has seen the environment.
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/preloaded.heaptap ./phplike
check "recorded by the environment alone: the note is conditional" grep -q \
    "Note: $php_fact, unless it was started with USE_ZEND_ALLOC=0" \
    <("$HEAPTAP" report preloaded.heaptap 2>/dev/null | tr -s ' \n' ' ')
printf 'x' >section
objcopy --add-section .go.buildinfo=section plain golike
ran golike.heaptap -- ./golike
noted "a program with the section of Go" golike.heaptap \
    "Go allocates objects from its own heap, which heaptap does not see" \
    "runtime/pprof writes a profile of them"
if gcc -O1 -static -o static small.c 2>/dev/null; then
    objcopy --add-section .go.buildinfo=section static golike
    ran golike.heaptap -- ./golike
    same "a static Go program: status" 3 "$status"
    check "a static Go program: the reason" grep -q \
        "golike cannot be recorded: it is a static Go program.*runtime/pprof writes a profile" \
        golike.heaptap.err
else
    echo "ok - a static Go program # SKIP needs libc.a"
fi

# --- The real runtimes, and their remedies -------------------------------------------------------

# has NAME COMMAND: return true if COMMAND is installed; otherwise print a skip.
has() {
    command -v "$2" >/dev/null && return 0
    echo "ok - $1 # SKIP needs $2"
    return 1
}

# peak FILE: print the peak of FILE in bytes.
peak() {
    "$HEAPTAP" report --json "$1" 2>/dev/null |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["peak_bytes"])'
}

if has PHP php; then
    code='$v = []; for ($i = 0; $i < 60000; $i++) $v[] = "a string of $i"; usleep(50000);'
    ran php.heaptap -- php -r "$code"
    noted PHP php.heaptap "$php_fact" "$php_remedy"
    USE_ZEND_ALLOC=0 ran php0.heaptap -- php -r "$code"
    unnoted "PHP with its remedy" php0.heaptap
    check "PHP with its remedy: its 60,000 strings of 40 bytes are recorded" \
        test $(($(peak php0.heaptap) - $(peak php.heaptap))) -ge 2400000
fi
if has node node; then
    ran node.heaptap -- node -e 'require("v8").writeHeapSnapshot("node.heapsnapshot")'
    noted node node.heaptap \
        "V8 allocates JavaScript objects from its own heap, which heaptap does not see" \
        'node'\''s require("v8").writeHeapSnapshot() writes them to a file'
    check "node: the remedy writes the objects" \
        python3 -c 'import json; assert json.load(open("node.heapsnapshot"))["nodes"]'
fi
cc1=$(gcc -print-prog-name=cc1)
if has GCC "$cc1"; then
    echo 'int f(int i) { return i + 1; }' >f.c
    ran gcc.heaptap -- "$cc1" -quiet -fmem-report f.c -o f.s
    noted GCC gcc.heaptap \
        "GCC allocates trees and instructions from its own heap, which heaptap does not see" \
        "-fmem-report prints its totals"
    check "GCC: the remedy prints totals" grep -q '^Total' gcc.heaptap.err
fi
if has Java java; then
    cat >Small.java <<'END'
class Small { public static void main(String[] a) { System.out.println(1); } }
END
    ran java2.heaptap -- java -XX:StartFlightRecording:filename=app.jfr Small.java
    noted Java java2.heaptap \
        "Java allocates objects from its own heap, which heaptap does not see" \
        "java -XX:StartFlightRecording:filename=app.jfr records their allocation"
    check "Java: the remedy writes a recording" test -s app.jfr
fi
if has SBCL sbcl; then
    ran sbcl.heaptap -- sbcl --noinform --non-interactive --eval '(room)'
    noted SBCL sbcl.heaptap "SBCL allocates objects from its own heap, which heaptap does not see" \
        "(room) prints its totals by type"
    check "SBCL: the remedy prints totals by type" grep -q 'bytes for .*cons objects' \
        sbcl.heaptap.out
fi
if has CLISP clisp; then
    ran clisp.heaptap -- clisp -q -x '(room)'
    noted CLISP clisp.heaptap \
        "CLISP allocates objects from its own heap, which heaptap does not see" \
        "(room) prints its size"
    check "CLISP: the remedy prints the size" grep -q 'Bytes currently in use' clisp.heaptap.out
fi
if has Erlang erl; then
    ran erl.heaptap -- erl -noshell -eval 'halt().'
    noted Erlang erl.heaptap \
        "Erlang allocates terms from its own heap, which heaptap does not see" \
        "erl +Mea min makes it use malloc"
    list='L = lists:seq(1, 500000), io:format("~p~n", [length(L)]), halt().'
    ran erl0.heaptap -- erl +Mea min -noshell -eval "$list"
    unnoted "Erlang with its remedy" erl0.heaptap
    check "Erlang with its remedy: its 500,000 cells of 16 bytes are recorded" \
        test "$(peak erl0.heaptap)" -ge 8000000
fi
if has OCaml ocaml; then
    OCAMLRUNPARAM=v=0x400 ran ocaml.heaptap -- ocaml -version
    noted OCaml ocaml.heaptap \
        "OCaml divides large blocks into objects, so the recorded blocks are no objects" \
        "OCAMLRUNPARAM=v=0x400 prints the heap's totals at exit"
    check "OCaml: the remedy prints totals" grep -q 'heap_words: [0-9]' ocaml.heaptap.err
fi
if has R Rscript; then
    ran r.heaptap -- Rscript -e 'Rprofmem("r.txt"); f <- function() numeric(1000); v <- f()'
    noted R r.heaptap \
        "R cuts small objects from pages, so blocks are pages; only longer vectors are blocks" \
        "Rprofmem() lists vectors and pages by R function"
    check "R: the remedy names the function" grep -q '^8048 :.*"f"' r.txt
fi
if has Ruby ruby; then
    ran ruby.heaptap -- ruby -robjspace -e \
        'File.open("o.json", "w") { |f| ObjectSpace.dump_all(output: f) }'
    noted Ruby ruby.heaptap \
        "Ruby cuts objects from its own pages; malloc provides only contents that do not fit" \
        'ObjectSpace.dump_all of "objspace" lists the objects'
    check "Ruby: the remedy lists objects" grep -q '"type":"STRING"' o.json
fi
if has Go go; then
    cat >profiles.go <<'END'
package main

import (
    "os"
    "runtime/pprof"
)

var kept [][]byte

func main() {
    for i := 0; i < 1000; i++ {
        kept = append(kept, make([]byte, 100000))
    }
    f, _ := os.Create("go.pprof")
    pprof.WriteHeapProfile(f)
    f.Close()
}
END
    check "Go: build a program" env HOME="$PWD" GOCACHE="$PWD/cache" GOFLAGS=-mod=mod \
        CGO_ENABLED=0 go build -o profiles profiles.go
    ran go.heaptap -- ./profiles
    same "Go: the program is refused" 3 "$status"
    ./profiles
    check "Go: the remedy writes a profile" test -s go.pprof
fi
if has Mono mono; then
    ran mono.heaptap -- mono --version
    check "Mono: the fact" grep -q \
        "hint: Mono allocates objects from its own heap, which heaptap does not see$" \
        mono.heaptap.err
fi

finish
