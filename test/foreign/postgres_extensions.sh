# postgres_extensions.sh: a database that opens extensions as plug-ins: geometry in C++, types, text
# search, statistics, and procedures in Perl and Python, whose interpreters are inside the server.
#
# as: nobody
# files: /usr/lib/postgresql/*/bin/initdb /usr/lib/postgresql/*/lib/plperl.so
# files: /usr/lib/postgresql/*/lib/plpython3.so /usr/lib/postgresql/*/lib/postgis-3.so
# limit: 200
# hide: ^(waiting|server|done).*$|\d{4}-\d\d-\d\d .*
# unordered: yes

PATH=$(echo /usr/lib/postgresql/*/bin | cut -d' ' -f1):$PATH
export PGHOST=$PWD PGUSER=t PGDATABASE=postgres

prepare() {
    initdb -D data -U t -A trust -E UTF8 --no-sync >/dev/null
}

run() {
    pg_ctl -D data -l log -w -t 100 -o "-k $PWD -c listen_addresses= -c fsync=off" start
    psql -qAt -v ON_ERROR_STOP=1 <<'END'
create extension plperl;
create extension plpython3u;
create extension postgis;
create extension hstore;
create extension pg_trgm;
create extension pgcrypto;
create extension ltree;
create function p(n int) returns text language plperl as
    $$ my %h = map { $_ => "v$_" } 1 .. $_[0]; return join ",", (sort keys %h)[0 .. 4]; $$;
create function y(n int) returns text language plpython3u as
    $$ return ",".join(sorted(str(i) for i in range(n))[:5]) $$;
create function bad(n int) returns int language plpython3u as $$ return 1 // n $$;
select p(2000), y(2000);
select sum(length(p(x % 50 + 9))), sum(length(y(x % 50))) from generate_series(1, 300) x;
select round(st_area(st_union(st_buffer(st_point(x % 10, x / 10), 0.7)))::numeric, 3)
    from generate_series(1, 200) x;
select st_astext(st_intersection('POLYGON((0 0,4 0,4 4,0 4,0 0))', 'LINESTRING(-1 1,9 3)'));
select count(*), st_isvalid('POLYGON((0 0,1 1,1 0,0 1,0 0))') from st_dump('MULTIPOINT(1 1,2 2)');
select similarity('word', 'words'), encode(digest('x', 'sha256'), 'hex'), 'a=>1'::hstore -> 'a';
select 'a.b.c'::ltree @> 'a.b.c.d'::ltree, crypt('x', '$1$abcdefgh') is not null;
END
    echo "status $?"
    psql -qAtc "select bad(0)" 2>&1 | head -n 1
    psql -qAtc "select st_geomfromtext('POINT(')" 2>&1 | head -n 1
    pg_ctl -D data -m fast -w stop
    grep -E 'PANIC|signal (6|11)|terminated by' log
    true
}

"$@"
