/* sql.c: sqlite3 in memory: rows are inserted, indexed, selected, joined, updated and grouped. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const statements[] = {
    "create table t(a integer primary key, b int, c text); create table u(x int, y text)",
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 120000) "
    "insert into t select i, (i * 7919) % 10007, 'row ' || i || ' of many' from n",
    "insert into u select b, c from t where a % 3 = 0",
    "create index ui on u(x); create index tb on t(b)",
    "select count(*), sum(length(c)) from t where b between 100 and 5000 and c like '%7%'",
    "select count(*) from t join u on t.b = u.x where t.a < 4000",
    "update t set c = c || 'x' where b % 5 = 0",
    "select b, count(*) from t group by b order by 2 desc",
};

int
main(void)
{
    sqlite3 *db;

    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return 1;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (sqlite3_exec(db, statements[i], NULL, NULL, NULL) != SQLITE_OK) {
            fprintf(stderr, "%s\n", sqlite3_errmsg(db));
            return 1;
        }
    sqlite3_close(db);
    return 0;
}
