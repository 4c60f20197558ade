# allocators_before.sh: other allocators preloaded before the recorder, which then sees hardly any
# calls.
#
# each: /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 /usr/lib/x86_64-linux-gnu/libtcmalloc.so.4
# each: /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4
# each: /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal_debug.so.4
# each: /usr/lib/x86_64-linux-gnu/libmimalloc.so.2 /usr/lib/x86_64-linux-gnu/libtbbmalloc_proxy.so.2
# needs: perl sqlite3 cmake
# short: yes
# limit: 60
# counts: /libtbb libtbbmalloc_proxy.so has some of the forms of operator delete only
# unknown: libtbbmalloc_proxy.so has some of the forms of operator delete only

choose() {
    LD_PRELOAD=$1${LD_PRELOAD:+:$LD_PRELOAD}
}

. "$(dirname "$0")/allocators.subr"
