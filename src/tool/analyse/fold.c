/* fold.c: the built-in table of allocation wrappers.
 *
 * A stack that ends in `operator new` or `xmalloc` says nothing about who wanted the memory. The
 * innermost frames of a stack are dropped as long as they are in the table below, and the next one
 * is charged.
 *
 * What belongs in the table: functions whose only purpose is to obtain memory for their caller,
 * that are common to many programs, and whose names mean nothing else. What does not: the growth of
 * containers (vector::_M_realloc_insert tells something) and the allocators of one program (users
 * have --fold).
 *
 * C++ names are compared without template arguments, parameters and return type, so that one line
 * covers all instances; fold_plain_name does that by looking at brackets only.
 */
#include "analyse/fold.h"

#include <ctype.h>
#include <string.h>

/* Plain names, or their start before a final star. The order means nothing. */
static const char *const wrappers[] = {
    // C
    "malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "posix_memalign",
    "memalign", "valloc", "pvalloc", "strdup", "strndup", "__strdup", "__strndup", "wcsdup",
    "__libc_malloc", "__libc_calloc", "__libc_realloc",
    // C, by convention
    "xmalloc", "xcalloc", "xzalloc", "xrealloc", "xreallocarray", "xnmalloc", "xstrdup",
    "xstrndup", "xmemdup", "safe_malloc", "safe_calloc", "safe_realloc", "safe_strdup",
    "checked_malloc", "checked_realloc", "emalloc", "ecalloc", "erealloc", "estrdup",
    "do_xmalloc", "do_xmallocz", "xmallocz", "xmemdupz",
    // heaptap.h
    "heaptap_alloc", "heaptap_resize", "heaptap_backing",
    // SQLite, which is inside of so many programs
    "sqlite3MemMalloc", "sqlite3MemRealloc", "mallocWithAlarm", "sqlite3Malloc",
    "sqlite3Realloc", "sqlite3_malloc*", "sqlite3_realloc*", "sqlite3DbMalloc*",
    "sqlite3DbRealloc*", "sqlite3MallocZero", "sqlite3DbStr*", "dbMallocRawFinish",
    // GLib
    "g_malloc*", "g_try_malloc*", "g_realloc*", "g_try_realloc*", "g_strdup", "g_strndup",
    "g_memdup*", "g_slice_alloc*", "g_aligned_alloc*",
    // C++: the operators and the allocators beneath containers
    "operator new", "operator new[]", "operator delete", "operator delete[]",
    "__gnu_cxx::new_allocator::*", "__gnu_cxx::__alloc_traits::*", "__gnu_cxx::__detail::*",
    "__gnu_cxx::__aligned_buffer::*", "std::__new_allocator::*", "std::allocator::*",
    "std::allocator_traits::*", "std::__allocator_traits_base::*", "std::__1::allocator::*",
    "std::__1::allocator_traits::*", "std::__1::__libcpp_allocate*",
    "std::__1::__allocate_at_least*", "std::__1::__libcpp_operator_new*",
    "std::_Vector_base::*", "std::_Bvector_base::*", "std::_Deque_base::*",
    "std::__cxx11::_List_base::*", "std::_List_base::*", "std::_Fwd_list_base::*",
    "std::_Rb_tree::_M_get_node", "std::_Rb_tree::_M_create_node",
    "std::_Rb_tree::_Auto_node::*", "std::__cxx11::list::_M_get_node",
    "std::__cxx11::list::_M_create_node", "std::__detail::_Hashtable_alloc::*",
    "std::__detail::_ReuseOrAllocNode::*", "std::_Hashtable::_M_allocate_node",
    "std::_Hashtable::_M_allocate_buckets", "std::_Hashtable::_Scoped_node::*",
    "std::__cxx11::basic_string::_M_create", "std::__cxx11::basic_string::_M_construct",
    "std::__cxx11::basic_string::_S_allocate", "std::basic_string::_Rep::_S_create",
    "std::get_temporary_buffer", "std::pmr::new_delete_resource*",
    // C++: making one object
    "std::make_unique", "std::make_shared", "std::allocate_shared", "std::__allocate_guarded*",
    "std::__shared_count::__shared_count", "std::__shared_ptr::__shared_ptr",
    "std::shared_ptr::shared_ptr", "std::__1::make_unique", "std::__1::make_shared*",
    "std::__1::allocate_shared*",
    // Rust
    "__rust_alloc*", "__rust_realloc", "__rg_alloc*", "__rg_realloc", "__rdl_alloc*",
    "__rdl_realloc", "__rustc::__r*", "alloc::alloc::*", "alloc::raw_vec::*", "std::alloc::*",
    "std::sys::alloc::*", "<alloc::alloc::Global as core::alloc::Allocator>::*",
    "<alloc::raw_vec::*",
};

/* The end of the bracketed text that opens at S, or S's end when it does not close. */
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

/* The length of "operator" and its symbol at S, so that its brackets are not taken for others; 0 if
 * S is none. START is the beginning of the whole name. */
static size_t
operator_length(const char *s, const char *start)
{
    static const char *const symbols[] = {"()", "<<=", ">>=", "<=>", "->*", "<<",
                                          ">>", "->",  "<=",  ">=",  "<",   ">"};

    if (strncmp(s, "operator", 8) != 0 || (s > start && is_identifier(s[-1])))
        return 0;
    for (size_t i = 0; i < countof(symbols); i++)
        if (strncmp(s + 8, symbols[i], strlen(symbols[i])) == 0)
            return 8 + strlen(symbols[i]);
    if (s[8] == ' ')
        return 9; // operator new, operator delete: the blank is part of the name.
    return is_identifier(s[8]) ? 0 : 8;
}

void
fold_plain_name(const char *function, char ret[FOLD_NAME_MAX])
{
    const char *s = function;
    size_t length = 0;
    bool is_rust_impl = *s == '<';

    while (*s != '\0' && length + 1 < FOLD_NAME_MAX) {
        size_t operator_bytes = operator_length(s, function);

        if (operator_bytes > 0) {
            for (; operator_bytes > 0 && length + 1 < FOLD_NAME_MAX; operator_bytes--)
                ret[length++] = *s++;
        } else if (*s == '<' && !is_rust_impl) {
            s = skip_brackets(s, '<', '>');
        } else if (*s == '(') {
            const char *end = skip_brackets(s, '(', ')');

            if (strncmp(end, "::", 2) != 0)
                break; // The parameters; a scope follows "(anonymous namespace)" and local
                       // functions.
            s = end;
        } else if (*s == ' ' && !is_rust_impl) {
            if (s[1] != '<')
                length = 0; // What came before was the return type, not "operator<< <char>".
            s++;
        } else {
            ret[length++] = *s++;
        }
    }
    ret[length] = '\0';
}

/* PATTERN is a whole name, or the start of one before a final star. */
static bool
matches_whole(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);

    if (pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
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
        if (matches_whole(wrappers[i], name))
            return true;
    return false;
}
