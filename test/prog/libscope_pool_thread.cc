/* libscope_pool_thread.cc: a plug-in with a thread that runs until the plug-in's destructor ends
 * it. The thread first uses operators while the destructor waits for it.
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
