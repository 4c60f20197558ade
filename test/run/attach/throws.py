"""throws.py: attach to a C++ program whose operator new throws, with each allocator."""
import ctypes.util
import os
import subprocess
import sys
import time

from attach import heaptap

SOURCE = """
#include <atomic>
#include <cstdlib>
#include <cstdio>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>
std::atomic<bool> stop;
std::atomic<long> caught, wrong;
void work()
{
    volatile size_t huge = (size_t)1 << 60;
    while (!stop) {
        std::map<int, std::string> m;
        for (int i = 0; i < 100; i++)
            m[i] = std::string(50, 'x');
        try {
            delete[] new char[huge];
            wrong++;
        } catch (const std::bad_alloc &) {
            caught++;
        }
        try {
            throw m[7];
        } catch (const std::string &s) {
            wrong += s.size() != 50;
        }
    }
}
int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(work);
    while (getchar() != EOF)
        ;
    stop = true;
    for (auto &t : threads)
        t.join();
    puts(caught > 0 && wrong == 0 ? "ok" : "wrong");
}
"""


def rounds(name, library):
    environment = {**os.environ, "TCMALLOC_LARGE_ALLOC_REPORT_THRESHOLD": "0"}
    if library:
        environment["LD_PRELOAD"] = library
    program = subprocess.Popen("./throws", env=environment, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    time.sleep(0.2)
    for i in range(6):
        if os.path.exists("throws.heaptap"):
            os.unlink("throws.heaptap")
        heaptap("attach", "--detached", "-o", "throws.heaptap", program.pid)
        time.sleep(0.05)
        heaptap("detach", "--no-pack", program.pid)
    output, _ = program.communicate(timeout=60)
    if output != "ok\n" or program.returncode != 0:
        sys.exit(f"{name}: status {program.returncode}, {output}")


def main():
    with open("throws.cc", "w") as f:
        f.write(SOURCE)
    subprocess.check_call(("g++", "-O1", "-pthread", "-o", "throws", "throws.cc"))
    rounds("glibc", None)
    # mimalloc ends the program where the others throw.
    for name in ("jemalloc", "tcmalloc"):
        library = ctypes.util.find_library(name)
        if library:
            rounds(name, library)


if __name__ == "__main__":
    main()
