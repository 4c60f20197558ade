<?php
// moments.php SEED MOMENTS FILE: make calls of all kinds at random. At MOMENTS of them, allocate a
// string of known size by str_repeat, and count the chain of calls that debug_backtrace returns
// then in FILE.
class Moments {
    public static $seed, $left, $nested = 0, $counts = [];

    static function random($n) {
        self::$seed = (self::$seed * 1103515245 + 12345) % 2147483648;
        return intdiv(self::$seed, 65536) % $n;
    }

    // Each place is a file and line, or [C] where an internal function made the call.
    static function moment() {
        self::$left--;
        $text = "[C] " . __FILE__ . ":" . (__LINE__ + 4);
        foreach (debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS) as $call)
            $text .= isset($call["line"]) ? " $call[file]:$call[line]" : " [C]";
        self::$counts[$text] = (self::$counts[$text] ?? 0) + 1;
        str_repeat("x", 5000);
    }
}

class Node {
    private $data = [];
    function __get($name) { act(2); return 1; }
    function __call($name, $arguments) { act($arguments[0]); }
    static function __callStatic($name, $arguments) { act($arguments[0]); }
    function __toString() { act(1); return "s"; }
    function __destruct() { if (Moments::$left > 0) Moments::moment(); }
    function __invoke($x) { act(2); return $x; }
    function walk($depth) { if ($depth > 0) $this->walk($depth - 1); else act(1); }
}
class Rows implements IteratorAggregate, ArrayAccess, Countable {
    function getIterator(): Iterator { act(1); return new ArrayIterator([1, 2]); }
    function offsetGet($i): mixed { act(2); return $i; }
    function offsetSet($i, $v): void { act(1); }
    function offsetExists($i): bool { act(1); return true; }
    function offsetUnset($i): void { act(1); }
    function count(): int { act(2); return 3; }
}
function numbers($n) {
    for ($i = 0; $i < $n; $i++) {
        act(1);
        yield $i;
    }
}
function delegates($n) {
    Moments::moment();
    yield from numbers($n);
    yield from twice($n);
}
function twice($n) { yield from delegated($n); Moments::moment(); }
function delegated($n) { yield 1; act(1); yield 2; }
function thrower($n) {
    if ($n > 0) thrower($n - 1);
    act(1);
    throw new RuntimeException("e$n");
}

// Make a call of a random kind. DEPTH bounds the nesting.
function act($depth) {
    if (Moments::$left <= 0) return;
    Moments::moment();
    if ($depth <= 0 || Moments::$nested > 6) return;
    Moments::$nested++;
    try { choose($depth, new Node, new Rows); } finally { Moments::$nested--; }
}

function choose($depth, $node, $rows) {
    switch (Moments::random(18)) {
    case 0: $node->walk(Moments::random(12)); break;
    case 1: array_map(function ($x) use ($depth) { act($depth - 1); return $x; }, [1, 2]); break;
    case 2: $a = [3, 1, 2]; usort($a, fn($x, $y) => [act(0), $x <=> $y][1]); break;
    case 3: foreach (numbers(3) as $n) Moments::moment(); break;
    case 4: foreach (delegates(2) as $n) Moments::moment(); break;
    case 5: try { thrower(Moments::random(4)); } catch (RuntimeException $e) { act($depth - 1); }
            finally { Moments::moment(); } break;
    case 6: $x = $node->missing; break;
    case 7: $node->anything($depth - 1); break;
    case 8: Node::anything($depth - 1); break;
    case 9: $s = "a $node b"; break;
    case 10: call_user_func_array([$node, "walk"], [2]); break;
    case 11: $f = $node->walk(...); $f(1); break;
    case 12: foreach ($rows as $r) { $rows[1] = $rows[2]; unset($rows[0]); } count($rows); break;
    case 13: eval('Moments::moment(); act(1);'); break;
    case 14: preg_replace_callback('/a/', function ($m) { act(1); return "b"; }, "xaxa"); break;
    case 15: ob_start(function ($s) { return ""; }); act($depth - 1); ob_end_clean(); break;
    case 16:
        $fiber = new Fiber(function () use ($depth) {
            act($depth - 1);
            Fiber::suspend();
            act(1);
        });
        $fiber->start();
        act(1);
        $fiber->resume();
        break;
    case 17: $a = [1]; array_walk($a, $node); break;
    }
}

Moments::$seed = (int)$argv[1];
Moments::$left = (int)$argv[2];
while (Moments::$left > 0) {
    act(4);
    array_filter([1, 2], new Node);
    include "included.php";
}
$file = fopen($argv[3], "w");
foreach (Moments::$counts as $text => $count)
    fwrite($file, "$count $text\n");
