#!/usr/bin/env bash
# types.sh: the types of blocks, in programs that allocate known types, compiled in several ways,
# with and without their source text. If it fails, a wrong type is called certain, or a type is not
# found.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc g++ readelf jq

# try NAME FILE COMMAND...: compile FILE to NAME by COMMAND and record it. Check its types with its
# source, without it, and packed, when source and program are gone.
try() {
    local name=$1 file=$2
    shift 2
    mkdir -p "$name"
    cp "$SRCDIR/test/prog/$file" "$name/"
    # The source is thereby surely not newer than the program.
    touch -d '2 minutes ago' "$name/$file"
    (cd "$name" && "$@" -g "$PWD/$file" -o program) || {
        failed "$name: compiles"
        return
    }
    rm -f "$name/p.heaptap"
    "$HEAPTAP" run --quiet --no-pack -o "$name/p.heaptap" -- "$name/program" || failed "$name: runs"
    look "$name" source
    "$HEAPTAP" pack -o "$name/packed.heaptap" "$name/p.heaptap" >/dev/null 2>&1
    mv "$name/$file" "$name/away"
    look "$name" bare
    # Rust's library alone has half a million lines in readelf's output.
    [ "${name%-*}" = rust ] || check "$name: types are those that readelf finds" \
        python3 "$area/type_oracle.py" "$ORACLE/tool_types" "$name/program"
    rm "$name/program"
    mv "$name/packed.heaptap" "$name/p.heaptap"
    look "$name" packed
}

look() {
    python3 "$area/type_tables.py" "$HEAPTAP" "$1" "$2" || failures=$((failures + 1))
}

export XDG_CACHE_HOME=$PWD/cache
mkdir -p "$XDG_CACHE_HOME"
try gcc-O2 typed.c gcc -O2
try gcc-O0 typed.c gcc -O0
try gxx-O2 typed_classes.cc g++ -O2
try gxx-O0 typed_classes.cc g++ -O0
if command -v clang >/dev/null && command -v clang++ >/dev/null; then
    try clang-O2 typed.c clang -O2
    try clang-O0 typed.c clang -O0
    try clangxx-O2 typed_classes.cc clang++ -O2
    try clangxx-units typed_classes.cc clang++ -O1 -gdwarf-5 -fdebug-types-section
else
    echo "ok - clang # SKIP needs clang"
fi

if rustc --version >/dev/null 2>&1; then
    try rust-O2 typed_rust.rs rustc -C opt-level=2 --crate-name typed_rust
    try rust-O0 typed_rust.rs rustc --crate-name typed_rust
else
    echo "ok - rust # SKIP needs rustc"
fi

# A type that is certain is also certain by size, and guesses appear only where a type is unknown.
cat >sure.c <<'END'
#include <stdlib.h>
struct node { struct node *next, *previous; long value; };
struct pair { long values[5]; };
static void *volatile kept;
static volatile size_t forty = 40;
int main(void)
{
    for (int i = 0; i < 10; i++) {
        struct node *n = malloc(sizeof(struct node));
        kept = n;
    }
    for (int i = 0; i < 3; i++) {
        struct pair *p = malloc(sizeof(struct pair));
        kept = p;
    }
    kept = malloc(forty);
    return 0;
}
END
gcc -g -O1 sure.c -o sure
"$HEAPTAP" run --quiet -o sure.heaptap -- ./sure
"$HEAPTAP" sizes sure.heaptap >sizes.txt
"$HEAPTAP" report --by type sure.heaptap >by_type.txt
check "by type: certain" grep -Eq ' 10 +certain +node$' by_type.txt
check "by size: certain, and nothing else" grep -Eq '^ +24 +10 .* ✓node$' sizes.txt
check "by type: three of four" grep -Eq ' 3 +certain +pair$' by_type.txt
check "by size: three of four, and the types of that size" \
    grep -Eq '^ +40 +4 .* ✓pair 75.0 %' sizes.txt

