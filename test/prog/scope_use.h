/* scope_use.h: call the operators, in C++. The output names the provider of the operator that each
 * call reaches, since a provider prints its id. A copy of libstdc++ prints nothing, so `probe`
 * identifies it by the handler that a failing new calls.
 *
 *     use       10 blocks by all forms of new, ended by all forms of delete: 478 bytes
 *     table     3 blocks allocated and deleted through pointers to operators, in data and in code:
 *               20 bytes
 *     leave     3 blocks of 1,000 bytes that stay
 *     probe     4 calls that fail; their exceptions are blocks as well
 *     create, destroy   1 block of 100 bytes, by jumps, so that the caller has no frame
 *     take      frees a foreign block
 *
 * With USE_CALLS_ONLY, `table` is missing, and only calls refer to operators. */
#ifndef SCOPE_USE_H
#define SCOPE_USE_H

#include <dlfcn.h>
#include <string.h>

#include <new>

#include "scope.h"

#define USE_STEP(how, make, end_how, end)                                                          \
    do {                                                                                           \
        say("  " how);                                                                             \
        p = kept(make);                                                                            \
        memset(p, 1, 4);                                                                          \
        say(", " end_how);                                                                         \
        end;                                                                                       \
        say("\n");                                                                                 \
    } while (0)

struct use_object {
    char bytes[100];
};

static void
use_handler()
{
    Dl_info info;
    const char *name = "?";

    if (dladdr(__builtin_return_address(0), &info) != 0) {
        const char *slash = strrchr(info.dli_fname, '/');

        name = slash != NULL ? slash + 1 : info.dli_fname;
    }
    say(" <%s>", name);
    throw std::bad_alloc();
}

extern "C" {

SHOWN void
use()
{
    std::align_val_t align = std::align_val_t(64);
    void *p;

    USE_STEP("new", operator new(10), "delete", operator delete(p));
    USE_STEP("new[]", operator new[](20), "delete[]", operator delete[](p));
    USE_STEP("new nothrow", operator new(32, std::nothrow), "delete nothrow",
             operator delete(p, std::nothrow));
    USE_STEP("new[] nothrow", operator new[](40, std::nothrow), "delete[] nothrow",
             operator delete[](p, std::nothrow));
    USE_STEP("new aligned", operator new(64, align), "delete aligned", operator delete(p, align));
    USE_STEP("new[] aligned", operator new[](64, align), "delete[] aligned",
             operator delete[](p, align));
    USE_STEP("new", operator new(50), "delete sized", operator delete(p, 50));
    USE_STEP("new[]", operator new[](70), "delete[] sized", operator delete[](p, 70));
    USE_STEP("new aligned nothrow", operator new(64, align, std::nothrow), "delete sized aligned",
             operator delete(p, 64, align));
    USE_STEP("new[] aligned nothrow", operator new[](64, align, std::nothrow),
             "delete[] aligned nothrow", operator delete[](p, align, std::nothrow));
}

#ifndef USE_CALLS_ONLY
static void *(*volatile const use_news[])(size_t) = {operator new, operator new[]};
static void (*volatile const use_deletes[])(void *) = {operator delete, operator delete[]};

SHOWN void
table()
{
    void *(*volatile code_new)(size_t) = operator new;
    void (*volatile code_delete)(void *) = operator delete;
    void *p;

    USE_STEP("new by pointer", use_news[0](4), "delete", use_deletes[0](p));
    USE_STEP("new[] by pointer", use_news[1](10), "delete[]", use_deletes[1](p));
    USE_STEP("new by code's pointer", code_new(6), "delete", code_delete(p));
}
#endif

static void *use_left[3];

SHOWN void
leave()
{
    say("  leave");
    for (int i = 0; i < 3; i++)
        use_left[i] = kept(operator new(1000));
    say("\n");
}

#define USE_FAIL(how, make)                                                                        \
    do {                                                                                           \
        say("  " how " fails:");                                                                   \
        try {                                                                                      \
            if (kept(make) != nullptr)                                                             \
                say(" it does not");                                                               \
        } catch (const std::bad_alloc &) {                                                         \
            say(" thrown");                                                                        \
        }                                                                                          \
        say("\n");                                                                                 \
    } while (0)

SHOWN void
probe()
{
    volatile size_t many = (size_t)1 << 62;
    std::align_val_t align = std::align_val_t(64);
    std::new_handler before = std::set_new_handler(use_handler);

    USE_FAIL("new", operator new(many));
    USE_FAIL("new[]", operator new[](many));
    USE_FAIL("new nothrow", operator new(many, std::nothrow));
    USE_FAIL("new aligned", operator new(many, align));
    std::set_new_handler(before);
}

SHOWN struct use_object *
create()
{
    return new use_object;
}

SHOWN void
destroy(struct use_object *object)
{
    delete object;
}

SHOWN void
take(void *p)
{
    operator delete(p);
    say("\n"); // The empty statement also prevents a tail call.
}
}

#endif
