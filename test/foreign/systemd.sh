# systemd.sh: the unit tests of systemd, each a program of its own: hash tables, JSON, D-Bus, event
# loops, name resolution, processes, limits, much that forks and much that leaks on purpose.
#
# each: /usr/lib/systemd/tests/test-*
# as: nobody
# limit: 60
# hide: 0x[0-9a-f]+|\b[0-9a-f]{8,}\b
# hide: \d+(\.\d+)?\s?(ns|us|ms|s|min|h)\b

prepare() {
    true
}

run() {
    export XDG_RUNTIME_DIR=$PWD
    "$1"
}

"$@"
