/* libscope_pool_thread.cc: a plug-in with a thread that runs until its destructor ends it, and only
 * then uses operators for the first time.
 *
 *     worked    10 blocks of 44 bytes, ended */
#include <atomic>
#include <thread>

#include "scope_use.h"

NOINLINE static void
worked()
{
    for (int i = 0; i < 10; i++)
        operator delete[](kept(operator new[](44)));
    __asm__ volatile("");
}

static struct workers {
    std::atomic<bool> stop{false};
    std::thread thread{[this] {
        while (!stop)
            std::this_thread::yield();
        worked();
    }};
    ~workers()
    {
        stop = true;
        thread.join();
    }
} workers;
