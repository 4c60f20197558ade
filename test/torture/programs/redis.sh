# redis.sh: a server with jemalloc and several threads, under load, that forks a child to save its
# memory to disk and another to rewrite its log, while it continues to serve.
#
# needs: redis-server redis-cli redis-benchmark
# hide: .*requests per second.*|^\s*(throughput|latency).*|\d+:[MCS] \d+ \w+ \d+ [\d:.]+
# hide: pid=\d+|with pid \d+|pid \d+|[\d.]+ (MB|seconds)|\d+ bytes
# unordered: yes

prepare() {
    true
}

run() {
    redis-server --port 0 --unixsocket "$PWD/r.sock" --dir "$PWD" --appendonly yes --save '1 10' \
        --io-threads 2 --logfile "$PWD/log" &
    local server=$! i c="redis-cli -s r.sock"
    for i in $(seq 200); do
        [ -S r.sock ] && break
        sleep 0.05
    done
    redis-benchmark -s r.sock -q -n 20000 -r 5000 -t set,lpush,hset,zadd,incr >/dev/null
    echo "benchmark $?"
    $c set here there
    $c bgsave
    redis-benchmark -s r.sock -q -n 5000 -r 5000 -t set,get >/dev/null
    sleep 1
    $c bgrewriteaof
    for i in $(seq 300); do
        $c info persistence | grep -q 'aof_rewrite_in_progress:1\|rdb_bgsave_in_progress:1' || break
        sleep 0.1
    done
    $c info persistence | grep -E 'last_bgsave_status|last_bgrewrite_status|last_write_status'
    $c eval 'local t = {} for i = 1, 20000 do t[i] = tostring(i) end return #t' 0
    $c debug sleep 0
    $c get here
    $c memory doctor
    $c shutdown
    wait $server
    echo "server $?"
    redis-check-rdb dump.rdb | tail -n 1
}

"$@"
