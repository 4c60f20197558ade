/* scope_host.h: load, call and unload objects as the program's arguments request, one by one. For C
 * and C++.
 *
 *     NAME=FILE[:FLAGS]   dlopen: l(ocal), g(lobal), d(eepbind), n(oload), z (lazy), m (dlmopen)
 *     NAME.FUNCTION       call its function; for `host`, a function of the program
 *     NAME.tail           its create and destroy
 *     NAME.give           its take, with a block that the program makes (`host_makes`)
 *     NAME!               dlclose
 *     ?SYMBOL             is there such a global symbol? operator new is called (call_found)
 *     NAME?SYMBOL         ... for the object */
#ifndef SCOPE_HOST_H
#define SCOPE_HOST_H

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <string.h>

#include "scope.h"

enum { HOST_PLUGINS = 16 };

struct host_plugin {
    char name[32];
    void *handle;
};

static struct host_plugin host_plugins[HOST_PLUGINS];

static void *host_own(const char *function); // Address of `host.FUNCTION`; NULL = there is none.
static void *host_makes(void);               // A block for `take`.

/* Return the address of FUNCTION in HANDLE; end the program if it is missing. */
static void *
host_find(void *handle, const char *function)
{
    void *f = handle != NULL ? dlsym(handle, function) : host_own(function);

    if (f == NULL) {
        say("no %s\n", function);
        exit(1);
    }
    return f;
}

static int
host_flags(const char *letters)
{
    int flags = strchr(letters, 'z') ? RTLD_LAZY : RTLD_NOW;

    flags |= strchr(letters, 'g') ? RTLD_GLOBAL : RTLD_LOCAL;
    flags |= strchr(letters, 'd') ? RTLD_DEEPBIND : 0;
    flags |= strchr(letters, 'n') ? RTLD_NOLOAD : 0;
    return flags;
}

static struct host_plugin *
host_plugin(const char *name, size_t length)
{
    for (int i = 0; i < HOST_PLUGINS; i++) {
        struct host_plugin *p = &host_plugins[i];

        if (p->name[0] == '\0' && length < sizeof p->name)
            return (struct host_plugin *)memcpy(p, name, length);
        if (strlen(p->name) == length && memcmp(p->name, name, length) == 0)
            return p;
    }
    abort();
}

static void
host_opens(struct host_plugin *p, const char *what)
{
    char file[4096];
    const char *colon = strchr(what, ':');
    const char *letters = colon != NULL ? colon + 1 : "l";

    snprintf(file, sizeof file, "%.*s", (int)strcspn(what, ":"), what);
    p->handle = strchr(letters, 'm') ? dlmopen(LM_ID_NEWLM, file, RTLD_NOW | RTLD_LOCAL)
                                     : dlopen(file, host_flags(letters));
    if (p->handle == NULL) {
        say("%s\n", dlerror());
        exit(1);
    }
    say("%s: open\n", p->name);
}

NOINLINE static void
through_tail(void *handle)
{
    void *(*create)(void) = (void *(*)(void))host_find(handle, "create");
    void (*destroy)(void *) = (void (*)(void *))host_find(handle, "destroy");
    void *p = kept(create());

    memset(p, 1, 100);
    destroy(p);
    say("\n"); // The empty statement also prevents a tail call.
}

NOINLINE static void
call_found(void *(*make)(size_t), void (*end)(void *))
{
    end(kept(make(24)));
    __asm__ volatile("");
}

static void
host_asks(void *handle, const char *symbol)
{
    void *f = dlsym(handle, symbol);
    void *end = dlsym(handle, "_ZdlPv");

    say("  %s: %s", symbol, f != NULL ? "there" : "nobody's");
    if (f != NULL && end != NULL && strcmp(symbol, "_Znwm") == 0)
        call_found((void *(*)(size_t))f, (void (*)(void *))end);
    say("\n");
}

static void
host_calls(void *handle, const char *name, const char *function)
{
    say("%s: %s\n", name, function);
    if (strcmp(function, "tail") == 0)
        through_tail(handle);
    else if (strcmp(function, "give") == 0)
        ((void (*)(void *))host_find(handle, "take"))(host_makes());
    else
        ((void (*)(void))host_find(handle, function))();
}

static void
host_does(const char *what)
{
    size_t length = strcspn(what, "=.!?");
    struct host_plugin *p = length != 0 ? host_plugin(what, length) : NULL;
    const char *rest = what + length + 1;

    switch (what[length]) {
    case '=':
        host_opens(p, rest);
        break;
    case '.':
        host_calls(p->handle, p->name, rest);
        break;
    case '?':
        host_asks(p != NULL ? p->handle : RTLD_DEFAULT, rest);
        break;
    case '!':
        say("%s: close %d\n", p->name, dlclose(p->handle));
        p->handle = NULL;
        break;
    default:
        abort();
    }
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        host_does(argv[i]);
    say("done with glibc %s\n", gnu_get_libc_version());
    return 0;
}

#endif
