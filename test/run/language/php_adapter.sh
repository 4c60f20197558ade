#!/usr/bin/env bash
# php_adapter.sh: adapters/php.c, which shows the functions of PHP. If it fails, blocks are charged
# to wrong functions of a script, or a PHP of another version crashes.
. "$SRCDIR/test/run/lib.subr"
need gcc python3 php php-config
[ -e "$(php-config --include-dir)/main/php.h" ] || skip_all "needs the headers of PHP (php-dev)"

make -s -C "$SRCDIR" adapters BUILD="$PWD/built" >make.out 2>&1
check "make adapters" test -e built/adapters/libheaptap_php.so
adapter=built/adapters/libheaptap_php.so
export USE_ZEND_ALLOC=0

# str_repeat of N characters allocates N + 32 bytes.
cat >functions.php <<'END'
<?php
class Table {
    public $rows = [];
    function fill() { for ($i = 0; $i < 100; $i++) $this->rows[] = str_repeat("x", 50000); }
    static function one() { return str_repeat("s", 51000); }
}
function deep($n) {
    if ($n == 0) return str_repeat("d", 52000);
    return deep($n - 1);
}
function thrower() { try { inner(); } catch (Exception $e) { return str_repeat("c", 53000); } }
function inner() { throw new Exception(str_repeat("e", 54000)); }
function generator() { for ($i = 0; $i < 3; $i++) yield str_repeat("g", 55000); }
$t = new Table; $t->fill();
$k[] = Table::one(); $k[] = deep(2); $k[] = thrower();
foreach (generator() as $g) $k[] = $g;
$k[] = array_map(fn($i) => str_repeat("m", 56000), [1, 2]);
eval('function made() { return str_repeat("v", 57000); } $k[] = made();');
echo count($k), "\n";
exit(5);
END
# status_of COMMAND...: run COMMAND, and print its output and status.
status_of() {
    local out status=0
    out=$("$@") || status=$?
    echo "$out $status"
}
same "alone" "8 5" "$(status_of php functions.php)"
same "recorded: output and status" "8 5" "$(status_of \
    "$HEAPTAP" run --quiet -o functions.heaptap --adapter $adapter -- php functions.php)"
# The code of eval has another {main}, so names of files follow.
"$HEAPTAP" export -f collapsed --metric alloc functions.heaptap 2>/dev/null |
    sed -n -e 's/{main} ([^;]*)/{main}/g; s/{closure:[^}]*}/{closure}/g' \
        -e 's/.*\({main};.*str_repeat [0-9]*\)$/\1/p' | sort >stacks
cat >expected <<'END'
{main};Table::fill;str_repeat 5003200
{main};Table::one;str_repeat 51032
{main};array_map;{closure};str_repeat 112064
{main};deep;deep;deep;str_repeat 52032
{main};generator;str_repeat 165096
{main};made;str_repeat 57032
{main};thrower;inner;str_repeat 54032
{main};thrower;str_repeat 53032
END
same "each string is charged to its functions" "$(LC_ALL=C sort expected)" "$(LC_ALL=C sort stacks)"
"$HEAPTAP" report --full functions.heaptap >full.txt 2>/dev/null
check "frames have file and line" grep -q 'Table::fill .*functions\.php:4' full.txt

# Random calls, with generators that delegate, fibers, magic methods and exceptions.
echo '<?php Moments::moment(); act(2);' >included.php
"$HEAPTAP" run --quiet -o moments.heaptap --adapter $adapter -- \
    php "$area/moments.php" 1 "${PHP_MOMENTS:-3000}" truth >moments.out 2>&1
same "moments: output and status" "0 " "$? $(cat moments.out)"
"$HEAPTAP" report --json --native moments.heaptap >moments.json 2>/dev/null
run_python "$area/moments.py" moments.json truth str_repeat >compared 2>&1
same "moments: chains are those of debug_backtrace" 0 $?
sed 's/^/#   /' compared

sed 's/" ZEND_VERSION "/9.9.9/' "$SRCDIR/adapters/php.c" >other.c
check "build for another version" gcc -O2 -shared -fPIC "-I$SRCDIR/include" \
    $(php-config --includes) -o libheaptap_other.so other.c
same "another version: output and status" "8 5" "$(status_of \
    "$HEAPTAP" run --quiet -o other.heaptap --adapter libheaptap_other.so -- php functions.php)"
same "another version: no function" 0 \
    "$("$HEAPTAP" export -f collapsed other.heaptap 2>/dev/null | grep -c 'main}')"
same "programs that are not PHP: output and status" "a 3" "$(status_of \
    "$HEAPTAP" run --quiet -o sh.heaptap --adapter $adapter -- sh -c 'echo a | sort; exit 3')"
unset USE_ZEND_ALLOC
same "PHP's own heap: output and status" "8 5" "$(status_of \
    "$HEAPTAP" run --quiet -o own.heaptap --adapter $adapter -- php functions.php)"

finish
