#!/usr/bin/env bash
# file_paths.sh: one file under several names in the debug information, /src/build/../lib/x.c and
# /src/lib/x.c. If it fails, a view shows two rows for one file, a comparison of two builds finds
# new code where there is none, or a view joins two files because a directory is a link.
. "$SRCDIR/test/run/lib.subr"
need cc jq

mkdir -p src/lib src/build elsewhere/deep
cat >src/lib/x.c <<'END'
#include <stdlib.h>
extern void *volatile kept[8];
__attribute__((noinline)) void NAME(int i) { kept[i] = malloc(1000000 * (i + 1)); }
END
cat >src/lib/common.h <<'END'
#include <stdlib.h>
extern void *volatile kept[8];
static void __attribute__((noinline)) shared(int i) { kept[i] = malloc(100000 * (i + 1)); }
END
for i in 2 3; do
    printf '#include "common.h"\nvoid go%d(void) { shared(%d); }\n' $i $i >src/go$i.c
done
cat >src/main.c <<'END'
void *volatile kept[8];
void one(int), two(int), go2(void), go3(void);
int main(void) { one(0); two(1); go2(); go3(); return 0; }
END
top=$PWD/src
# build DIRECTORY INCLUDE: build the program; one file and one header have two names.
build() (
    cd "$1" || exit
    cc -g -O0 -DNAME=one -o one.o -c "$2/x.c"
    cc -g -O0 -DNAME=two -o two.o -c "$top/lib/x.c"
    cc -g -O0 -I"$2" -c "$top/go2.c"
    cc -g -O0 -I"$top/lib" -c "$top/go3.c" "$top/main.c"
    cc -o app ./*.o
)
build src/build "$top/build/../lib"
record a.heaptap src/build/app
rows() {
    "$HEAPTAP" report --by "$1" --json "$2" | jq -r --arg by "$1" '.rows[] |
        select(.self_allocated_bytes > 0) |
        "\(.function // "") \((.file // "") | split("/") | last) \(.self_allocated_bytes)"' | sort
}
"$HEAPTAP" merge -o packed.heaptap a.heaptap >merged 2>&1
for profile in a packed; do
    same "$profile, by file" " common.h 700000
 x.c 3000000" "$(rows file $profile.heaptap)"
    same "$profile, by line: rows" 2 "$(rows line $profile.heaptap | wc -l)"
    same "$profile, by function" "one x.c 1000000
shared common.h 700000
two x.c 2000000" "$(rows function $profile.heaptap)"
    same "$profile, paths without .." "" "$("$HEAPTAP" report --json $profile.heaptap |
        jq -r '.tables.files[] | select(test("/\\.\\./"))')"
done
same "source shows both names" "$top/lib/x.c $top/lib/x.c" "$(for f in one two; do
    "$HEAPTAP" source $f a.heaptap | grep -F x.c; done | xargs)"

# Another build that uses only one name: nothing is new.
mkdir other
build other "$top/lib"
record b.heaptap other/app
same "diff of two builds" "0 0" "$("$HEAPTAP" diff --json a.heaptap b.heaptap |
    jq -r '"\(.growth.alloc) \([.rows[]? | select(.change.allocated_bytes != 0)] | length)"')"

# Here `link` leads to another directory, so link/../x.c is not x.c.
ln -s "$PWD/elsewhere/deep" link
for i in 0 1; do
    echo "#include <stdlib.h>
void *volatile at$i; void take$i(void) { at$i = malloc($((i + 1))0); }" >x$i.c
done
mv x0.c x.c
mv x1.c elsewhere/x.c
echo 'void take0(void), take1(void); int main(void) { take0(); take1(); return 0; }' >take.c
cc -g -O0 -o t0.o -c "$PWD/x.c"
cc -g -O0 -o t1.o -c "$PWD/link/../x.c"
cc -g -O0 -o take take.c t0.o t1.o
record link.heaptap ./take
same "a link in front of .." "x.c 10
x.c 20" "$(rows file link.heaptap | sed 's/^ //')"
finish
