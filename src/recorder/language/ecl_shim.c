/* ecl_shim.c: wrappers of ECL's functions that allocate objects and make functions.
 *
 * ECL calls these through the loader's tables, even from inside ECL. Each wrapper calls ECL's
 * function. A wrapper that allocates also passes the type (ecl_adapter.h). A wrapper that makes a
 * function object of compiled code also registers its name (ecl_adapter.h). Nested calls are
 * harmless, because one allocation uses up a hint. */
#include <ecl/ecl.h>

#include "language/ecl_adapter.h"

/* Define the wrapper of a function NAME that allocates an object of TYPE. */
#define MAKES(name, parameters, arguments, type)                                                   \
    EXPORT cl_object name parameters                                                               \
    {                                                                                              \
        static void *place;                                                                        \
        cl_object(*next) parameters = (cl_object(*) parameters)gc_find(&place, #name);             \
        struct ecl_hint before = ecl_types_begin(type, true, __builtin_frame_address(0));          \
        cl_object o = next arguments;                                                              \
                                                                                                   \
        ecl_types_end(before);                                                                     \
        return o;                                                                                  \
    }

MAKES(ecl_cons, (cl_object a, cl_object d), (a, d), t_list)
#ifndef ecl_list1 // ECL 24 defines ecl_list1 as a macro that calls ecl_cons.
MAKES(ecl_list1, (cl_object a), (a), t_list)
#endif
MAKES(ecl_alloc_object, (cl_type t), (t), t)
MAKES(ecl_alloc_compact_object, (cl_type t, cl_index more), (t, more), t)
MAKES(si_make_weak_pointer, (cl_object to), (to), t_weak_pointer)

EXPORT void
ecl_array_allocself(cl_object x)
{
    static void *place;
    void (*next)(cl_object) = (void (*)(cl_object))gc_find(&place, "ecl_array_allocself");
    struct ecl_hint before = ecl_types_begin(x->d.t, false, __builtin_frame_address(0));

    next(x);
    ecl_types_end(before);
}

EXPORT cl_object
ecl_make_cfun(cl_objectfn_fixed function, cl_object name, cl_object block, int narg)
{
    static void *place;
    cl_object (*next)(cl_objectfn_fixed, cl_object, cl_object, int) =
        (cl_object(*)(cl_objectfn_fixed, cl_object, cl_object, int))gc_find(&place,
                                                                            "ecl_make_cfun");

    ecl_code_add((const void *)function, name, block);
    return next(function, name, block, narg);
}

EXPORT cl_object
ecl_make_cfun_va(cl_objectfn function, cl_object name, cl_object block, int narg)
{
    static void *place;
    cl_object (*next)(cl_objectfn, cl_object, cl_object, int) =
        (cl_object(*)(cl_objectfn, cl_object, cl_object, int))gc_find(&place, "ecl_make_cfun_va");

    ecl_code_add((const void *)function, name, block);
    return next(function, name, block, narg);
}

EXPORT cl_object
ecl_make_cclosure_va(cl_objectfn function, cl_object env, cl_object block, int narg)
{
    static void *place;
    cl_object (*next)(cl_objectfn, cl_object, cl_object, int) =
        (cl_object(*)(cl_objectfn, cl_object, cl_object, int))gc_find(&place,
                                                                      "ecl_make_cclosure_va");

    ecl_code_add((const void *)function, ECL_NIL, block);
    return next(function, env, block, narg);
}
