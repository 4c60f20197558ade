# preload_behind.sh: the libraries of preload_before.sh, preloaded after the recorder, which then
# finds their functions in place of libc's.
#
# files: /usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1
# files: /usr/lib/x86_64-linux-gnu/libeatmydata.so
# short: yes
# limit: 60

prepare() {
    seq 500 >list
}

# behind LIBRARY COMMAND...
behind() {
    env LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$1" "${@:2}"
    echo "status $?"
}

run() {
    local libraries=/usr/lib/x86_64-linux-gnu
    export FAKETIME='2020-01-01 00:00:00'

    behind $libraries/faketime/libfaketime.so.1 date +%F
    behind $libraries/faketime/libfaketimeMT.so.1 date +%F
    FAKETIME_NO_CACHE=1 behind $libraries/faketime/libfaketime.so.1 /usr/bin/python3 -c '
import threading, time
print(time.gmtime().tm_year)
threads = [threading.Thread(target=lambda: [time.time() for _ in range(2000)]) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len([str(i) for i in range(20000)]))'
    behind $libraries/libeatmydata.so sqlite3 base.db \
        'create table t(a); insert into t values (1), (2); select * from t'
    behind /usr/libexec/coreutils/libstdbuf.so sort -r list | tail -n 2
}

"$@"
