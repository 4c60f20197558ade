/* scopes.cc: a function template in a namespace, a method of a class without a name outside this
 * file, and a function that is local to it. Each label stands for the code that its name
 * describes. */
#include <cstddef>

namespace zoo {

template <class T> struct Cage {
    T animal;
};

template <class T>
__attribute__((noinline)) std::size_t
feed(Cage<T> const &cage, T more)
{
    __asm__ volatile(".globl mark_feed\nmark_feed: nop" : : "r"(&cage)); // LINE:feed
    return static_cast<std::size_t>(cage.animal + more);
}

namespace {

struct Keeper {
    int keys;
    int open(int door);
};

static inline __attribute__((always_inline)) int
knock(int door)
{
    __asm__ volatile(".globl mark_knock\nmark_knock: nop" : "+r"(door)); // LINE:knock
    return door + 1;
}

__attribute__((noinline)) int
Keeper::open(int door)
{
    keys += knock(door); // LINE:open
    return keys;
}

} // namespace
} // namespace zoo

int
main(int argc, char **)
{
    zoo::Keeper keeper = { argc };
    zoo::Cage<long> cage = { argc };

    return static_cast<int>(zoo::feed(cage, 3L)) + keeper.open(argc);
}
