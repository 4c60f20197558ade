# lua.sh: lua with coroutines and the collector, and luajit, whose code made at run time calls the
# allocator (its own, and malloc through FFI) without unwind tables.
#
# needs: lua5.4 luajit
# oracle: yes
# broken: code made by luajit has no unwind tables
# hide: 0x[0-9a-f]+

prepare() {
    cp "$INPUTS/lua_work.lua" work.lua
    cp "$INPUTS/lua_ffi.lua" ffi.lua
}

run() {
    lua5.4 work.lua
    luajit work.lua
    luajit ffi.lua
    luajit -joff ffi.lua
}

"$@"
