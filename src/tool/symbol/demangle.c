/* demangle.c: the only caller of libiberty's demanglers.
 *
 * The prefix selects the language: _R is Rust's current mangling, _Z is C++ or Rust's older
 * mangling, _D is D. The older Rust mangling ends in a hash, which the Rust demangler checks, so
 * the Rust demangler runs first. The result omits the hash, because it identifies the compilation
 * and not the function.
 *
 * A version suffix is only recognised after a letter, digit or '_', because assemblers create
 * labels with '@'. Names longer than MANGLED_MAX are returned unchanged, and so are names that the
 * demangler rejects. */
#include "symbol/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

// Maximum length of a mangled name, which may become much longer. The longest names seen, in
// browsers, have about 20 KB.
enum { MANGLED_MAX = 64 * 1024 };

static char *
demangle_demangled(const char *name)
{
    const int style = DMGL_PARAMS | DMGL_ANSI;
    char *text = NULL;

    if (name[0] != '_')
        return NULL;
    if (name[1] == 'R' || name[1] == 'Z')
        text = rust_demangle(name, style);
    if (text == NULL && name[1] == 'Z')
        text = cplus_demangle_v3(name, style);
    if (text == NULL && name[1] == 'D')
        text = dlang_demangle(name, style);
    return text;
}

const char *
demangle(struct arena *arena, const char *linkage)
{
    size_t length = strnlen(linkage, MANGLED_MAX);
    size_t base = strcspn(linkage, "@");
    bool versioned = base != 0 && base != length && (isalnum((unsigned char)linkage[base - 1])
                                                     || linkage[base - 1] == '_');
    char *text;

    if (length == MANGLED_MAX)
        return linkage;
    if (versioned)
        linkage = arena_strndup(arena, linkage, base);
    text = demangle_demangled(linkage);
    if (text == NULL)
        return linkage;
    linkage = arena_strdup(arena, text);
    free(text);
    return linkage;
}

const char *
demangle_strip_clone(struct arena *arena, const char *linkage)
{
    size_t base = strcspn(linkage, ".");

    if (base == 0 || linkage[base] == '\0')
        return linkage;
    return arena_strndup(arena, linkage, base);
}
