/* ecl_types.c: finds the Lisp type of an allocation of ECL.
 *
 * ECL allocates objects with ecl_alloc_object and a few other functions, which get the type. They
 * call libgc's GC_malloc, which does not. So the wrappers of the outer functions (ecl_shim.c) leave
 * a hint for the inner one: an allocation under a hint is one object of that type.
 *
 * All other memory of ECL belongs to an object: the slots of a structure, the elements of a vector,
 * the table of a hash table. It is allocated right after the object, or by ecl_array_allocself for
 * a given array. So an allocation without a hint is charged to the type of the thread's latest
 * object: its bytes are counted, but not as an object. So counts cover objects, and bytes cover all
 * memory. If objects of that type consist of one piece, like conses, the memory belongs elsewhere,
 * such as to the stacks of a Lisp process, and has no type.
 *
 * A hint is used once, and never by a caller of the function that left it. A throw, such as the one
 * when memory is exhausted, may have skipped ecl_types_end. Hints nest like C frames. So a hint is
 * stale if it was left by a frame further in than the frame that leaves the next one. */
#include "language/ecl_adapter.h"

enum { KIND_OTHER = 0 };

static __thread struct ecl_hint hint;
static __thread unsigned char latest; // Kind of the latest object.

/* Names of the heaps, indexed by cl_type. */
const char *const ecl_type_names[GC_KINDS_MAX] = {
    [KIND_OTHER] = "lisp other",
    [t_list] = "lisp cons",
    [t_bignum] = "lisp bignum",
    [t_ratio] = "lisp ratio",
    [t_singlefloat] = "lisp single-float",
    [t_doublefloat] = "lisp double-float",
    [t_longfloat] = "lisp long-float",
    [t_complex] = "lisp complex",
#ifdef ECL_COMPLEX_FLOAT
    [t_csfloat] = "lisp complex-single-float",
    [t_cdfloat] = "lisp complex-double-float",
    [t_clfloat] = "lisp complex-long-float",
#endif
    [t_symbol] = "lisp symbol",
    [t_package] = "lisp package",
    [t_hashtable] = "lisp hash-table",
    [t_array] = "lisp array",
    [t_vector] = "lisp vector",
#ifdef ECL_UNICODE
    [t_string] = "lisp string",
#endif
    [t_base_string] = "lisp base-string",
    [t_bitvector] = "lisp bit-vector",
    [t_stream] = "lisp stream",
    [t_random] = "lisp random-state",
    [t_readtable] = "lisp readtable",
    [t_pathname] = "lisp pathname",
    [t_bytecodes] = "lisp bytecodes",
    [t_bclosure] = "lisp closure",
    [t_cfun] = "lisp compiled-function",
    [t_cfunfixed] = "lisp compiled-function",
    [t_cclosure] = "lisp compiled-closure",
    [t_instance] = "lisp structure",
#ifdef ECL_THREADS
    [t_process] = "lisp process",
    [t_lock] = "lisp lock",
    [t_rwlock] = "lisp lock",
    [t_condition_variable] = "lisp condition-variable",
    [t_semaphore] = "lisp semaphore",
    [t_barrier] = "lisp barrier",
    [t_mailbox] = "lisp mailbox",
#endif
    [t_codeblock] = "lisp codeblock",
    [t_foreign] = "lisp foreign-data",
    [t_frame] = "lisp frame",
    [t_weak_pointer] = "lisp weak-pointer",
};

/* Types whose objects own further memory. */
static const bool in_pieces[GC_KINDS_MAX] = {
    [t_bignum] = true,      [t_hashtable] = true, [t_array] = true,     [t_vector] = true,
#ifdef ECL_UNICODE
    [t_string] = true,
#endif
    [t_base_string] = true, [t_bitvector] = true, [t_stream] = true,    [t_readtable] = true,
    [t_bytecodes] = true,   [t_instance] = true,  [t_codeblock] = true, [t_foreign] = true,
};

struct ecl_hint
ecl_types_begin(int type, bool object, const void *frame)
{
    struct ecl_hint before = hint.frame > frame ? hint : (struct ecl_hint){0, 0, NULL};
    unsigned kind = type >= 0 && type < GC_KINDS_MAX && ecl_type_names[type] != NULL
                        ? (unsigned)type
                        : (unsigned)KIND_OTHER;

    hint = (struct ecl_hint){(unsigned char)kind, object, frame};
    return before;
}

void
ecl_types_end(struct ecl_hint before)
{
    hint = before;
}

struct gc_now
ecl_types_now(void)
{
    struct ecl_hint h = hint;

    if (h.frame == NULL || h.frame <= __builtin_frame_address(0))
        return (struct gc_now){.kind = in_pieces[latest] ? latest : KIND_OTHER, .count = 0};
    hint.frame = NULL;
    if (h.count != 0)
        latest = h.kind;
    return (struct gc_now){.kind = h.kind, .count = h.count};
}
