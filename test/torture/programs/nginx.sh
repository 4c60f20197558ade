# nginx.sh: a server that becomes a daemon, with workers that are replaced while it serves, loaded
# by many connections at once.
#
# needs: nginx ab curl

prepare() {
    mkdir logs
    seq 20000 >page
    # The port is derived from the process id, so that no other server uses it.
    echo $((20000 + $$ % 20000)) >port
    cat >conf <<END
pid $PWD/pid;
error_log $PWD/logs/error;
worker_processes 2;
user root;
events { worker_connections 200; }
http {
    access_log $PWD/logs/access;
    gzip on; gzip_types *; gzip_min_length 10;
    server {
        listen 127.0.0.1:$(cat port); root $PWD; default_type text/plain;
        location /again { return 302 /page; } }
}
END
}

run() {
    local url i
    url=http://127.0.0.1:$(cat port)
    nginx -p "$PWD" -c "$PWD/conf"
    echo "started $?"
    ab -q -n 2000 -c 20 -k "$url/page" 2>&1 | grep -E 'Complete requests|Non-2xx'
    nginx -p "$PWD" -c "$PWD/conf" -s reload
    ab -q -n 1000 -c 10 -H 'Accept-Encoding: gzip' "$url/page" 2>&1 |
        grep -E 'Complete requests|Non-2xx'
    curl -s -L "$url/again" | md5sum
    curl -s -o /dev/null -w '%{http_code}\n' "$url/nothing"
    nginx -p "$PWD" -c "$PWD/conf" -s quit
    for i in $(seq 100); do
        [ -e pid ] || break
        sleep 0.1
    done
    grep -cE 'alert|emerg' logs/error
}

"$@"
