#!/usr/bin/env bash
# server.sh: debuginfod servers that answer no, and that never answer. If it fails, a server that is
# down delays every command once for each module, without a message.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc strip timeout

cat >first.c <<'END'
#include <stdlib.h>
void *second(void);
int main(void) { return malloc(10) == second(); }
END
echo '#include <stdlib.h>
void *second(void) { return malloc(20); }' >second.c
gcc -shared -fPIC -Wl,--build-id -o libsecond.so second.c &&
    gcc -Wl,--build-id -o first first.c ./libsecond.so -Wl,-rpath,"$PWD" &&
    strip first libsecond.so || exit 1
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/p.heaptap ./first
cat >server.py <<'END'
import re
import socket
import sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
kept, asked = [], set()
while True:
    connection, _ = listener.accept()
    kept.append(connection)
    wanted = re.search(rb"/buildid/([0-9a-f]+)", connection.recv(4096))
    asked.add(wanted and wanted[1])
    if sys.argv[1] == "no":
        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        connection.close()
    with open(sys.argv[1] + ".count", "w") as f:
        f.write(str(len(asked)))
END

# served KIND: make a report with such a server, on a terminal. Its output is in KIND.txt, and the
# number of modules requested from the server in KIND.count.
served() {
    local kind=$1 server port
    python3 server.py "$kind" >"$kind.port" &
    server=$!
    for _ in $(seq 100); do
        [ -s "$kind.port" ] && break
        sleep 0.05
    done
    port=$(cat "$kind.port")
    XDG_CACHE_HOME=/dev/null DEBUGINFOD_CACHE_PATH=$PWD/cache.$kind DEBUGINFOD_TIMEOUT=6 \
        DEBUGINFOD_URLS=http://127.0.0.1:$port timeout 60 \
        python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' \
        "$HEAPTAP" report p.heaptap >"$kind.txt" 2>&1
    status=$?
    kill $server
    wait $server 2>/dev/null
}

served no
if ! [ -e no.count ]; then
    echo "ok - servers # SKIP this libdwfl contacts none"
    finish
fi
same "a server that refuses: status" 0 $status
check "all modules are requested" [ "$(cat no.count)" -ge 2 ]
check "the request is shown" \
    grep -q "asking the server in DEBUGINFOD_URLS for libsecond.so" no.txt
check "and nothing else" bash -c '! grep -q "does not answer" no.txt'

served silent
same "a server that never answers: status" 0 $status
same "it holds up one module, not all" 1 "$(cat silent.count)"
check "the request is shown" grep -q "asking the server in DEBUGINFOD_URLS for" silent.txt
check "the missing answer is reported" grep -q "does not answer" silent.txt
check "the report is printed" grep -q "Still live at end" silent.txt
finish
