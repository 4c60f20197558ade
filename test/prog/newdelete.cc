/* cflags: -std=c++17 -O1 -fno-builtin */
/* newdelete.cc: call every form of operator new and delete, each in a function named after it.
 *
 *     function           allocations  bytes   form
 *     plain                        1     24   new / delete
 *     array                        1     60   new[] / delete[]
 *     nothrow                      2     70   new(nothrow) 30 and new[](nothrow) 40
 *     aligned                      2    150   new(align 64) 50, new[](align 128) 100
 *     aligned_nothrow              2     33   11 and 22
 *     sized                        2     90   deleted by the sized forms, 40 and 50
 *     zero                         1      0   operator new(0)
 *     handler                      1    500   a failing new whose handler makes room: counted once
 *     in all under main           12    927   all freed
 *
 * `failing` requests more than there is, by the throwing form (it catches bad_alloc) and by the
 * nothrow form (NULL). Neither counts as an allocation, but the exception comes from malloc: 1
 * block under `failing`, freed. No block may be counted twice, although operator new calls
 * malloc. */
#include <cstdint>
#include <cstdlib>
#include <new>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

static void *volatile sink;

static void
check(bool good)
{
    if (!good)
        _exit(99);
}

OWN static void
plain()
{
    void *p = operator new(24);

    sink = p;
    operator delete(p);
}

OWN static void
array()
{
    void *p = operator new[](60);

    sink = p;
    operator delete[](p);
}

OWN static void
nothrow()
{
    void *p = operator new(30, std::nothrow);
    void *q = operator new[](40, std::nothrow);

    operator delete(p, std::nothrow);
    operator delete[](q, std::nothrow);
}

OWN static void
aligned()
{
    void *p = operator new(50, std::align_val_t(64));
    void *q = operator new[](100, std::align_val_t(128));

    check((uintptr_t)p % 64 == 0 && (uintptr_t)q % 128 == 0);
    operator delete(p, std::align_val_t(64));
    operator delete[](q, 100, std::align_val_t(128));
}

OWN static void
aligned_nothrow()
{
    void *p = operator new(11, std::align_val_t(32), std::nothrow);
    void *q = operator new[](22, std::align_val_t(32), std::nothrow);

    operator delete(p, std::align_val_t(32), std::nothrow);
    operator delete[](q, std::align_val_t(32), std::nothrow);
}

OWN static void
sized()
{
    void *p = operator new(40);
    void *q = operator new[](50);

    operator delete(p, 40);
    operator delete[](q, 50);
}

OWN static void
zero()
{
    void *p = operator new(0);

    check(p != nullptr);
    operator delete(p);
    operator delete(nullptr);
    operator delete[](nullptr, 10);
}

static void
give_up()
{
    std::set_new_handler(nullptr);
}

OWN static void
handler()
{
    const size_t too_much = PTRDIFF_MAX - 4096;
    bool caught = false;

    std::set_new_handler(give_up);
    try {
        sink = operator new(too_much);
    } catch (const std::bad_alloc &) {
        caught = true;
    }
    check(caught && std::get_new_handler() == nullptr);
    void *p = operator new(500);
    operator delete(p);
}

OWN static void
failing()
{
    const size_t too_much = PTRDIFF_MAX - 4096;
    bool caught = false;

    try {
        sink = operator new(too_much);
    } catch (const std::bad_alloc &) {
        caught = true;
    }
    check(caught);
    check(operator new[](too_much, std::nothrow) == nullptr);
}

int
main()
{
    plain();
    array();
    nothrow();
    aligned();
    aligned_nothrow();
    sized();
    zero();
    handler();
    failing();
    return 0;
}
