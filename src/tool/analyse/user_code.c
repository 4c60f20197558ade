/* user_code.c: find the frame of a stack at which a reader begins.
 *
 * The innermost frame of a stack is often in a library: in fopen, in zlib's inflateInit. A reader
 * can change only user code, which is further out. Debug information does not mark user code, but
 * file locations do.
 *
 * The C and C++ libraries are never user code. If the program lies outside the system directories,
 * a library directly in one of them (where packages install libraries) is not user code either. If
 * the program itself belongs to the system, its user debugs it together with its libraries, so all
 * of them are user code. Plug-ins and language extensions lie deeper in these directories and
 * always are user code.
 *
 * If a function has no name, its named caller is chosen instead, provided it is near and in the
 * same file. */
#include "analyse/user_code.h"

#include <string.h>

#include "analyse/fold.h"
#include "util/path.h"

/* Return the rest of PATH behind the first element of LIST that it begins with; NULL if there is
 * none. */
static const char *
after_any(const char *path, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(path, list[i], strlen(list[i])) == 0)
            return path + strlen(list[i]);
    return NULL;
}

bool
user_code_is_runtime(const char *path)
{
    static const char *const names[] = {
        "libc.so", "libc-2",       "libc.musl",  "ld-linux",  "ld-musl",
        "ld-2",    "libstdc++.so", "libc++.s",   "libc++abi", "libgcc_s",
        "libm.so", "libm-2",       "libdl.so",   "libdl-2",   "librt.so",
        "librt-2", "libpthread",   "libatomic.", "[vdso]",    "libheaptap",
    };

    return after_any(path_basename(path), names, countof(names)) != NULL;
}

/* Return true if PATH is a library directly in a system directory or in its subdirectory for an
 * architecture, such as /usr/lib/x86_64-linux-gnu/libz.so.1. */
static bool
is_system_library(const char *path)
{
    static const char *const directories[] = {"/usr/lib64/", "/usr/lib/", "/lib64/", "/lib/"};
    const char *rest = after_any(path, directories, countof(directories));
    const char *slash = rest ? strchr(rest, '/') : NULL;

    if (rest == NULL || strncmp(path_basename(path), "lib", 3) != 0)
        return false;
    if (slash == NULL)
        return true;
    return strchr(slash + 1, '/') == NULL && memmem(rest, (size_t)(slash - rest), "-linux-", 7);
}

static bool
is_system_program(const char *path)
{
    static const char *const places[] = {"/usr/bin/", "/usr/sbin/", "/usr/lib", "/bin/", "/sbin/"};

    return after_any(path, places, countof(places)) != NULL;
}

void
user_code_init(struct user_code *own, const struct profile *p, struct arena *arena)
{
    bool all = is_system_program(p->process.executable);

    own->p = p;
    own->kinds = arena_alloc(arena, p->module_count);
    own->interpreters = arena_array(arena, p->module_count, sizeof *own->interpreters);
    for (size_t i = 0; i < p->location_count; i++)
        own->interpreters[p->locations[i].module] |= p->locations[i].runtime;
    for (size_t i = 0; i < p->module_count; i++) {
        const char *path = p->modules[i].path;

        if (user_code_is_runtime(path))
            own->kinds[i] = CODE_RUNTIME;
        else
            own->kinds[i] = all || !is_system_library(path) ? CODE_USER : CODE_LIBRARY;
    }
}

/* Return the index of the nearest frame with a name in frame I's module, from I of S outwards; I if
 * none is near. */
static uint32_t
named_near(const struct profile *p, const struct stack *s, uint32_t i, uint32_t depth)
{
    for (uint32_t k = i; k < depth && k <= i + USER_CODE_FRAMES; k++) {
        const struct profile_frame *f = &p->frames[s->frames[k]];

        if (f->module != p->frames[s->frames[i]].module)
            break;
        if (f->function != 0)
            return k;
    }
    return i;
}

uint32_t
user_code_frame(const struct user_code *own, const struct stack *s)
{
    uint32_t depth = stack_useful_depth(own->p, s);

    for (int kind = CODE_USER; kind > CODE_RUNTIME; kind--)
        for (uint32_t i = 0; i < depth; i++)
            if (own->kinds[own->p->frames[s->frames[i]].module] >= kind)
                return named_near(own->p, s, i, depth);
    return 0;
}

/* Return the number of innermost frames of S that are wrappers. If recursion was folded, the depths
 * do not show that number, so the names decide. */
static uint32_t
wrapper_depth(const struct profile *p, const struct stack *s)
{
    uint32_t n = 0;

    if (!s->recursion_folded)
        return s->folded_depth != 0 && s->depth > s->folded_depth ? s->depth - s->folded_depth : 0;
    while (n + 1 < s->depth &&
           fold_is_wrapper(profile_string(p, p->frames[s->frames[n]].function)))
        n++;
    return n;
}

uint32_t
user_code_frame_unfolded(const struct user_code *own, const struct stack *s)
{
    struct stack folded = *s;
    uint32_t wrappers = wrapper_depth(own->p, s);

    folded.frames += wrappers;
    folded.locations += wrappers;
    folded.depth -= wrappers;
    folded.useful_depth = 0;
    return wrappers + user_code_frame(own, &folded);
}
