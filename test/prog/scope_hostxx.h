/* scope_hostxx.h: scope_host.h for programs in C++, which use the operators themselves. */
#ifndef SCOPE_HOSTXX_H
#define SCOPE_HOSTXX_H

#include "scope_use.h"

#include "scope_host.h"

static void *
host_own(const char *function)
{
    static const struct {
        const char *name;
        void *function;
    } own[] = {
        {"use", (void *)use},         {"table", (void *)table},   {"leave", (void *)leave},
        {"probe", (void *)probe},     {"create", (void *)create}, {"take", (void *)take},
        {"destroy", (void *)destroy},
    };

    for (const auto &o : own) {
        if (strcmp(o.name, function) == 0)
            return o.function;
    }
    return nullptr;
}

NOINLINE static void *
host_makes()
{
    return kept(operator new(200));
}

#endif
