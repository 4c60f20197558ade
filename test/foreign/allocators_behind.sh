# allocators_behind.sh: other allocators preloaded after the recorder, with threads, C++ and
# children.
#
# each: /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/x86_64-linux-gnu/libtcmalloc.so.4
# each: /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4
# each: /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal_debug.so.4
# each: /usr/lib/x86_64-linux-gnu/libmimalloc.so.2 /usr/lib/x86_64-linux-gnu/libtbbmalloc_proxy.so.2
# needs: perl sqlite3 cmake
# short: yes
# limit: 60
# operators: yes
# counts: /libtcmalloc it allocates when the recorder first asks it how large a block is

choose() {
    LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$1
}

. "$(dirname "$0")/allocators.subr"
