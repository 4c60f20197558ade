# systemd.sh: the unit tests of systemd, each a separate program: hash tables, JSON, D-Bus, event
# loops, name resolution, processes, limits, many forks and many intentional leaks.
#
# each: /usr/lib/systemd/tests/test-*
# except: ^test-(varlink|engine)$ their output depends on races between threads
# as: nobody
# limit: 60
# unordered: yes
# hide: 0x[0-9a-f]+|\b[0-9a-f]{8,}\b|(PID|pid) \d+|[-.][A-Za-z0-9]{6}\b|\.[A-Za-z0-9]{3}\b
# hide: (\d+(\.\d+)?\s?(ns|us|ms|s|min|h)\b\s?)+|\d\d:\d\d:\d\d|hash chain: \d
# hide: (^Loop!\n)+|^aliases: .*$

prepare() {
    true
}

run() {
    export XDG_RUNTIME_DIR=$PWD
    "$1"
}

"$@"
