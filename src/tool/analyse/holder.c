/* holder.c: who held the most at the peak, in one line.
 *
 * The innermost frame of most stacks is of a container or of libc, which the reader did not write
 * and cannot change. So a stack is charged to the first frame that is the user's own: by module,
 * because a runtime is a library, and by name, because templates of the standard library are
 * compiled into the program.
 *
 * A function is known by its name and module: its lines differ from stack to stack.
 */
#include "analyse/holder.h"

#include <string.h>

#include "util/map.h"
#include "util/path.h"

static bool
is_runtime(const char *path)
{
    static const char *const names[] = {"libc.so",     "libstdc++.so", "libc++.so",  "libc++abi.so",
                                        "libgcc_s.so", "libm.so",      "libpthread", "ld-linux",
                                        "libheaptap",  "[vdso]",       "libc-2."};
    const char *base = path_basename(path);

    for (size_t i = 0; i < countof(names); i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Where the name of FUNCTION begins, behind a return type that templates have. */
static const char *
without_type(const char *function)
{
    const char *name = function;
    int depth = 0;

    for (const char *c = function; *c != '\0' && *c != '('; c++) {
        depth += *c == '<';
        depth -= *c == '>' && depth > 0;
        if (*c == ' ' && depth == 0)
            name = c + 1;
    }
    return name;
}

static bool
is_of_standard_library(const char *function)
{
    static const char *const scopes[] = {"std::",   "__gnu_cxx::", "core::",     "alloc::",
                                         "<alloc:", "<core:",      "operator new"};
    const char *names[] = {function, without_type(function)};

    for (size_t k = 0; k < countof(names); k++)
        for (size_t i = 0; i < countof(scopes); i++)
            if (strncmp(names[k], scopes[i], strlen(scopes[i])) == 0)
                return true;
    return false;
}

uint32_t
holder_frame(const struct profile *p, const struct stack *s)
{
    for (uint32_t i = 0; i < s->depth; i++) {
        const struct profile_frame *f = &p->frames[s->frames[i]];

        if (f->function != 0 && !is_runtime(p->modules[f->module].path) &&
            !is_of_standard_library(profile_string(p, f->function)))
            return i;
    }
    return 0;
}

bool
holder_of_peak(const struct profile *p, const struct stacks *stacks, struct holder *ret)
{
    struct map known = {0}; // Function and module, or an address without a name, to their sum.
    int64_t most = 0;

    for (size_t i = 0; i < stacks->count && !stacks->total.partial; i++) {
        const struct stack *s = &stacks->v[i];
        const struct profile_frame *f;
        uint64_t key, *sum;
        uint32_t at;

        if (s->depth == 0)
            continue;
        at = holder_frame(p, s);
        f = &p->frames[s->frames[at]];
        key = f->function != 0 ? (uint64_t)f->module << 32 | f->function
                               : UINT64_C(1) << 63 | s->locations[at];
        sum = map_put(&known, key, NULL);
        *sum += (uint64_t)s->counters.peak_bytes;
        if ((int64_t)*sum > most) {
            most = (int64_t)*sum;
            *ret = (struct holder){s->frames[at], s->locations[at], most};
        }
    }
    map_release(&known);
    return most > 0;
}
