# node.sh: a JavaScript engine with code made at run time, worker threads with heaps of their own,
# child processes, compression on a pool of threads, a stack overflow that is caught, and an abort.
#
# needs: node
# broken: code made by V8 has no unwind tables
# hide: 0x[0-9a-f]+|\[\d+:0x\w+\]|node:\d+|pid \d+
# hide: ^\s*\d+: .*$|at .*$

prepare() {
    cat >work.js <<'END'
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const zlib = require("zlib"), cp = require("child_process"), crypto = require("crypto");
if (!isMainThread) {
    let a = [];
    for (let i = 0; i < 20000; i++) a.push({ k: "x".repeat(i % 30), i, b: Buffer.alloc(i % 999) });
    parentPort.postMessage(a.filter((o) => o.k.length === workerData).length);
    return;
}
(async () => {
    const workers = [1, 2, 3, 4].map((n) => new Promise((ok) => {
        const w = new Worker(__filename, { workerData: n }); w.on("message", (m) => { ok(m); w.terminate(); });
    }));
    console.log(await Promise.all(workers));
    const data = Buffer.from("line of text ".repeat(50000));
    const packed = await Promise.all([0, 1, 2, 3, 4, 5].map((l) => new Promise((ok) =>
        zlib.deflate(data, { level: l + 1 }, (e, r) => ok(r)))));
    console.log(packed.map((p) => zlib.inflateSync(p).length));
    console.log(cp.execSync("echo from a child").toString(), cp.spawnSync("sh", ["-c", "kill -9 $$"]).signal);
    const child = cp.fork("-e", [], { execArgv: ["-e", "process.send('sent'); process.disconnect()"] });
    console.log(await new Promise((ok) => child.on("message", ok)));
    console.log(await new Promise((ok) => crypto.pbkdf2("a", "b", 20000, 32, "sha256", (e, k) => ok(k.toString("hex")))));
    const deep = (n) => deep(n + 1) + 1;
    try { deep(0); } catch (e) { console.log(e.constructor.name); }
    let s = 0;
    for (let i = 0; i < 300000; i++) s += JSON.stringify({ i, a: [i] }).length;
    console.log(s, /(a+)+$/.test("a".repeat(20) + "b"), new Intl.NumberFormat("de").format(1234.5));
    const m = await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    console.log(m.constructor.name);
    process.on("exit", (c) => console.log("leaving", c));
    process.exit(7);
})();
END
}

run() {
    node work.js
    echo "status $?"
    node -e 'process.abort()' 2>/dev/null
    echo "status $?"
    node -e 'throw new Error("the end")' 2>&1 | head -n 3
    node --max-old-space-size=20 -e 'let a = []; for (;;) a.push(new Array(1000).fill(1.5))' >/dev/null 2>&1
    echo "status $?"
}

"$@"
