# allocators_behind.sh: other allocators preloaded behind the recorder, with threads, C++ and
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

prepare() {
    cat >list.cmake <<'END'
message("${CMAKE_COMMAND}")
foreach(i RANGE 2000)
    list(APPEND l x${i})
endforeach()
list(LENGTH l n)
message("${n}")
END
}

run() {
    local others=$LD_PRELOAD

    LD_PRELOAD=${others:+$others:}$1
    export LD_PRELOAD
    perl -e 'my %h; $h{$_} = [1 .. $_ % 9] for 1 .. 20000; print scalar(keys %h), "\n"'
    echo "status $?"
    sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 9999)
        select count(distinct hex(x)), sum(length(hex(x))) from c'
    echo "status $?"
    cmake -P list.cmake
    echo "status $?"
    /usr/bin/python3 -c '
import threading
def work():
    d = {str(i): [i] * (i % 50) for i in range(5000)}
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print("done")'
    echo "status $?"
    bash -c 'for i in 1 2 3; do echo $(echo $i); done' | sort -r
}

"$@"
