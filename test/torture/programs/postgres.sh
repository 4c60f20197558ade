# postgres.sh: a database that forks a process per connection, keeps its data in shared memory,
# kills its processes by signals, allocates in private contexts, and must not run as root.
#
# as: nobody
# files: /usr/lib/postgresql/*/bin/initdb
# hide: \d+\.\d+ ms|tps = .*|latency .*|initial connection time.*
# hide: \d{4}-\d\d-\d\d .*? \[\d+\]|\d+/\d+
# hide: ^(number of (transactions|failed)|starting vacuum|vacuuming|creating|generating).*$
# hide: ^(done|dropping|waiting).*$
# unordered: yes

PATH=$(echo /usr/lib/postgresql/*/bin | cut -d' ' -f1):$PATH
export PGHOST=$PWD PGUSER=t PGDATABASE=postgres

prepare() {
    true
}

run() {
    initdb -D data -U t -A trust -E UTF8 --no-sync >/dev/null
    echo "initdb $?"
    pg_ctl -D data -l log -w -t 100 -o "-k $PWD -c listen_addresses= -c fsync=off" start
    pgbench -i -s 2 -q
    pgbench -c 4 -j 2 -t 300 -n
    psql -Atc "select count(*), sum(abalance) is null from pgbench_accounts"
    psql -Atc "select md5(string_agg(x::text, ',')) from generate_series(1, 200000) x"
    psql -Atc "set work_mem = '64kB'; select count(*) from
        (select x from generate_series(1, 300000) x order by md5(x::text)) s"
    psql -Atc "set max_parallel_workers_per_gather = 2; set parallel_setup_cost = 0;
        select count(*) from pgbench_accounts where bid > 0"
    psql -Atc "do '
        begin perform 1 / 0; exception when others then raise notice \$\$caught\$\$; end';
        select nothing" 2>&1
    psql -Atc "select pg_terminate_backend(pg_backend_pid())" 2>&1 | head -n 1
    pg_dump -s | wc -l
    psql -qc "create index on pgbench_accounts(abalance); vacuum full analyze"
    pg_ctl -D data -m fast -w stop
    grep -cE 'PANIC|signal (6|11)' log
}

"$@"
