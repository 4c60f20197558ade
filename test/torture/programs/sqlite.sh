# sqlite.sh: one long script with everything that allocates: joins, recursion, windows, JSON, full
# text, triggers, errors, vacuum, and a database in a file with a journal.
#
# foreign: yes
# needs: sqlite3
# short: yes
# oracle: yes

prepare() {
    local n=${SHORT:+1000}
    n=${n:-40000}
    cat >script.sql <<END
create table t(a integer primary key, b text, c real);
with recursive c(x) as (select 1 union all select x + 1 from c where x < $n)
    insert into t select x, hex(x * 7919), x / 7.0 from c;
create index i on t(b);
create table log(what text);
create trigger w after update on t begin insert into log values (new.b); end;
begin; update t set b = b || 'x' where a % 3 = 0; savepoint s; delete from t where a % 5 = 0;
rollback to s; commit;
select count(*), max(b) from t where b like '%3%';
select b, count(*) from t group by substr(b, 1, 2) order by 2 desc, 1 limit 5;
select a, sum(c) over (order by a rows between 3 preceding and current row) from t limit 5;
select json_group_array(json_object('a', a, 'b', b)) from (select * from t limit 300);
select count(*) from t x join t y on x.b = y.b || 'x';
create virtual table f using fts5(body);
insert into f select b || ' ' || a from t limit 2000;
select count(*) from f where f match '3 OR 7*';
select printf('%s', group_concat(what)) from (select what from log limit 40);
select nothing from nowhere;
select sum(a) from (select a from t union select -a from t except select 5);
vacuum;
pragma integrity_check;
END
}

run() {
    sqlite3 :memory: '.read script.sql'
    echo "$?"
    sqlite3 file.db '.read script.sql'
    sqlite3 file.db .dump | md5sum
    sqlite3 file.db 'select count(*) from log'
}

"$@"
