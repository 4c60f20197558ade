#!/usr/bin/env bash
# annotate.sh: Linux programs whose blocks the library of examples/annotate annotates: the tests of
# the article of 2014, on core dumps, without gdb and addr2line. If it fails, the example in
# docs/guide/embedded.md breaks programs, or dumps of processes with shared libraries show wrong
# blocks or no names.

. "$SRCDIR/test/run/lib.subr"

case $(cat /proc/sys/kernel/core_pattern) in
'|'* | /*) skip_all "the kernel puts cores elsewhere (/proc/sys/kernel/core_pattern)" ;;
esac

check "the library builds" "${CC:-gcc}" -std=gnu99 -Wall -Wextra -Werror -O2 -g -fPIC -shared \
    -I"$SRCDIR/src/embedded" -I"$SRCDIR/examples/annotate" \
    '-DHEAPTAP_EMBEDDED_CONFIG="preload_config.h"' -o annotate.so \
    "$SRCDIR/src/embedded/heaptap_embedded.c" "$SRCDIR/examples/annotate/preload_stack.c"
check "the program builds" "${CC:-gcc}" -O1 -g -o program \
    "$SRCDIR/test/embedded/annotated_program.c" -lpthread

# annotated PROGRAM ARGUMENTS...: run PROGRAM with the library, and with core dumps enabled.
annotated() {
    (ulimit -c unlimited && LD_PRELOAD=$PWD/annotate.so exec "$@")
}

# blocks_of FUNCTION DIRECTORY OPTIONS...: print the blocks below the stack of FUNCTION in
# DIRECTORY's core dump.
blocks_of() {
    local function=$1 core
    core=$(ls "$2"/core* | head -n 1)
    shift 2
    PATH=/nowhere "$HEAPTAP" rawdump --limit 100 "$@" "$core" | /usr/bin/python3 -c '
import re, sys
# A stack has a headline, its sizes, then its frames.
for stack in re.split(r"\n\n", sys.stdin.read()):
    lines = stack.split("\n")
    if len(lines) > 2 and lines[2].split()[0] == sys.argv[1]:
        print(" ".join(lines[0].split()[1:3]), lines[0].split("%")[1].strip(), lines[1].strip())
' "$function"
}

annotated ./program sizes
same "the first core: eight blocks from one function" "1.0 MiB 8 blocks [131071 x4, 131073 x4]" \
    "$(blocks_of allocate_eight first --elf program)"
same "and none from the other" "" "$(blocks_of allocate_large first --elf program)"
same "the second core: the eight" "1.0 MiB 8 blocks [131071 x4, 131073 x4]" \
    "$(blocks_of allocate_eight second --elf program)"
same "and the large one" "1.0 MiB 1 block [1048576]" \
    "$(blocks_of allocate_large second --elf program)"
same "the core alone" "1.0 MiB 1 block [1048576]" "$(blocks_of allocate_large second)"

"$HEAPTAP" rawdump -o first.heaptap first/core* >said
"$HEAPTAP" rawdump -o second.heaptap second/core* >said
same "two cores differ by the large block" "1048576 [('allocate_large', 1048576)]" \
    "$("$HEAPTAP" diff --json first.heaptap second.heaptap | run_python -c '
import documents, sys
d = documents.load(sys.stdin)
print(d["growth"]["inuse"], [(r["stack"][0]["function"], r["after"]["live_bytes"])
                             for r in d["rows"]])')"

annotated ./program threads
same "two threads, two stacks" "1024 1024" "$(for f in keep_first keep_second; do
    blocks_of $f threads | sed 's/.*\[1 x\(.*\)\]/\1/'
done | xargs)"

# A large program is killed.
python=$(python3 -c 'import sys; print(sys.executable)')
mkdir python
(cd python && ulimit -c unlimited && LD_PRELOAD=$PWD/../annotate.so exec "$python" -c '
import ctypes, json, os, signal
kept = [ctypes.create_string_buffer(5000) for i in range(100)]
os.kill(os.getpid(), signal.SIGSEGV)')
"$HEAPTAP" rawdump --json python/core* >python.json 2>python.err
same "python: hundreds of stacks in the program and its libraries, all blocks whole" \
    "True True 0 0" "$(run_python -c '
import documents
d = documents.load(open("python.json"))
modules = {f["module"] for s in d["sites"] for f in s["stack"] if f["module"]}
m = d["memory"]
print(len(m["sizes"]) > 100, len(modules) >= 3, len(m["damage"]), m["refused"]["damaged"])')"
same "python: the blocks that the script keeps" 100 "$(run_python -c '
import json
print(max(count for s in json.load(open("python.json"))["memory"]["sizes"]
          for size, count in s["sizes"] if size == 5000))')"

# Programs behave as without the library.
for program in "sh -c 'echo x | cat | sort'" "python3 -c 'import json, threading; print(1)'" \
    "perl -e 'print join q(,), sort map { \$_ x 9 } 1 .. 99'" "ls /"; do
    same "as without: ${program%% *}" "$(bash -c "$program" 2>&1)" \
        "$(annotated bash -c "$program" 2>&1)"
done
finish
