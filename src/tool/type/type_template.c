/* type_template.c: find types in the template arguments of demangled names, without debug
 * information: "std::__new_allocator<Node>::allocate(unsigned long, void const*)".
 *
 * Three forms are recognised. A member function "allocate" of a class template with "alloc" in its
 * name returns space for objects of the first argument, by the allocator requirements. Members of
 * std::basic_string allocate characters. std::make_unique allocates its first argument. A short
 * list adds C functions whose blocks contain text by definition.
 *
 * A further list has the functions of CPython that allocate objects of one type, or the contents of
 * such objects. Functions for several types, such as PyType_GenericAlloc, are not in it. */
#include "type/type_hint.h"

#include <string.h>

/* Return the opening bracket of the last argument list in FUNCTION, which must end right before
 * END; NULL if there is none. */
static const char *
open_bracket(const char *function, const char *end)
{
    size_t depth = 0;

    for (const char *s = end; s-- > function;) {
        if (*s == '>')
            depth++;
        else if (*s == '<' && --depth == 0)
            return s;
    }
    return NULL;
}

/* Return the first argument of the list that opens at OPEN. */
static const char *
first_argument(const char *open, struct arena *arena)
{
    size_t depth = 0;
    const char *s = open + 1;

    for (; *s != '\0'; s++) {
        if (depth == 0 && (*s == ',' || *s == '>'))
            break;
        depth += *s == '<' || *s == '(';
        depth -= *s == '>' || *s == ')';
    }
    while (s > open + 1 && s[-1] == ' ')
        s--;
    return arena_strndup(arena, open + 1, (size_t)(s - open - 1));
}

static const char *
of_allocator(const char *function, struct arena *arena)
{
    static const char call[] = ">::allocate(";
    const char *at = strstr(function, call);
    const char *open = at != NULL ? open_bracket(function, at + 1) : NULL;
    const char *name = open;

    if (open == NULL)
        return NULL;
    while (name > function && name[-1] != ':' && name[-1] != '<' && name[-1] != ' ')
        name--;
    if (memmem(name, (size_t)(open - name), "alloc", 5) == NULL ||
        memmem(name, (size_t)(open - name), "traits", 6) != NULL)
        return NULL;
    return first_argument(open, arena);
}

const char *
type_of_allocator(const char *function, struct arena *arena)
{
    static const char *const strings[] = {"std::__cxx11::basic_string<", "std::basic_string<"};
    static const char *const texts[] = {
        "strdup",     "__strdup",  "strndup",  "__strndup",   "asprintf",
        "__asprintf", "vasprintf", "getline",  "getdelim",    "__getline",
        "__getdelim", "realpath",  "xstrdup",  "xstrndup",    "_IO_file_doallocate",
        "getcwd",     "__getcwd",  "g_strdup", "__vasprintf", "g_strndup"};
    const char *maker = strstr(function, "make_unique<");

    if (strncmp(function, "__GI_", 5) == 0)
        function += 5;
    for (size_t i = 0; i < countof(texts); i++)
        if (strcmp(function, texts[i]) == 0)
            return "char";
    if (maker != NULL)
        return first_argument(maker + strlen("make_unique"), arena);
    if (strncmp(function, "void ", 5) == 0)
        function += 5;
    for (size_t i = 0; i < countof(strings); i++)
        if (strncmp(function, strings[i], strlen(strings[i])) == 0)
            return first_argument(function + strlen(strings[i]) - 1, arena);
    return of_allocator(function, arena);
}

const char *
type_of_python(const char *function, bool is_runtime)
{
    static const struct {
        const char *function, *type;
    } makers[] = {
        {"PyUnicode_New", "str"},
        {"_PyLong_New", "int"},
        {"_PyLong_FromMedium", "int"},
        {"PyLong_FromLong", "int"},
        {"PyLong_FromSsize_t", "int"},
        {"PyLong_FromUnsignedLong", "int"},
        {"PyFloat_FromDouble", "float"},
        {"PyComplex_FromCComplex", "complex"},
        {"PyTuple_New", "tuple"},
        {"PyTuple_Pack", "tuple"},
        {"_PyTuple_FromArray", "tuple"},
        {"_PyTuple_FromArraySteal", "tuple"},
        {"PyBytes_FromStringAndSize", "bytes"},
        {"_PyBytes_FromSize", "bytes"},
        {"PyByteArray_FromStringAndSize", "bytearray"},
        {"PyByteArray_Resize", "bytearray"},
        {"PyList_New", "list"},
        {"PyDict_New", "dict"},
        {"_PyDict_NewPresized", "dict"},
        {"PyFunction_New", "function"},
        {"PyFunction_NewWithQualName", "function"},
        {"_PyFunction_FromConstructor", "function"},
        {"PyMethod_New", "method"},
        {"PyCell_New", "cell"},
        {"PySlice_New", "slice"},
        {"PyWeakref_NewRef", "weakref"},
        {"_PyCode_New", "code"},
        {"PyModule_NewObject", "module"},
    };
    static const struct {
        const char *function, *type;
    } locals[] = {
        {"list_resize", "list"},
        {"list_new_prealloc", "list"},
        {"new_dict", "dict"},
        {"new_keys_object", "dict"},
        {"dictresize", "dict"},
        {"clone_combined_dict_keys", "dict"},
        {"set_table_resize", "set"},
    };

    if (function[0] == 'P' || function[0] == '_') {
        for (size_t i = 0; i < countof(makers); i++)
            if (strcmp(function, makers[i].function) == 0)
                return makers[i].type;
    }
    // These names may occur in any program.
    for (size_t i = 0; is_runtime && i < countof(locals); i++)
        if (strcmp(function, locals[i].function) == 0)
            return locals[i].type;
    return NULL;
}

bool
type_is_python_allocator(const char *function)
{
    static const char *const names[] = {"_PyObject_New", "_PyObject_GC_", "PyType_GenericAlloc",
                                        "_PyType_AllocNoTrack"};

    for (size_t i = 0; i < countof(names); i++)
        if (strncmp(function, names[i], strlen(names[i])) == 0)
            return true;
    return strcmp(function, "gc_alloc") == 0; // In 3.9 to 3.13, of the functions above.
}

bool
type_is_rust_library(const char *function)
{
    function += *function == '<';
    return strncmp(function, "alloc::", 7) == 0 || strncmp(function, "hashbrown::", 11) == 0;
}

bool
type_is_allocator_name(const char *function)
{
    return strncmp(function, "operator new", 12) == 0 || strcasestr(function, "alloc") != NULL;
}
