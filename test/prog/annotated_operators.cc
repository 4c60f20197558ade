/* annotated_operators.cc: the C++ operators in all their forms, mixed with malloc and free, and
 * used by containers and exceptions. Prints its results; exits with 1 if an alignment is wrong. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

struct alignas(64) aligned {
    char bytes[200];
};

struct counted {
    int a;
    ~counted() { a = 1; }
};

static bool
is_aligned(const void *p, std::uintptr_t align)
{
    return reinterpret_cast<std::uintptr_t>(p) % align == 0;
}

static bool
forms()
{
    bool good = true;

    for (int i = 0; i < 100; i++) {
        aligned *many = new aligned[i + 1], *one = new aligned;

        good = good && is_aligned(many, 64) && is_aligned(one, 64);
        delete[] many;
        delete one;
        delete[] new counted[5];
    }
    void *p = ::operator new(10, std::nothrow);
    ::operator delete(p, std::nothrow);
    p = ::operator new(10, std::align_val_t(4096));
    good = good && is_aligned(p, 4096);
    ::operator delete(p, 10, std::align_val_t(4096));
    return good;
}

int
main()
{
    std::map<std::string, std::vector<int>> m;
    volatile std::size_t much = SIZE_MAX / 4;

    for (int i = 0; i < 2000; i++)
        m[std::to_string(i)].assign(i % 50, i);
    for (int i = 0; i < 2000; i += 2)
        m.erase(std::to_string(i));
    if (!forms())
        return 1;
    try {
        std::puts(new char[much] != nullptr ? "memory" : "none");
    } catch (const std::bad_alloc &) {
        std::puts("bad_alloc");
    }
    try {
        throw std::string("thrown");
    } catch (const std::string &e) {
        std::puts(e.c_str());
    }
    std::printf("%zu %d\n", m.size(), *std::make_shared<int>(3));
    return 0;
}
