<?php
class Node {
    public $next;
    public $v;
    function __construct($v) { $this->v = $v; }
    function __destruct() { global $gone; $gone++; }
}
$gone = 0;
$list = null;
for ($i = 0; $i < 5000; $i++) {
    $n = new Node(str_repeat("x", $i % 50));
    $n->next = $list;
    if ($i % 10) $list = $n;
}
unset($n);
echo $gone, "\n";
while ($list) $list = $list->next;
gc_collect_cycles();
echo $gone, "\n";
$a = [];
for ($i = 0; $i < 20000; $i++) $a["k" . ($i % 977)][] = $i;
ksort($a);
echo count($a), " ", md5(serialize($a)), "\n";
echo preg_replace_callback('/(\d+)(?=a)/', fn($m) => $m[1] * 2, str_repeat("12a34b", 200)), "\n";
try { intdiv(1, 0); } catch (DivisionByZeroError $e) { echo get_class($e), "\n"; }
function gen() { for ($i = 0; $i < 1000; $i++) yield $i => str_repeat("y", $i % 9); }
$s = 0;
foreach (gen() as $k => $v) $s += strlen($v);
echo $s, "\n", strlen(json_encode($a)), " ", strlen(gzcompress(serialize($a))) > 0, "\n";
echo shell_exec("echo from a child");
exit(4);
