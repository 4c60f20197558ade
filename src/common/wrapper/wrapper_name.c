/* wrapper_name.c: the names of allocation wrappers.
 *
 * The table lists functions that only obtain memory for their caller, occur in many programs, and
 * have names with no other meaning. Every function of the C++ library qualifies, and so does every
 * function of Rust's library: `vector::_M_realloc_insert` allocates, but readers look for the user
 * code that called it. In other libraries, allocation functions and the inner parts of containers
 * qualify, and so does the operator new of any class. The allocators of a single program do not
 * belong here, unless their names identify them as such.
 *
 * Some names are wrappers by convention: zmalloc, git__strdup, PyMem_RawMalloc,
 * ztrymalloc_usable_internal. One of their words is a function of malloc's family behind at most a
 * few letters, and the others are qualifiers (raw, usable, try). The first word may also be the
 * name of a library with such an allocator. Any other first word names the allocated object:
 * matrix_calloc and table_realloc belong to a program, and its reader looks for them. A plain
 * "alloc" belongs to the family only behind a qualifier, as in ggc_internal_alloc.
 *
 * Rust's names have three forms. Those of an impl begin with its type or with both type and trait:
 *
 *     alloc::vec::Vec<T,A>::push               legacy mangling; a path
 *     <alloc::vec::Vec<u64>>::push             v0; the path of the type
 *     <u8 as alloc::vec::SpecFromElem>::from   a trait of the library, implemented for any type
 *
 * A trait of core (Clone, Iterator) decides only for types without a path (u8): programs implement
 * these traits for their own types.
 *
 * Freestanding: the recorder decides by symbols, the tools by demangled names. Symbols are compared
 * with the same table, component by component, because demangling needs memory. A symbol of Rust's
 * v0 mangling names a crate, which decides alone. Both decisions need not agree
 * (format.md 4.3.1). */
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
    // PHP; its other functions match by convention
    "_emalloc_*",
    "_zend_mm_alloc*",
    "_zend_mm_realloc*",
    "zend_mm_alloc*",
    "zend_mm_realloc*",
    "zend_hash_real_init*",
    "zend_hash_extend",
    "zend_hash_do_resize",
    "zend_hash_packed_grow",
    "zend_hash_packed_fgrow",
    "zend_hash_packed_to_hash",
    "_zend_new_array*",
    "smart_str_erealloc",
    "smart_str_ferealloc",
    "smart_str_frealloc",
    "smart_str_realloc",
    // Ruby
    "ruby_xmalloc*",
    "ruby_xcalloc*",
    "ruby_xrealloc*",
    "ruby_sized_xrealloc*",
    "rb_xmalloc_mul_add*",
    "rb_xcalloc_mul_add*",
    "rb_xrealloc_mul_add*",
    "rb_alloc_tmp_buffer*",
    "objspace_xmalloc*",
    "objspace_xcalloc*",
    "objspace_xrealloc*",
    // GNU's obstacks, and the containers of GCC, whose own allocator is ggc
    "_obstack_begin*",
    "_obstack_newchunk",
    "ggc_alloc*",
    "ggc_internal_*",
    "va_heap::*",
    "va_gc::*",
    "va_gc_atomic::*",
    "vec::reserve*",
    "vec::safe_grow*",
    "vec::quick_grow*",
    "vec::safe_push*",
    "hash_table::hash_table",
    "hash_table::alloc_entries",
    "hash_table::expand",
    "memory_block_pool::allocate",
    "base_pool_allocator::allocate",
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
    // Rust: the allocator, and modules of its library; a C++ program may have its crates' names
    "__rust_alloc*",
    "__rust_realloc",
    "__rg_alloc*",
    "__rg_realloc",
    "__rdl_alloc*",
    "__rdl_realloc",
    "__rustc::__r*",
    "alloc::alloc::*",
    "alloc::borrow::*",
    "alloc::boxed::*",
    "alloc::collections::*",
    "alloc::ffi::*",
    "alloc::fmt::*",
    "alloc::raw_vec::*",
    "alloc::rc::*",
    "alloc::slice::*",
    "alloc::str::*",
    "alloc::string::*",
    "alloc::sync::*",
    "alloc::vec::*",
    "core::alloc::*",
    "core::array::*",
    "core::clone::*",
    "core::convert::*",
    "core::fmt::*",
    "core::iter::*",
    "core::ops::function::*",
    "core::option::*",
    "core::result::*",
    "core::slice::*",
    "core::str::*",
    "hashbrown::*",
    // LLVM
    "llvm::allocate_buffer",
    "llvm::safe_malloc",
    "llvm::safe_calloc",
    "llvm::safe_realloc",
    "llvm::BumpPtrAllocatorImpl::*",
    "llvm::MallocAllocator::*",
    "llvm::SmallVectorBase::*",
    "llvm::SmallVectorImpl::*",
    "llvm::SmallVectorTemplateBase::*",
    "llvm::SmallVectorTemplateCommon::*",
    "llvm::StringMapImpl::*",
    "llvm::FoldingSetBase::*",
    "llvm::DenseMap::*",
    "llvm::DenseMapBase::*",
    "llvm::SmallDenseMap::*",
    "llvm::User::allocateFixedOperandUser",
    // Qt
    "qMalloc*",
    "qRealloc*",
    "QArrayData::*",
    "QArrayDataPointer::*",
    "QTypedArrayData::*",
    "QListData::*",
    "QHashData::*",
    "QMapDataBase::*",
    // Abseil, whose namespace may have an inner one for the version, lts_20240116
    "absl::base_internal::LowLevelAlloc::*",
    "absl::container_internal::*",
    "absl::cord_internal::*",
    "absl::inlined_vector_internal::*",
    // Folly
    "folly::aligned_malloc",
    "folly::checkedMalloc",
    "folly::checkedCalloc",
    "folly::checkedRealloc",
    "folly::smartRealloc",
    "folly::SysAllocator::*",
    "folly::fbstring_core::*",
    "folly::fbvector::*",
    "folly::small_vector::*",
    "folly::f14::detail::*",
};

