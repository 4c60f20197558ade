/* libs: -lpthread */
/* walked.cc: an unrecorded program with known blocks, reached and lost.
 *
 *   walked [die]
 *
 * Each of three threads and main() loses 123 blocks of 500 bytes, 77 objects of a class template
 * and 11 objects of a derived class. Each of these 11 has the only pointer to a string of 47 bytes.
 * main() keeps 500 objects of either class. Prints "ready" and waits for a line, or aborts. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace shop {
struct Item {
    virtual ~Item() {}
    char space[40];
};
struct Book : Item {
    std::string title = std::string(47, 'x');
};
} // namespace shop

template <class T> struct Cache {
    virtual void touch() {}
    T values[10];
};

static std::vector<shop::Item *> kept;
static void *volatile last;

__attribute__((noinline)) static void
lose()
{
    for (int i = 0; i < 11; i++)
        last = new shop::Book;
    for (int i = 0; i < 77; i++)
        last = new Cache<double>;
    for (int i = 0; i < 123; i++)
        last = memset(malloc(500), 1, 500);
    last = nullptr;
}

/* Overwrite the remains of calls on the stack. */
__attribute__((noinline)) static void
clear_stack()
{
    volatile char space[1 << 16];

    memset(const_cast<char *>(space), 0, sizeof space);
}

static void
lose_and_clear()
{
    lose();
    clear_stack();
}

int
main(int argc, char **)
{
    kept.reserve(1000);
    for (int i = 0; i < 500; i++) {
        kept.push_back(new shop::Item);
        kept.push_back(new shop::Book);
    }
    for (int i = 0; i < 3; i++)
        std::thread(lose_and_clear).join();
    lose_and_clear();
    puts("ready");
    fflush(stdout);
    if (argc > 1)
        abort();
    getchar();
    return 0;
}
