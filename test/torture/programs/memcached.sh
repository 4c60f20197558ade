# memcached.sh: a server with slabs and threads, filled until it has to evict entries.
#
# needs: memcached python3

prepare() {
    cat >load.py <<'END'
import socket, sys, threading
def work(n):
    s = socket.socket(socket.AF_UNIX); s.connect("m.sock"); f = s.makefile("rwb")
    stored = 0
    for i in range(3000):
        v = b"x" * (i * 7 % 5000)
        f.write(b"set k%d_%d 0 0 %d\r\n%s\r\n" % (n, i, len(v), v)); f.flush()
        stored += f.readline() == b"STORED\r\n"
    f.write(b"get k%d_2999\r\n" % n); f.flush()
    print(n, stored, len(f.readline()) > 5)
for n in range(4):
    t = [threading.Thread(target=work, args=(n,))]
    t[0].start(); t[0].join()
s = socket.socket(socket.AF_UNIX); s.connect("m.sock"); f = s.makefile("rwb")
f.write(b"flush_all\r\nshutdown\r\n"); f.flush(); print(f.readline())
END
}

run() {
    local user=() i
    [ "$(id -u)" -ne 0 ] || user=(-u root)
    memcached "${user[@]}" -s "$PWD/m.sock" -m 16 -t 4 -A &
    for i in $(seq 100); do [ -S m.sock ] && break; sleep 0.05; done
    python3 load.py
    wait $!
    echo "status $?"
}

"$@"
