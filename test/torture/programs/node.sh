# node.sh: a JavaScript engine with code made at run time, worker threads with separate heaps, child
# processes, compression on a pool of threads, a stack overflow that is caught, and an abort.
#
# foreign: yes
# needs: node
# broken: code made by V8 has no unwind tables
# hide: 0x[0-9a-f]+|\[\d+:0x\w+\]|node:\d+|pid \d+
# hide: ^\s*\d+: .*$|at .*$

prepare() {
    cp "$INPUTS/node_work.js" work.js
}

run() {
    node work.js
    echo "status $?"
    node -e 'process.abort()' 2>/dev/null
    echo "status $?"
    node -e 'throw new Error("the end")' 2>&1 | head -n 3
    node --max-old-space-size=20 \
        -e 'let a = []; for (;;) a.push(new Array(1000).fill(1.5))' >/dev/null 2>&1
    echo "status $?"
}

"$@"
