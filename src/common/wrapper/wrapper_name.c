/* wrapper_name.c: the names of allocation wrappers.
 *
 * The table lists functions that only obtain memory for their caller, occur in many programs, and
 * have names with no other meaning. Every function of the C++ library qualifies:
 * `vector::_M_realloc_insert` allocates, but readers look for the user code that called it. The
 * allocators of a single program do not belong here, unless their names identify them as such.
 *
 * Some names are wrappers by convention: zmalloc, git__strdup, PyMem_RawMalloc,
 * ztrymalloc_usable_internal. One of their words is a function of malloc's family behind at most a
 * few letters, and the others are qualifiers (raw, usable, try). The first word may also be the
 * name of a library with such an allocator. Any other first word names the allocated object:
 * matrix_calloc and table_realloc belong to a program, and its reader looks for them. A plain
 * "alloc" belongs to the family only behind a qualifier, as in ggc_internal_alloc.
 *
 * Freestanding: the recorder decides by symbols, the tools by demangled names. Both decisions need
 * not agree (format.md 4.3.1). */
#include "wrapper/wrapper_name.h"

#include <string.h>

#include "base/base.h"

// Length of the table's longest word, and number of arbitrary letters allowed in front of "malloc".
enum { WORD_MAX = 16, LETTERS = 3, NAME_MAX_BYTES = 128 };

/* Whole names; with a final star, their beginnings. The order has no meaning. */
static const char *const wrappers[] = {
    // C
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "valloc",
    "pvalloc",
    "strdup",
    "strndup",
    "__strdup",
    "__strndup",
    "wcsdup",
    "__libc_malloc",
    "__libc_calloc",
    "__libc_realloc",
    // Wrappers that heaptap cc puts in front of these (recorder/access)
    "counted_strdup",
    "counted_strndup",
    "counted_wcsdup",
    // heaptap.h
    "heaptap_alloc",
    "heaptap_resize",
    "heaptap_backing",
    // CPython, whose other allocators match by convention, and functions of heaptap's adapter in it
    "gc_alloc",
    "arena_map_get",
    "allocate_from_new_pool",
    "_PyMem_RawWcsdup",
    "_PyObject_New",
    "_PyObject_NewVar",
    "_PyObject_GC_New",
    "_PyObject_GC_NewVar",
    "_PyObject_GC_Resize",
    "PyType_GenericAlloc",
    "_PyType_AllocNoTrack",
    "obj_malloc",
    "obj_calloc",
    "obj_realloc",
    // Redis; its other functions match by convention
    "zcalloc_num",
    // SQLite, embedded in many programs
    "sqlite3MemMalloc",
    "sqlite3MemRealloc",
    "mallocWithAlarm",
    "sqlite3Malloc",
    "sqlite3Realloc",
    "sqlite3_malloc*",
    "sqlite3_realloc*",
    "sqlite3DbMalloc*",
    "sqlite3DbRealloc*",
    "sqlite3MallocZero",
    "sqlite3DbStr*",
    "dbMallocRawFinish",
    // GLib
    "g_malloc*",
    "g_try_malloc*",
    "g_realloc*",
    "g_try_realloc*",
    "g_strdup",
    "g_strndup",
    "g_memdup*",
    "g_slice_alloc*",
    "g_aligned_alloc*",
    // C++: the operators, and the library's own functions
    "operator new",
    "operator new[]",
    "operator delete",
    "operator delete[]",
    "std::*",
    "__gnu_cxx::*",
    "__cxxabiv1::*",
    "__cxa_allocate_exception",
    // Rust
    "__rust_alloc*",
    "__rust_realloc",
    "__rg_alloc*",
    "__rg_realloc",
    "__rdl_alloc*",
    "__rdl_realloc",
    "__rustc::__r*",
    "alloc::alloc::*",
    "alloc::raw_vec::*",
    "<alloc::alloc::Global as core::alloc::Allocator>::*",
    "<alloc::raw_vec::*",
};

