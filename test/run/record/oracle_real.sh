#!/usr/bin/env bash
# oracle_real.sh: real programs under heaptap and the oracle at once. If it fails, heaptap changes
# the behaviour of a program, loses events, or differs from the oracle in some counter of some
# stack.
#
# Each program runs bare, then recorded alone, then with the oracle by libunwind; all outputs must
# be the same. A second, shorter round uses libgcc's unwinder.
. "$SRCDIR/test/run/lib.subr"
need python3
need_oracle
export PYTHONMALLOC=malloc PYTHONHASHSEED=0 HEAPTAP_ALLOCATOR=glibc PYTHONDONTWRITEBYTECODE=1
export GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_DATE="2001-01-01 00:00 +0000" GIT_COMMITTER_DATE="2001-01-01 00:00 +0000"

# alike NAME FLAGS COMMAND...
alike() {
    local name=$1 flags=$2 bare
    shift 2
    command -v "$1" >/dev/null || { echo "ok - $name # SKIP $1 is not installed"; return; }
    "$@" >bare.out 2>bare.err </dev/null
    bare=$?
    record alone.heaptap "$@"
    same "$name: exit status" "$bare" "$status"
    check "$name: output" cmp bare.out alone.heaptap.out
    check "$name: stderr" cmp bare.err alone.heaptap.err
    rm -f alone*.heaptap
    both run "$@"
    same "$name with the oracle: exit status" "$bare" "$status"
    check "$name with the oracle: output" cmp bare.out run/out
    compare_all "$name: $ORACLE_UNWINDER" run $flags
    tail -n 1 check.log | sed 's/^/# /'
    rm -rf run
}

python3 - <<'EOF'
import json, random
r = random.Random(1)
with open("data.json", "w") as f:
    json.dump([{"id": i, "name": "n%d" % r.randrange(1000), "v": [r.random() for _ in range(4)]}
               for i in range(300)], f)
with open("data.txt", "w") as f:
    for i in range(400):
        f.write("line %d %d %s\n" % (i, r.randrange(100), "x" * r.randrange(60)))
EOF
cat >small.c <<'EOF'
#include <stddef.h>
struct list { struct list *next; int v; };
static int
sum(const struct list *l)
{
    int s = 0;

    for (; l; l = l->next)
        s += l->v * 3;
    return s;
}
int
work(int n)
{
    struct list a[10];

    for (int i = 0; i < 10; i++)
        a[i] = (struct list){i ? &a[i - 1] : NULL, n + i};
    return sum(&a[9]);
}
EOF
git init -q repository 2>/dev/null && (
    cd repository && for i in 1 2 3; do
        seq $((i * 50)) >file$i
        git add . && git -c user.name=t -c user.email=t@t commit -q -m "number $i"
    done)

python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
cc1=$(gcc -print-prog-name=cc1)
fields='group_by(.name) | map({name: .[0].name, n: length, s: (map(.v[0]) | add)})
    | sort_by(.n) | .[0:20]'
queries='create table t(a integer primary key, b text); create index i on t(b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 500)
    insert into t select x, hex(x * 7919) from c;
select count(*), max(b) from t where b like "%3%";
select b, count(*) from t group by substr(b, 1, 2) limit 5;'
counting='my %c;
    while (<>) { $c{$_}++ for split; }
    print join(" ", map { "$_=$c{$_}" } (sort keys %c)[0..20]), "\n"'
working='
import json
d = json.load(open("data.json"))
print(sorted({x["name"] for x in d})[:5], sum(x["v"][0] for x in d))'

export ORACLE_UNWINDER=libunwind
alike jq "" jq -c "$fields" data.json
alike python "" "$python" -S -c "$working"
alike sqlite3 "" sqlite3 :memory: "$queries"
alike git "" git -C repository log -p --stat
alike perl "" perl -e "$counting" data.txt
alike cc1 "" "$cc1" -quiet -O2 -o - small.c
alike containers "" "$PROG/containers"
alike gcc "" gcc -O1 -c -o small.o small.c
alike shell "" sh -c 'sort data.txt | uniq -c | head -n 3'

# A server with threads and a private allocator (jemalloc, in Debian's package).
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
    (
        unset HEAPTAP_ALLOCATOR
        both run redis-server --port 0 --unixsocket "$PWD/r.sock" --save "" --appendonly no
        exit "$status"
    ) &
    server=$!
    for _ in $(seq 100); do
        [ -S r.sock ] && break
        sleep 0.05
    done
    check "redis-benchmark is content" redis-benchmark -s r.sock -q -n 1000 -r 500 -t set,lpush,hset
    redis-cli -s r.sock shutdown nosave
    wait $server
    same "redis-server with the oracle: exit status" 0 $?
    compare_all "redis-server: $ORACLE_UNWINDER" run --threads
    tail -n 1 check.log | sed 's/^/# /'
    rm -rf run
else
    echo "ok - redis-server # SKIP needs redis-server and redis-benchmark"
fi

export ORACLE_UNWINDER=libgcc
alike jq "" jq -c 'map(.v[1])' data.json
alike python "" "$python" -S -c 'print(sum(len(str(i)) for i in range(2000)))'
alike sqlite3 "" sqlite3 :memory: 'select hex(1234), upper("abc");'
alike git "" git -C repository status --short
alike perl "" perl -e "$counting" data.txt
alike cc1 "" "$cc1" -quiet -O1 -o - small.c
alike containers "" "$PROG/containers"
finish
