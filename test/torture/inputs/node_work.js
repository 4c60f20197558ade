const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const zlib = require("zlib"), cp = require("child_process"), crypto = require("crypto");

function inWorker() {
    const a = [];
    for (let i = 0; i < 20000; i++)
        a.push({ k: "x".repeat(i % 30), i, b: Buffer.alloc(i % 999) });
    parentPort.postMessage(a.filter((o) => o.k.length === workerData).length);
}

const answerOf = (n) => new Promise((ok) => {
    const w = new Worker(__filename, { workerData: n });
    w.on("message", (m) => { ok(m); w.terminate(); });
});

async function main() {
    console.log(await Promise.all([1, 2, 3, 4].map(answerOf)));
    const data = Buffer.from("line of text ".repeat(50000));
    const packed = await Promise.all([1, 2, 3, 4, 5, 6].map((level) =>
        new Promise((ok) => zlib.deflate(data, { level }, (e, r) => ok(r)))));
    console.log(packed.map((p) => zlib.inflateSync(p).length));
    console.log(cp.execSync("echo from a child").toString());
    console.log(cp.spawnSync("sh", ["-c", "kill -9 $$"]).signal);
    const send = "process.send('sent'); process.disconnect()";
    const child = cp.fork("-e", [], { execArgv: ["-e", send] });
    console.log(await new Promise((ok) => child.on("message", ok)));
    console.log(await new Promise((ok) =>
        crypto.pbkdf2("a", "b", 20000, 32, "sha256", (e, k) => ok(k.toString("hex")))));
    const deep = (n) => deep(n + 1) + 1;
    try { deep(0); } catch (e) { console.log(e.constructor.name); }
    let s = 0;
    for (let i = 0; i < 300000; i++) s += JSON.stringify({ i, a: [i] }).length;
    console.log(s, /(a+)+$/.test("a".repeat(20) + "b"));
    console.log(new Intl.NumberFormat("de").format(1234.5));
    const m = await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    console.log(m.constructor.name);
    process.on("exit", (c) => console.log("leaving", c));
    process.exit(7);
}

isMainThread ? main() : inWorker();