/* Crates of Rust's library. */
static const char *const crates[] = {"alloc", "core", "std", "hashbrown", "__rustc"};

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

/* Return the first TEXT in S, or NULL. */
static const char *
find_text(const char *s, const char *text)
{
    size_t length = strlen(text);

    for (; *s != '\0'; s++)
        if (strncmp(s, text, length) == 0)
            return s;
    return NULL;
}

/* Return true if NAME equals PATTERN, or begins with it if PATTERN ends in a star. */
static bool
matches_whole(const char *pattern, const char *name)
{
    static const char absl[] = "absl::", version[] = "lts_";
    size_t length = strlen(pattern);

    if (strncmp(pattern, absl, sizeof absl - 1) == 0 && strncmp(name, absl, sizeof absl - 1) == 0) {
        pattern += sizeof absl - 1;
        name += sizeof absl - 1;
        length -= sizeof absl - 1;
        if (strncmp(name, version, sizeof version - 1) == 0 && find_text(name, "::") != NULL)
            name = find_text(name, "::") + 2;
    }
    if (pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

/* Return true if the path at PATH begins with a crate of Rust's library, followed by SEPARATOR. */
static bool
is_in_library(const char *path, const char *separator)
{
    for (size_t i = 0; i < countof(crates); i++) {
        size_t length = strlen(crates[i]);

        if (strncmp(path, crates[i], length) == 0 &&
            strncmp(path + length, separator, strlen(separator)) == 0)
            return true;
    }
    return false;
}

/* The spelling of an impl's name. */
struct spelling {
    const char *separator, *as;
    const char *before[4]; // Texts in front of the path of a type.
};

static const struct spelling demangled = {"::", " as ", {"&", "mut ", "[", "<"}};
static const struct spelling legacy = {"..", "$u20$as$u20$", {"$RF$", "mut$u20$", "$u5b$", "$LT$"}};

/* Return true if IMPL, in the spelling S, is in Rust's library: its type or, if any type may have
 * it, its trait is of the library. IMPL begins with the type. */
static bool
is_library_impl(const char *impl, const struct spelling *s)
{
    const char *as = find_text(impl, s->as), *path = impl;

    for (size_t i = 0; i < countof(s->before);) {
        size_t length = strlen(s->before[i]);
        bool is_there = strncmp(path, s->before[i], length) == 0;

        path += is_there ? length : 0;
        i = is_there ? 0 : i + 1;
    }
    if (is_in_library(path, s->separator))
        return true;
    if (as == NULL)
        return false;
    // The type of a program has a path.
    path = find_text(impl, s->separator);
    impl = as + strlen(s->as);
    return (path == NULL || path > as) ? is_in_library(impl, s->separator)
                                       : strncmp(impl, "alloc", 5) == 0 &&
                                             is_in_library(impl, s->separator);
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
        "wl xml zend zstd ";

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

/* Return true if NAME is the operator new of a class: "llvm::User::operator new". */
static bool
is_class_operator(const char *name)
{
    static const char text[] = "::operator new";
    const char *found = find_text(name, text);

    return found != NULL && (strcmp(found + sizeof text - 1, "") == 0 ||
                               strcmp(found + sizeof text - 1, "[]") == 0);
}

bool
wrapper_name_is(const char *name)
{
    for (size_t i = 0; i < countof(wrappers); i++)
        if (wrappers[i][0] == name[0] && matches_whole(wrappers[i], name))
            return true;
    if (name[0] == '<') // Only the library has functions of slices and of str.
        return strncmp(name, "<[", 2) == 0 || strncmp(name, "<str>", 5) == 0 ||
               find_text(name, " as <[") != NULL || is_library_impl(name + 1, &demangled);
    if (is_class_operator(name))
        return true;
    // Each name of the family contains "alloc" or "dup".
    return (contains(name, "alloc") || contains(name, "dup")) && is_named_so(name);
}

/* Beginnings of linkage names with abbreviations: operators, and names of std. */
static const char *const abbreviated[] = {
    "_Znw", "_Zna", "_ZSt", "_ZNSt", "_ZNKSt", "_ZNSa", "_ZNSs", "_ZNKSs",
};

/* A component of a name. */
struct part {
    const char *name;
    size_t length;
};

/* Set *RET to the component of a linkage name at SYMBOL, as in "5alloc". Return its end; NULL if
 * there is none. */
static const char *
symbol_part(const char *symbol, struct part *ret)
{
    size_t length = 0;

    while (*symbol >= '0' && *symbol <= '9' && length < NAME_MAX_BYTES)
        length = length * 10 + (size_t)(*symbol++ - '0');
    *ret = (struct part){symbol, length};
    for (size_t i = 0; i < length; i++)
        if (symbol[i] == '\0')
            return NULL;
    return length != 0 ? symbol + length : NULL;
}

static bool
part_is(const struct part *part, const char *text)
{
    return part->length == strlen(text) && memcmp(part->name, text, part->length) == 0;
}

/* Return true if SYMBOL, the components of a linkage name, begins as PATTERN, "a::b::*". The last
 * component of the pattern may end in a star. */
static bool
matches_parts(const char *pattern, const char *symbol)
{
    bool is_absl = strncmp(pattern, "absl::", 6) == 0;

    while (strcmp(pattern, "*") != 0) {
        const char *end = find_text(pattern, "::");
        size_t length = end != NULL ? (size_t)(end - pattern) : strlen(pattern);
        bool is_open = end == NULL && pattern[length - 1] == '*';
        struct part part;

        symbol = symbol_part(symbol, &part);
        if (symbol != NULL && is_absl && part.length > 4 && memcmp(part.name, "lts_", 4) == 0)
            symbol = symbol_part(symbol, &part);
        length -= is_open;
        if (symbol == NULL || (is_open ? part.length < length : part.length != length) ||
            memcmp(part.name, pattern, length) != 0)
            return false;
        if (end == NULL)
            return true;
        pattern = end + 2;
    }
    return true;
}

/* Return true if the first component at SYMBOL names an impl in Rust's library, in the legacy
 * mangling: "_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..clone..Clone$GT$". */
static bool
is_library_impl_symbol(const char *symbol)
{
    static const char opens[] = "_$LT$";
    struct part part;

    return symbol_part(symbol, &part) != NULL && part.length > sizeof opens &&
           memcmp(part.name, opens, sizeof opens - 1) == 0 &&
           is_library_impl(part.name + sizeof opens - 1, &legacy);
}

/* Return true if the crate of SYMBOL, of Rust's v0 mangling behind "_R", belongs to the library. */
static bool
is_library_crate(const char *symbol)
{
    struct part crate;

    // An inner path follows: of a nested name (N and its kind), of generic arguments (I), of an
    // impl (M, X), or the type of a trait's own function (Y).
    while (*symbol != 'C') {
        bool is_impl = *symbol == 'M' || *symbol == 'X';

        if (*symbol == 'N' && symbol[1] != '\0')
            symbol += 2;
        else if (is_impl || *symbol == 'I' || *symbol == 'Y')
            symbol++;
        else
            return false;
        if (is_impl && *symbol == 's') {
            while (is_identifier(*symbol) && *symbol != '_')
                symbol++;
            symbol += *symbol == '_';
        }
    }
    symbol++;
    if (*symbol == 's') {
        while (is_identifier(*symbol) && *symbol != '_')
            symbol++;
        symbol += *symbol == '_';
    }
    if (symbol_part(symbol, &crate) == NULL)
        return false;
    crate.name += crate.name[0] == '_'; // A separator, which the length does not include.
    for (size_t i = 0; i < countof(crates); i++)
        if (part_is(&crate, crates[i]))
            return true;
    return false;
}

/* Return true if SYMBOL, the components of a linkage name, is the operator new of a class without
 * template arguments: "4llvm4UsernwEmj". */
static bool
is_class_operator_symbol(const char *symbol)
{
    struct part part;

    while (symbol != NULL && *symbol >= '0' && *symbol <= '9')
        symbol = symbol_part(symbol, &part);
    return symbol != NULL && (strncmp(symbol, "nwE", 3) == 0 || strncmp(symbol, "naE", 3) == 0);
}

/* Return true if SYMBOL, behind "_Z", is in the table: "N…" for a name with scopes, or a length and
 * a name. */
static bool
is_wrapper_mangled(const char *symbol)
{
    char name[NAME_MAX_BYTES];
    struct part part;

    if (symbol[0] != 'N') {
        if (symbol_part(symbol, &part) == NULL || part.length >= sizeof name)
            return false;
        memcpy(name, part.name, part.length);
        name[part.length] = '\0';
        return wrapper_name_is(name);
    }
    symbol += symbol[1] == 'K' ? 2 : 1;
    if (is_library_impl_symbol(symbol) || matches_parts("std::*", symbol) || // Rust's std.
        is_class_operator_symbol(symbol))
        return true;
    for (size_t i = 0; i < countof(wrappers); i++)
        if (find_text(wrappers[i], "::") != NULL && matches_parts(wrappers[i], symbol))
            return true;
    return false;
}

bool
wrapper_symbol_is(const char *symbol)
{
    char name[NAME_MAX_BYTES];
    size_t length = 0;

    if (symbol[0] == '_' && symbol[1] == 'R' && is_upper(symbol[2]))
        return is_library_crate(symbol + 2);
    if (symbol[0] == '_' && symbol[1] == 'Z') {
        for (size_t i = 0; i < countof(abbreviated); i++)
            if (strncmp(symbol, abbreviated[i], strlen(abbreviated[i])) == 0)
                return true;
        return is_wrapper_mangled(symbol + 2);
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
