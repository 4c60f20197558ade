"""server_load.py: measure a server under load, bare and recorded: throughput, cost of a request,
and latency of requests at a constant rate.

The server is kv_server.cc, the client open_loop.c. The client has the first processor to itself.
The server and all processes of its tool share the others, so a profiler's work outside of the
program competes with the program. Each run has two parts. For CAPACITY_S, the client sends requests
as fast as they are answered. Then, for SECONDS, it sends them at a rate that is the same for all
tools: half of the bare server's maximum, which is measured once before. If the server cannot reach
that rate under a tool, latency rises, and requests may be unanswered when the client gives up.

A waiting request does not delay the next ones (open_loop.c explains why that matters), so the
latencies are the same as for independent users.
"""
import os
import random
import shutil
import subprocess
import tempfile
import time

import intervals
import peers
import runner

THREADS, CONNECTIONS, CAPACITY_S, SECONDS, LOAD = 4, 16, 1, 3, 0.5
START_S, END_S = 20, 120
TOOLS = ("heaptap", "heaptap-512K", "jemalloc", "jemalloc-0", "jemalloc-19", "heaptrack")
COLUMNS = [("capacity", "requests/s", 1), ("cpu_us", "CPU us", 1), ("p50_ns", "p50 us", 1e3),
           ("p99_ns", "p99 us", 1e3), ("p999_ns", "p99.9", 1e3), ("max_ns", "max us", 1e3)]


class Failure(Exception):
    """The reason why the server or the client did not work."""


def processors(settings):
    """Return the client's processors, and the server's."""
    usable = settings.all_cpus.split(",")
    if len(usable) < 2:
        raise Failure("it takes two processors")
    return usable[0], ",".join(usable[1:])


def asked(settings, socket, seconds, rate):
    """Return the numbers that open_loop.c prints: {name: value}."""
    client, _ = processors(settings)
    done = subprocess.run(["taskset", "-c", client, f"{settings.binaries}/open_loop", socket,
                           str(CONNECTIONS), str(seconds), str(rate)], capture_output=True,
                          text=True, check=False, timeout=END_S)
    if done.returncode:
        raise Failure(done.stderr.strip()[-100:])
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def wait_for(server, socket):
    for _ in range(START_S * 100):
        if os.path.exists(socket):
            return
        if server.poll() is not None:
            break
        time.sleep(0.01)
    raise Failure("the server did not start")


def started(settings, tool, socket, directory):
    out = runner.empty(os.path.join(settings.work, "out"))
    words = tool.words([f"{settings.binaries}/kv_server", "listen", socket, str(THREADS)], out)
    own = [f"{key}={value}" for key, value in tool.environment(out).items()]
    with open(f"{directory}/stdout", "wb") as o, open(f"{directory}/stderr", "wb") as e:
        return subprocess.Popen(["taskset", "-c", processors(settings)[1], "env", *own, *words],
                                stdin=subprocess.PIPE, stdout=o, stderr=e, cwd=settings.work,
                                env=runner.environment(settings, {}))


def one_run(settings, tool, rate):
    """Return {column: value} of one server under TOOL; with RATE 0, of the first part only."""
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="heaptap-") as directory:
        socket = f"{directory}/s"
        server = started(settings, tool, socket, directory)
        try:
            wait_for(server, socket)
            found = {"capacity": asked(settings, socket, CAPACITY_S, 0)["rate"]}
            if rate:
                found.update(asked(settings, socket, SECONDS, rate))
            server.stdin.close()
            if server.wait(END_S):
                raise Failure(f"the server ended with {server.returncode}: "
                              + runner.tail(f"{directory}/stderr"))
        except OSError as error:  # The server ended, so writing to its input fails.
            raise Failure(str(error)) from error
        except subprocess.TimeoutExpired as error:
            raise Failure(f"no answer or no end within {error.timeout:.0f} s") from error
        finally:
            server.kill()
            server.wait()
        own = runner.numbers(f"{directory}/stdout")
        found["cpu_us"] = own["cpu_ns"] / own["requests"] / 1e3
        return found


