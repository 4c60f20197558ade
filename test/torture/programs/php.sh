# php.sh: the interpreter with its private heap, and with malloc instead (USE_ZEND_ALLOC=0), so that
# every value is an event; objects with destructors, regular expressions with a JIT, exceptions. The
# oracle is not used: it is behind the recorder, so it misses the calls of modules opened with
# RTLD_DEEPBIND.
#
# foreign: yes
# needs: php
# counts: . PHP opens modules with RTLD_DEEPBIND; their calls bypass the counter
# broken: code made by the regular expressions' JIT has no unwind tables

prepare() {
    cp "$INPUTS/php_work.php" work.php
}

run() {
    php work.php
    echo "status $?"
    USE_ZEND_ALLOC=0 php work.php
    echo "status $?"
    php -d opcache.enable_cli=1 -d opcache.jit=tracing -d opcache.jit_buffer_size=16M work.php |
        md5sum
    php -r 'function f($n) { return $n ? f($n - 1) + 1 : 0; } echo f(20000); undefined();' 2>&1
    echo "status $?"
}

"$@"
