#!/usr/bin/env bash
# language_choice.sh: the choice of adapters that heaptap run puts into a program, and its messages
# about them. If it fails, scripts are shown as their interpreter without a message, or a program
# gets a useless library.
. "$SRCDIR/test/run/lib.subr"
need lua5.4 gcc

preloaded() { # preloaded OPTION...: print LD_PRELOAD of a Lua that runs with OPTION
    rm -rf one.heaptap one.processes
    "$HEAPTAP" run --quiet -o one.heaptap "$@" 2>one.err
}
show='print(os.getenv("LD_PRELOAD"))'
names() { tr ':' '\n' | sed 's|.*/||' | tr '\n' ' '; }

same "an interpreter gets its adapter" "libheaptap.so libheaptap_lua.so " \
    "$(preloaded -- lua5.4 -e "$show" | names)"
printf '#!/usr/bin/env lua5.4\n%s\n' "$show" >script
chmod +x script
same "so does a script of it" "libheaptap.so libheaptap_lua.so " "$(preloaded -- ./script | names)"
same "not with --no-language" "libheaptap.so " \
    "$(preloaded --no-language -- lua5.4 -e "$show" | names)"
printf '#!/bin/sh\nexec lua5.4 "$@"\n' >lua
chmod +x lua
same "so does a shell script of its name" "libheaptap.so libheaptap_lua.so " \
    "$(preloaded -- ./lua -e "$show" | names)"
printf '#!/usr/bin/env bash\necho "$LD_PRELOAD" # "$PYENV_ROOT/libexec/pyenv"\n' >pytest
chmod +x pytest
same "and one that is pyenv's" "libheaptap.so libheaptap_python.so " \
    "$(preloaded -- ./pytest | names)"
same "another program gets none" "libheaptap.so " \
    "$(preloaded -- sh -c 'echo $LD_PRELOAD' | names)"
same "unless it is requested" "libheaptap.so libheaptap_lua.so " \
    "$(preloaded --language lua -- sh -c 'echo $LD_PRELOAD' | names)"
preloaded --language perl -- true >/dev/null
same "an unknown name is refused" 2 $?
check "with the names that there are" \
    grep -q 'only lua, python, ecl, gc and node are supported' one.err

# Node names its functions itself, by options that only --language node adds.
options='echo "${NODE_OPTIONS-unset}"'
node_names="--perf-basic-prof --interpreted-frames-native-stack"
same "no option for node by default" unset "$(unset NODE_OPTIONS && preloaded -- sh -c "$options")"
same "--language node adds them, and no library" "$node_names libheaptap.so " "$(
    unset NODE_OPTIONS && preloaded --language node -- sh -c "$options; echo \$LD_PRELOAD" | names)"
same "--language node keeps the user's options" "--no-warnings $node_names" \
    "$(NODE_OPTIONS=--no-warnings preloaded --language node -- sh -c "$options")"
preloaded --language node --no-pack -- true
same "--language node without packing is refused" 2 $?
check "and why" grep -q 'packing reads /tmp/perf-PID.map' one.err
if command -v node >/dev/null; then
    cat >buffers.js <<'EOF'
function fill(kept) { for (let i = 0; i < 100; i++) kept.push(Buffer.alloc(12345)); }
const kept = [];
fill(kept);
console.log(process.pid, kept.length);
EOF
    hint='hint: --language node names JavaScript functions: it adds options to NODE_OPTIONS'
    "$HEAPTAP" run -o node.heaptap -- node buffers.js >node.out 2>node.err
    read -r pid count <node.out
    same "node: a hint names the option" "100 1" "$count $(grep -c "$hint" node.err)"
    check "node: no file is written by default" test ! "/tmp/perf-$pid.map" -nt buffers.js
    "$HEAPTAP" run -o named.heaptap --language node -- node buffers.js >node.out 2>named.err
    read -r pid count <node.out
    same "node: no hint with the option" "100 0" "$count $(grep -c "$hint" named.err)"
    check "node: remove the file that node has written" rm "/tmp/perf-$pid.map"
    "$HEAPTAP" export -f collapsed --metric alloc named.heaptap 2>/dev/null |
        awk '/(JS|LazyCompile|Function):.fill [^;]*buffers.js/ &&
                /NodeArrayBufferAllocator::Allocate/ { sum += $NF }
            END { print sum }' >named.sum
    same "node: the function has the bytes of its 100 buffers" 1234500 "$(cat named.sum)"
else
    echo "ok - node # SKIP needs node"
fi

# These are the first frames that people see.
cat >fill.lua <<'END'
local kept = {}
local function fill()
  for i = 1, 100 do kept[i] = string.rep("x", 1000 + i) end