def tools_here(settings, path):
    """Return the tools of TOOLS that are installed, and the reasons for the others."""
    found, missing = peers.available(settings.heaptap, path, True)
    return ([t for t in found if t.name in TOOLS],
            {name: why for name, why in missing.items() if name in TOOLS})


def measured(settings, tools, rounds, rate):
    """Return {tool: [its runs]} and {tool: why it failed}. Each round runs all tools in a random
    order."""
    runs, failures = {tool.name: [] for tool in tools}, {}
    for _ in range(rounds):
        for tool in random.sample(tools, len(tools)):
            if tool.name in failures:
                continue
            try:
                runs[tool.name].append(one_run(settings, tool, rate))
            except Failure as why:
                failures[tool.name] = str(why)
    return {name: made for name, made in runs.items() if name not in failures}, failures


def estimates(runs):
    """Return {column: Estimate} of one tool's runs."""
    return {column: intervals.estimate([run[column] for run in runs])
            for column, _, _ in COLUMNS}


def over_native(runs, native):
    """Return {column: Estimate} of the ratios of runs of the same round."""
    return {column: intervals.estimate([run[column] / bare[column]
                                        for run, bare in zip(runs, native) if bare[column]])
            for column, _, _ in COLUMNS}


def heading():
    return f"{'tool':<13}" + "".join(f"{title:>11}" for _, title, _ in COLUMNS)


def value_line(name, runs):
    found = estimates(runs)
    return f"{name:<13}" + "".join(f"{found[column].median / unit:>11.1f}"
                                   for column, _, unit in COLUMNS)


def ratio_lines(runs, native):
    """Return the line with the ratio of each column, and the line with its limits."""
    found = over_native(runs, native)
    # A ratio may have three digits before the point, which leaves no room for two after it.
    digits = {column: 2 if found[column].high < 100 else 0 for column in found}
    return [f"{'  / native':<13}" + "".join(f"{found[c].median:>11.{digits[c]}f}"
                                            for c, _, _ in COLUMNS),
            f"{'  low-high':<13}" + "".join(
                f"{f'{found[c].low:.{digits[c]}f}-{found[c].high:.{digits[c]}f}':>11}"
                for c, _, _ in COLUMNS)]


def unanswered(runs):
    """Return a sentence about requests without an answer, or None."""
    lost, of = (sum(part) for part in zip(*((run["asked"] - run["answered"], run["asked"])
                                            for run in runs)))
    return f"{'':<13}NOT ANSWERED IN TIME: {lost:.0f} of {of:.0f}" if lost else None


def section(settings, rounds, path, told):
    """{tool: {column: median, "ratios": {column: [median, low, high]}}}."""
    told.section(f"a server under load: {THREADS} threads, {CONNECTIONS} connections")
    tools, missing = tools_here(settings, path)
    told.missing(missing)
    try:
        most = intervals.estimate([one_run(settings, peers.NATIVE, 0)["capacity"]
                                   for _ in range(3)]).median
    except Failure as why:
        told.line(f"NOT MEASURED: {why}")
        return {}
    rate = round(most * LOAD, -2)
    told.line(f"asked at {rate:.0f} requests a second, whatever is answered; median of"
              f" {rounds} rounds")
    told.line(heading())
    runs, failures = measured(settings, [peers.NATIVE, *tools], rounds, rate)
    found = tell(runs, told)
    for name, why in failures.items():
        told.line(f"{name:<13}FAILED: {why}"[:300])
    shutil.rmtree(os.path.join(settings.work, "out"), ignore_errors=True)
    return {"rate": rate, "tools": found, "failures": failures}


def tell(runs, told):
    found = {}
    for name, made in runs.items():
        told.line(value_line(name, made))
        found[name] = {c: e.as_dict() for c, e in estimates(made).items()}
        if name != peers.NATIVE.name and peers.NATIVE.name in runs:
            for line in ratio_lines(made, runs[peers.NATIVE.name]):
                told.line(line)
            found[name]["ratios"] = {c: e.as_dict() for c, e in
                                     over_native(made, runs[peers.NATIVE.name]).items()}
        more = unanswered(made)
        if more:
            told.line(more)
    return found
