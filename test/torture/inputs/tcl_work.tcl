proc fib n { expr {$n < 2 ? $n : [fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
puts [fib 18]
for {set i 0} {$i < 20000} {incr i} {
    lappend t([expr {$i % 97}]) [string repeat x [expr {$i % 50}]]
}
puts [array size t],[llength $t(5)]
puts [lrange [lsort -unique [concat {*}[array get t]]] 0 3]
puts [regexp -all {(x)(?=x)} [join $t(7)]]
proc deep n { if {$n} { deep [incr n -1] } else { error bottom } }
puts [catch {deep 500} m],$m
interp create i; i eval {set a [lrepeat 1000 y]; proc p {} {}}; interp delete i
coroutine c apply {{} { for {set i 0} {$i < 100} {incr i} { yield $i } }}
puts [c][c][c]
puts [exec echo from a child]
catch {load nothing.so} m
puts [string range $m 0 20]
exit 3