# Facts about calls are cached, so the debug information is not opened a second time: it is gone by
# then.
mkdir -p known/.debug
objcopy --only-keep-debug sure known/.debug/program.debug
objcopy --strip-debug --add-gnu-debuglink=known/.debug/program.debug sure known/program
"$HEAPTAP" run --quiet --no-pack -o known/p.heaptap -- known/program
by_type() { # CACHE
    XDG_CACHE_HOME=$PWD/$1 "$HEAPTAP" report --by type --json known/p.heaptap | jq .rows
}
by_type known/other >known/afresh.json
by_type cache >known/first.json
rm known/.debug/program.debug
by_type cache >known/second.json
by_type known/empty >known/without.json
check "a type is found" grep -q '"node"' known/first.json
check "the first time as in another cache" cmp known/afresh.json known/first.json
check "the second time as the first" cmp known/first.json known/second.json
check "which needs the cache" sh -c '! cmp -s known/first.json known/without.json'

# The processes of one run are packed one after another, and the data read from a file for one
# process is cached for the next. The first finds no cache, the second a cache file, the third the
# data in memory. Each must have the names and the types that it would have had alone.
mkdir -p together
XDG_CACHE_HOME=$PWD/together/cache "$HEAPTAP" run --quiet -o together/p/ -- \
    sh -c 'for i in 1 2 3 4; do ./sure; done'
for p in together/p/*sure*; do
    "$HEAPTAP" report --by type --json "$p" | jq .rows >"together/${p##*/}.types"
    "$HEAPTAP" report --json "$p" | jq '[.tables.functions, .tables.files]' \
        >"together/${p##*/}.names"
done
XDG_CACHE_HOME=$PWD/together/other "$HEAPTAP" run --quiet -o together/alone.heaptap -- ./sure
"$HEAPTAP" report --by type --json together/alone.heaptap | jq .rows >together/alone.types
"$HEAPTAP" report --json together/alone.heaptap | jq '[.tables.functions, .tables.files]' \
    >together/alone.names
check "four processes" test "$(ls together/*sure*.types | wc -l)" = 4
check "types are there" grep -q '"node"' together/alone.types
check "names are there" grep -q '"main"' together/alone.names
for kind in types names; do
    for p in together/*sure*.$kind; do
        check "as alone: $kind" cmp "$p" together/alone.$kind
    done
done

# A source that is newer than the program belongs to another program.
mkdir -p young
cp "$SRCDIR/test/prog/typed.c" young/
(cd young && gcc -g -O2 "$PWD/typed.c" -o program)
touch -d '2 minutes' young/typed.c
"$HEAPTAP" run --quiet --no-pack -o young/p.heaptap -- young/program
python3 "$area/type_tables.py" "$HEAPTAP" young bare || failures=$((failures + 1))

# The program's own types are found in every encoding.
own() {
    "$ORACLE/tool_types" "$1" | grep '^[0-9]* shop::' | sort
}
cp "$SRCDIR/test/prog/typed_classes.cc" .
g++ -g -O2 typed_classes.cc -o plain
g++ -g -O2 -fdebug-types-section typed_classes.cc -o units
g++ -g -O2 -gsplit-dwarf typed_classes.cc -o split
check "some types" test -n "$(own plain)"
same "type units" "$(own plain)" "$(own units)"
same "split units" "$(own plain)" "$(own split)"
cp plain shared_one
cp plain shared_two
if ! command -v dwz >/dev/null; then
    echo "ok - units shared between files # SKIP needs dwz"
elif ! dwz -m common.dwz -M common.dwz shared_one shared_two >dwz.err 2>&1 || [ ! -s common.dwz ]
then
    echo "ok - units shared between files # SKIP dwz shares nothing: $(head -n 1 dwz.err)"
else
    check "units shared between files: they are" \
        sh -c 'readelf -S --wide shared_one | grep -q gnu_debugaltlink'
    same "units shared between files" "$("$ORACLE/tool_types" plain)" \
        "$("$ORACLE/tool_types" shared_one)"
fi
finish
