/* libscope_starts.cc: a plug-in whose constructor and destructor wait for a thread that uses
 * operators, while the dynamic linker holds its lock.
 *
 *     worked    10 blocks of 44 bytes, ended; twice */
#include <thread>

#include "scope_use.h"

NOINLINE static void
worked()
{
    for (int i = 0; i < 10; i++)
        operator delete[](kept(operator new[](44)));
    __asm__ volatile("");
}

static struct starts {
    starts() { std::thread(worked).join(); }
    ~starts() { std::thread(worked).join(); }
} starts;
