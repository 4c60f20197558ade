# preload_before.sh: libraries preloaded before the recorder, by the commands that belong to them.
# They replace clocks, files, users and buffers.
#
# needs: faketime fakeroot eatmydata sqlite3 stdbuf perl
# files: /usr/lib/x86_64-linux-gnu/libeatmydata.so
# short: yes
# limit: 60

prepare() {
    seq 500 >list
}

run() {
    stdbuf -oL -i0 sort -r list | tail -n 3
    stdbuf -o0 perl -e 'print "$_\n" for 1 .. 20' | tail -n 1
    faketime '2020-01-01 00:00:00' date +%F
    faketime -f '@2021-05-05 10:00:00' perl -e 'print scalar gmtime, "\n"' | cut -c1-10
    FAKETIME_NO_CACHE=1 faketime '2020-01-01 00:00:00' /usr/bin/python3 -c '
import threading, time
print(time.gmtime().tm_year)
threads = [threading.Thread(target=lambda: [time.time() for _ in range(2000)]) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len([str(i) for i in range(20000)]), time.monotonic() > 0)'
    echo "status $?"
    fakeroot bash -c 'chown daemon list; stat -c %U list; tar cf - list | tar tvf - | cut -c1-24'
    echo "status $?"
    eatmydata sqlite3 base.db 'create table t(a); insert into t values (1), (2); select * from t'
    echo "status $?"
    fakeroot faketime '2020-01-01 00:00:00' bash -c 'id -u; date +%Y'
}

"$@"
