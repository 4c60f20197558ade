/* fold.c: built-in table of allocation wrappers.
 *
 * A stack that ends in `operator new` or `xmalloc` does not identify its allocation site. Folding
 * drops the innermost frames that the table below lists, and charges the next frame.
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
 * C++ names are compared without template arguments, parameters and return type, so that one entry
 * covers all instances. fold_plain_name removes them by matching brackets. Brackets behind a dot,
 * as in Python's "f.<locals>.g", are part of the name. */
#include "analyse/fold.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Length of the table's longest word, and number of arbitrary letters allowed in front of "malloc".
enum { FOLD_WORD_MAX = 16, FOLD_LETTERS = 3 };

/* Names of functions. A name that ends in a star matches every name that begins with the rest. The
 * order has no meaning. */
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
    // Wrappers that heaptap cc puts in front of the functions above (recorder/access)
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

/* Return the end of the bracketed text that opens at S, or the end of S if it is not closed. */
static const char *
skip_brackets(const char *s, char opener, char closer)
{
    int depth = 0;

    for (; *s != '\0'; s++) {
        if (*s == opener)
            depth++;
        else if (*s == closer && s[-1] != '-' && --depth == 0)
            return s + 1;
    }
    return s;
}

static bool
is_identifier(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Return the length of "operator" and its symbol at S; 0 if S is none. Prevents reading the
 * symbol's brackets as template or parameter brackets. START is the beginning of the whole name. */
static size_t
fold_operator_length(const char *s, const char *start)
{
    static const char *const symbols[] = {"()", "<<=", ">>=", "<=>", "->*", "<<",
                                          ">>", "->",  "<=",  ">=",  "<",   ">"};

    if (*s != 'o' || strncmp(s, "operator", 8) != 0 || (s > start && is_identifier(s[-1])))
        return 0;
    for (size_t i = 0; i < countof(symbols); i++)
        if (strncmp(s + 8, symbols[i], strlen(symbols[i])) == 0)
            return 8 + strlen(symbols[i]);
    if (s[8] == ' ')
        return 9; // operator new, operator delete: the blank is part of the name.
    return is_identifier(s[8]) ? 0 : 8;
}

/* Return the length of the text at S that is part of a name in spite of its brackets or blanks: an
 * operator, "{lambda(int)#1}", "(anonymous namespace)"; or 0. START is the beginning of the whole
 * name. */
static size_t
kept_length(const char *s, const char *start)
{
    static const char anonymous[] = "(anonymous namespace)";

    if (*s == '{')
        return (size_t)(skip_brackets(s, '{', '}') - s);
    if (strncmp(s, anonymous, sizeof anonymous - 1) == 0)
        return sizeof anonymous - 1;
    return fold_operator_length(s, start);
}

void
fold_plain_name(const char *function, char ret[FOLD_NAME_MAX])
{
    const char *s = function;
    size_t length = 0;
    bool is_rust_impl = *s == '<';

    while (*s != '\0' && length + 1 < FOLD_NAME_MAX) {
        size_t kept_bytes = kept_length(s, function);

        if (kept_bytes > 0) {
            for (; kept_bytes > 0 && length + 1 < FOLD_NAME_MAX; kept_bytes--)
                ret[length++] = *s++;
        } else if (*s == '<' && !is_rust_impl && (s == function || s[-1] != '.')) {
            s = skip_brackets(s, '<', '>');
        } else if (*s == '(') {
            const char *end = skip_brackets(s, '(', ')');

            if (strncmp(end, "::", 2) != 0)
                break; // These are the parameters. Behind those of an outer function comes a scope.
            s = end;
        } else if (*s == ' ' && !is_rust_impl) {
            if (s[1] != '<')
                length = 0; // The text before was the return type, unlike "operator<< <char>".
            s++;
        } else {
            ret[length++] = *s++;
        }
    }
    ret[length] = '\0';
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
fold_has_word(const char *list, const char *word, size_t length)
{
    char wanted[FOLD_WORD_MAX + 3];

    if (length > FOLD_WORD_MAX)
        return false;
    snprintf(wanted, sizeof wanted, " %.*s ", (int)length, word);
    return strstr(list, wanted) != NULL;
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
        return length - bytes <= FOLD_LETTERS || fold_has_word(prefixes, word, length - bytes);
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

    return fold_has_word(how, word, length) || fold_has_word(owners, word, length);
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
    char word[FOLD_WORD_MAX];
    bool found = false, says_how = false;

    for (size_t i = 0, words = 0; name[i] != '\0'; words++) {
        size_t length = 0;

        while (name[i] == '_')
            i++;
        for (; is_identifier(name[i]) && name[i] != '_'; i++) {
            if (length > 0 && isupper((unsigned char)name[i]) &&
                !isupper((unsigned char)name[i - 1]))
                break;
            if (length == sizeof word)
                return false;
            word[length++] = (char)tolower((unsigned char)name[i]);
        }
        if (length == 0)
            return found && name[i] == '\0';
        if (is_family(word, length) || (says_how && length == 5 && memcmp(word, "alloc", 5) == 0))
            found = true;
        else if (words > 0 ? !fold_has_word(how, word, length) : !may_begin(word, length))
            return false;
        says_how = words > 0;
    }
    return found;
}

size_t
fold_alias_length(const char *function)
{
    return strncmp(function, "__GI_", 5) == 0 ? 5 : 0;
}

bool
fold_is_wrapper(const char *function)
{
    char name[FOLD_NAME_MAX];

    fold_plain_name(function + fold_alias_length(function), name);
    for (size_t i = 0; i < countof(wrappers); i++)
        if (wrappers[i][0] == name[0] && matches_whole(wrappers[i], name))
            return true;
    // Each name of the family contains "alloc" or "dup".
    return (strcasestr(name, "alloc") != NULL || strcasestr(name, "dup") != NULL) &&
           is_named_so(name);
}
