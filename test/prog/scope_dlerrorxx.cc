/* cflags: -fno-builtin */
/* libs: -ldl */
/* scope_dlerrorxx.cc: check that the text of dlerror() survives the first call of each form of an
 * operator.
 *
 *     scope_dlerrorxx new|array|nothrow|aligned|sized|throw */
#include <dlfcn.h>
#include <string.h>

#include <new>
#include <stdexcept>

#include "scope.h"

static void
fails()
{
    if (dlopen("/dev/null/libscope.so", RTLD_NOW) != nullptr)
        abort();
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    std::align_val_t align = std::align_val_t(64);
    void *p = strcmp(what, "sized") == 0 ? kept(operator new(10)) : nullptr;
    const char *message;

    fails();
    if (strcmp(what, "throw") == 0) {
        try {
            throw std::runtime_error(dlerror());
        } catch (const std::exception &e) {
            say("caught: %s\n", e.what());
        }
        return 0;
    }
    if (strcmp(what, "new") == 0)
        operator delete(kept(operator new(100)));
    else if (strcmp(what, "array") == 0)
        operator delete[](kept(operator new[](100)));
    else if (strcmp(what, "nothrow") == 0)
        operator delete(kept(operator new(100, std::nothrow)), std::nothrow);
    else if (strcmp(what, "aligned") == 0)
        operator delete(kept(operator new(100, align)), align);
    else
        operator delete(p, 10);
    message = dlerror();
    say("%s: %s\n", what, message != nullptr ? message : "nothing");
    return 0;
}
