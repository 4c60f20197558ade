#!/usr/bin/env bash
# python_bad.sh: unusual Python programs: sub-interpreters, the three ways of starting processes, a
# crash inside of the interpreter, an unknown version, pyenv's scripts. If it fails, the program
# behaves differently than without the recorder, or its objects are lost without a message.
. "$SRCDIR/test/run/lib.subr"
need python3
adapter=${LIBHEAPTAP%/*}/libheaptap_python.so
python=$(python3 -c 'import sys; print(sys.executable)')

# made PROFILE FUNCTION: print the number of objects that FUNCTION and its callees allocated, and
# the losses.
cat >made.py <<'END'
import sys

import documents

with open(sys.argv[1], encoding="utf-8") as file:
    report = documents.load(file)
made = sum(site["allocations"] for site in report["sites"]
           if any(frame["function"] == sys.argv[2] for frame in site["stack"]))
lost = {key: n for key, n in report["losses"].items() if n and key != "inherited_frees"}
print(f"{made} {lost}")
END
made() {
    "$HEAPTAP" report --json --no-fold "$1" 2>/dev/null >made.json
    run_python made.py made.json "$2"
}

# A sub-interpreter, whose objects come from the same arenas.
cat >sub.py <<'END'
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
one = interpreters.create()
interpreters.run_string(one, """
def inside():
    for i in range(20000):
        str(i) * 2
inside()
print("done")
""")
interpreters.destroy(one)
END
LD_PRELOAD="$LIBHEAPTAP $adapter" HEAPTAP_OUT=$PWD/sub.heaptap "$python" sub.py >sub.out 2>&1
same "sub-interpreter: output" done "$(cat sub.out)"
made sub.heaptap inside >sub.made
check "sub-interpreter: its objects, none lost" grep -qE '^79[78][0-9]{2} \{\}$' sub.made

# multiprocessing: each child has a profile of its work.
cat >pool.py <<'END'
import multiprocessing
import sys


def work(n):
    return len([str(i) * 2 for i in range(n)])


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    process = context.Process(target=work, args=(20000,))
    process.start()
    process.join()
    with context.Pool(1) as pool:
        print(process.exitcode, pool.map(work, [1000, 2000]))
END
for way in fork spawn forkserver; do
    "$HEAPTAP" run -q -o $way.heaptap -- "$python" pool.py $way >$way.out 2>&1
    same "$way: status" 0 $?
    same "$way: output" "0 [1000, 2000]" "$(cat $way.out)"
    for file in $way.heaptap $way.processes/*; do
        made "$file" work
    done >$way.made
    check "$way: the children's objects" grep -qE '^79[78][0-9]{2} ' $way.made
    check "$way: nothing is lost" sh -c '! grep -v "{}$" "$1"' - $way.made
done

# A crash in C code that Python called ends the program as without heaptap, and the profile is
# complete.
cat >crash.py <<'END'
import ctypes
kept = bytes(3_000_000)

def crash():
    ctypes.string_at(0)
crash()
END
for options in "" "-X faulthandler"; do
    bash -c '"$@"' - "$python" $options crash.py >bare.out 2>&1
    bare=$?
    rm -f crash.heaptap
    LD_PRELOAD="$LIBHEAPTAP $adapter" HEAPTAP_OUT=$PWD/crash.heaptap \
        bash -c 'exec "$@"' - "$python" $options crash.py >crash.out 2>&1
    same "crash $options: status" $bare $?
    grep -E 'File|Fatal' bare.out >bare.lines
    grep -E 'File|Fatal' crash.out >crash.lines
    check "crash $options: the same messages" cmp bare.lines crash.lines
done
"$HEAPTAP" run -q -o held.heaptap -- "$python" crash.py >held.out 2>&1
"$HEAPTAP" report --json --no-fold held.heaptap >crash.json 2>/dev/null
check "crash: its live objects" \
    run_python "$area/python_held.py" crash.json "$PWD/crash.py" 2 3000000

# An unknown version is reported once, and left untouched.
LD_PRELOAD="$LIBHEAPTAP $adapter $PROG/libodd_python.so" HEAPTAP_OUT=$PWD/odd.heaptap \
    /bin/true 2>odd.err
same "unknown version: status" 0 $?
same "unknown version: the message" \
    "heaptap: Python 3.99.1 is not supported, so its functions are not shown; 3.9 to 3.13 are" \
    "$(cat odd.err)"

# An old version lacks the functions that the adapter looks up. The main function of this program
# exists only in old versions.
cat >old_python.c <<'END'
long PyType_Type[2], PyCode_Type[2] = {1, 0};
const char *Py_GetVersion(void) { return "3.7.16 (default)"; }
int _Py_UnixMain(int count, char **arguments) { return count == 0 || arguments == 0; }
END
echo 'int _Py_UnixMain(int, char **);
int main(int count, char **arguments) { return _Py_UnixMain(count, arguments); }' >old_main.c
gcc -shared -fPIC -o libold_python.so old_python.c
gcc -o old_main old_main.c -L. -lold_python -Wl,-rpath,"$PWD"
"$HEAPTAP" run -o old.heaptap -- ./old_main 2>old.err
same "older version: status" 0 $?
check "older version: the message" grep -q \
    "^heaptap: Python 3.7.16 is not supported, so its functions are not shown; 3.9 to 3.13 are$" \
    old.err

# A shell script replaces the interpreter, like pyenv's.
printf '#!/usr/bin/env bash\n# "$PYENV_ROOT/libexec/pyenv"\nexec "%s" "$@"\n' "$python" >tool
chmod +x tool
"$HEAPTAP" run -q -o tool.heaptap -- ./tool -c '
def inside():
    for i in range(20000):
        str(i) * 2
inside()' >tool.out 2>&1
same "pyenv's script: status" 0 $?
made tool.heaptap inside >tool.made
check "pyenv's script: functions are shown" grep -qE '^79[78][0-9]{2} \{\}$' tool.made
finish