end
fill()
END
"$HEAPTAP" run -o fill.heaptap -- lua5.4 fill.lua 2>run.err
check "the summary names the function of Lua" grep -q 'most was held by string.rep' run.err
"$HEAPTAP" report --full fill.heaptap >report.txt 2>/dev/null
check "a report has file and line" grep -q ' fill *fill.lua:3' report.txt
"$HEAPTAP" report --json fill.heaptap >report.json 2>/dev/null
check "JSON has the language" grep -q '"Lua"' report.json
"$HEAPTAP" report --by module fill.heaptap >module.txt 2>/dev/null
check "and --by module a row for it" grep -q ' Lua$' module.txt
"$HEAPTAP" merge -o sum.heaptap fill.heaptap fill.heaptap 2>/dev/null
"$HEAPTAP" report --full sum.heaptap >sum.txt 2>/dev/null
check "a merged profile has them too" grep -q ' fill *fill.lua:3' sum.txt
sed -i 's/100/200/' fill.lua
"$HEAPTAP" run --quiet -o more.heaptap -- lua5.4 fill.lua 2>/dev/null
"$HEAPTAP" diff --peak fill.heaptap more.heaptap >diff.txt 2>/dev/null
check "and a difference" grep -q 'string.rep' diff.txt
# The interpreter is shown only on request, and then with all frames.
native() {
    "$HEAPTAP" export -f collapsed --metric alloc "$@" fill.heaptap 2>/dev/null | grep ';fill'
}
check "a script's functions are exported" sh -c 'echo "$1" | grep -q "main-chunk;fill "' - \
    "$(native)"
check "without the interpreter" sh -c '! echo "$1" | grep -q lua_pcallk' - "$(native)"
check "which is shown with --native" sh -c 'echo "$1" | grep -q lua_pcallk' - "$(native --native)"

# Every format that has source lines has the script's lines.
for format in dhat callgrind pprof speedscope chrome firefox csv flamegraph heaptrack; do
    "$HEAPTAP" export -f $format -o exported.$format fill.heaptap 2>/dev/null
done
zcat exported.pprof >exported.pprof.raw
for format in dhat callgrind pprof.raw speedscope chrome firefox csv heaptrack; do
    check "$format has function and file" \
        sh -c 'grep -aq string.rep "$1" && grep -aq fill.lua "$1"' - exported.$format
done
check "dhat has the line, and none where there is none" \
    sh -c 'grep -q "fill (fill.lua:3)" "$1" && grep -q "string.rep (.C.)" "$1"' - exported.dhat
check "a flame graph has a colour for the language" \
    sh -c 'grep -q ">Lua</text>" "$1" && grep -q "string.rep" "$1"' - exported.flamegraph
"$HEAPTAP" export -f collapsed --metric alloc fill.heaptap >folded.txt 2>/dev/null
same "no function of the recorder's own is in it" 0 "$(grep -c 'begin;\|lua_code' folded.txt)"

# With an unknown Lua, C functions are shown, and a message is printed.
record future.heaptap "$PROG/lua_future"
same "a program with an unknown Lua runs as without heaptap" 2 "$(cat future.heaptap.out)"
same "and its version is reported once" \
    'heaptap: Lua 5.9.7 is not supported, so its functions are not shown; 5.1 to 5.4 are' \
    "$(cat future.heaptap.err)"
"$HEAPTAP" report --full future.heaptap >future.txt 2>/dev/null
check "its C functions are shown" grep -q lua_newstate future.txt
if command -v luajit >/dev/null; then
    record jit.heaptap luajit -e 'print(1)'
    same "LuaJIT runs as without heaptap" 1 "$(cat jit.heaptap.out)"
    check "and is reported" grep -q '^heaptap: LuaJIT .*: stacks show C functions$' jit.heaptap.err
else
    echo "ok - LuaJIT runs as without heaptap # SKIP needs luajit"
fi
jit=$(ldconfig -p | grep -o '/.*libluajit-5\.1\.so\.2$' | head -1)
if [ -n "$jit" ]; then
    cat >loads.py <<'EOF'
import ctypes
import sys
lua = ctypes.CDLL(sys.argv[1])
lua.luaL_newstate.restype = ctypes.c_void_p
state = ctypes.c_void_p(lua.luaL_newstate())
lua.luaL_openlibs(state)
lua.luaL_loadstring(state, b"io.open([[/dev/null]])")
lua.lua_pcall(state, 0, 0, 0)
EOF
    record loads.heaptap "$(python3 -c 'import sys; print(sys.executable)')" loads.py "$jit"
    "$HEAPTAP" report loads.heaptap >loads.txt 2>/dev/null
    check "a report mentions LuaJIT in a program that loads it later" \
        grep -q "^LuaJIT's functions and objects are not shown" loads.txt
    "$HEAPTAP" report fill.heaptap >without.txt 2>/dev/null
    same "and in no other" 0 "$(grep -c LuaJIT without.txt)"
else
    echo "ok - a report mentions LuaJIT in a program that loads it later # SKIP needs libluajit-5.1"
fi

# In a program without the language, an adapter allocates nothing and leaves no error for dlerror.
cat >guest.c <<'END'
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    const char *error = dlerror();
    char *used = malloc(10);

    printf("%s; %d bytes before; the heap ends %ld bytes behind\n", error ? error : "no error",
           (int)mallinfo().uordblks, (long)((char *)sbrk(0) - used));
    return 0;
}
END
gcc -w -o guest guest.c
"$HEAPTAP" run --quiet --no-language -o guest.heaptap -- ./guest >guest.out
for language in python lua gc ecl; do
    if [ ! -e "$BUILD/libheaptap_$language.so" ]; then
        echo "ok - $language in a program without it # SKIP the adapter is not built"
        continue
    fi
    "$HEAPTAP" run --quiet --force --language $language -o guest.heaptap -- ./guest >with.out
    same "$language in a program without it: the heap and dlerror" "$(cat guest.out)" \
        "$(cat with.out)"
done
finish
