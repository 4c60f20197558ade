# python_short.sh: a short Python program instead of Python's own tests: threads, processes, JSON,
# the collector, compression, an uncaught exception with its traceback, and several kinds of exit.
#
# needs: python3
# short: yes
# hide: 0x[0-9a-f]+

export PYTHONMALLOC=malloc

prepare() {
    cat >work.py <<'END'
import gc, json, multiprocessing, os, re, signal, subprocess, sys, threading, zlib
def work(n): return len(json.dumps([{"k": "x" * (i % 9), "i": i} for i in range(n)]))
def deep(n): return 1 + deep(n + 1)
if __name__ == "__main__":
    sums = [0] * 4
    def run(i): sums[i] = work(500 * (i + 1))
    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    [t.start() for t in threads]; [t.join() for t in threads]
    print(sums)
    for way in "fork", "spawn":
        with multiprocessing.get_context(way).Pool(2) as pool:
            print(way, pool.map(work, [100, 200, 300]))
    for i in range(300): a = []; a.append(a)
    print(gc.collect() > 0, len(zlib.compress(b"ab" * 5000)), len(re.findall("x+", "xxy" * 999)))
    try: deep(0)
    except RecursionError as e: print(e)
    print(subprocess.run(["sh", "-c", "kill -9 $$"], check=False).returncode)
    child = os.fork()
    if child == 0: os.abort()
    print(os.waitpid(child, 0)[1] & 127)
    signal.signal(signal.SIGUSR1, lambda *_: print("trapped")); os.kill(os.getpid(), 10)
    sys.stdout.flush()
    raise KeyError("the end")
END
}

run() {
    python3 work.py
    echo "status $?"
    python3 -c 'import ctypes; ctypes.string_at(0)'
    echo "status $?"
}

"$@"