static bool
is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static char
to_lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static bool
is_identifier(char c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

/* Return true if NAME equals PATTERN, or begins with it if PATTERN ends in a star. */
static bool
matches_whole(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);

    if (pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

/* Return true if LIST, words with a blank around each, contains the LENGTH bytes at WORD. */
static bool
has_word(const char *list, const char *word, size_t length)
{
    for (const char *at = list; *at != '\0'; at++)
        if (at[0] == ' ' && strncmp(at + 1, word, length) == 0 && at[1 + length] == ' ')
            return true;
    return false;
}

/* Return true if WORD is a function of malloc's family, with at most a library prefix. */
static bool
is_family(const char *word, size_t length)
{
    static const char *const family[] = {"malloc",       "calloc", "realloc", "zalloc", "mallocz",
                                         "reallocarray", "strdup", "strndup", "memdup", "memdupz"};
    static const char prefixes[] = " safe try ztry safesys fast sys ";

    for (size_t i = 0; i < countof(family); i++) {
        size_t bytes = strlen(family[i]);

        if (length < bytes || strncmp(word + length - bytes, family[i], bytes) != 0)
            continue;
        return length - bytes <= LETTERS || has_word(prefixes, word, length - bytes);
    }
    return false;
}

/* Return true if WORD may be the first of a wrapper's name: a qualifier, or the library's name. */
static bool
may_begin(const char *word, size_t length)
{
    static const char how[] =
        " aligned checked cleared debug default die do fail fast fatal impl internal mem nofail "
        "raw real safe sys try x xtry z zero ";
    static const char owners[] =
        " apr ares av bfd bz2 cairo crypto curl dbus ff ft gc gcry gdk ggc git glib gnutls gpg gst "
        "hb isc je jemalloc jv jvp krb5 ldap lua lzma mbedtls mi mono mp mpg my mz nss openssl "
        "ossl pcre pcre2 perl php pl png port pr ptr py rb rpl ruby sdl talloc tc tcl tiff uv vim "
        "wl xml zstd ";

    return has_word(how, word, length) || has_word(owners, word, length);
}

/* Return true if the words of NAME, a plain identifier, mark it as a wrapper of a function of
 * malloc's family. */
static bool
is_named_so(const char *name)
{
    static const char how[] =
        " aligned alloc array checked cleared common debug default die do fail fast fatal gc "
        "impl internal mem n nofail object or raw real safe size sized sys try usable with x z "
        "zero zeroed ";
    char word[WORD_MAX];
    bool found = false, says_how = false;

    for (size_t i = 0, words = 0; name[i] != '\0'; words++) {
        size_t length = 0;

        while (name[i] == '_')
            i++;
        for (; is_identifier(name[i]) && name[i] != '_'; i++) {
            if (length > 0 && is_upper(name[i]) &&
                !is_upper(name[i - 1]))
                break;
            if (length == sizeof word)
                return false;
            word[length++] = to_lower(name[i]);
        }
        if (length == 0)
            return found && name[i] == '\0';
        if (is_family(word, length) || (says_how && length == 5 && memcmp(word, "alloc", 5) == 0))
            found = true;
        else if (words > 0 ? !has_word(how, word, length) : !may_begin(word, length))
            return false;
        says_how = words > 0;
    }
    return found;
}

/* Return true if NAME contains WORD, which is in lower case, in any case. */
static bool
contains(const char *name, const char *word)
{
    for (; *name != '\0'; name++) {
        size_t i = 0;

        while (word[i] != '\0' && to_lower(name[i]) == word[i])
            i++;
        if (word[i] == '\0')
            return true;
    }
    return false;
}

bool
wrapper_name_is(const char *name)
{
    for (size_t i = 0; i < countof(wrappers); i++)
        if (wrappers[i][0] == name[0] && matches_whole(wrappers[i], name))
            return true;
    // Each name of the family contains "alloc" or "dup".
    return (contains(name, "alloc") || contains(name, "dup")) && is_named_so(name);
}

/* Beginnings of linkage names of functions that the table lists by their scopes. */
static const char *const scopes[] = {
    "_Znw",   "_Zna",  "_ZSt",  "_ZNSt", "_ZNKSt", "_ZNSa", "_ZNSs", "_ZNKSs", "_ZN9__gnu_cxx",
    "_ZNK9__gnu_cxx", "_ZN10__cxxabiv1", "_ZN5alloc5alloc", "_ZN5alloc7raw_vec",
};

bool
wrapper_symbol_is(const char *symbol)
{
    char name[NAME_MAX_BYTES];
    size_t length = 0;

    if (symbol[0] == '_' && symbol[1] == 'Z') {
        for (size_t i = 0; i < countof(scopes); i++)
            if (strncmp(symbol, scopes[i], strlen(scopes[i])) == 0)
                return true;
        return false;
    }
    // A compiler's suffix, as in xmalloc.part.0, is not part of the name.
    for (; is_identifier(symbol[length]); length++) {
        if (length + 1 == sizeof name)
            return false;
        name[length] = symbol[length];
    }
    name[length] = '\0';
    return length > 0 && wrapper_name_is(name);
}
