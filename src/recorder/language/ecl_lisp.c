/* ecl_lisp.c: the recorder's functions for Lisp programs.
 *
 * ECL cannot call C from interpreted code. So the adapter adds four functions to the package SI
 * when ECL has started. heaptap.lisp calls them if they exist. */
#include <ecl/ecl.h>

#include "heaptap/heaptap.h"
#include "language/gc_record.h"

enum { NAME_BYTES = 64 };

/* Copy the characters of a Lisp string to TO as ASCII, truncated to the size of TO. */
static void
ecl_lisp_name_of(cl_object s, char name[NAME_BYTES])
{
    size_t n = 0;

    if (!ECL_IMMEDIATE(s) && (s->d.t == t_base_string || s->d.t == t_string))
        for (cl_index i = 0; i < s->base_string.fillp && n < NAME_BYTES - 1; i++) {
            unsigned c = s->d.t == t_string ? (unsigned)s->string.self[i] : s->base_string.self[i];

            name[n++] = c < 0x80 ? (char)c : '?';
        }
    name[n] = '\0';
}

static cl_object
done(void)
{
    static void *place;
    cl_env_ptr (*env)(void) = (cl_env_ptr(*)(void))gc_find(&place, "ecl_process_env");

    ecl_return1(env(), ECL_NIL);
}

static cl_object
lisp_snapshot(cl_object s)
{
    char name[NAME_BYTES];

    ecl_lisp_name_of(s, name);
    heaptap_snapshot(name);
    return done();
}

static cl_object
lisp_mark(cl_object s)
{
    char name[NAME_BYTES];

    ecl_lisp_name_of(s, name);
    heaptap_phase(name);
    return done();
}

static cl_object
lisp_start(void)
{
    heaptap_start();
    return done();
}

static cl_object
lisp_stop(void)
{
    heaptap_stop();
    return done();
}

static void
define(const char *name, cl_objectfn_fixed function, int narg)
{
    static void *places[2];
    cl_object (*symbol)(const char *, const char *) =
        (cl_object(*)(const char *, const char *))gc_find(&places[0], "ecl_make_symbol");
    void (*define_function)(cl_object, cl_objectfn_fixed, int) =
        (void (*)(cl_object, cl_objectfn_fixed, int))gc_find(&places[1], "ecl_def_c_function");

    if (symbol != NULL && define_function != NULL)
        define_function(symbol(name, "SI"), function, narg);
}

EXPORT int
cl_boot(int argc, char **argv)
{
    static void *place;
    int (*next)(int, char **) = (int (*)(int, char **))gc_find(&place, "cl_boot");
    int result = next(argc, argv);

    if (!heaptap_is_present() || gc_runtime->collected == NULL)
        return result;
    define("HEAPTAP-SNAPSHOT", (cl_objectfn_fixed)lisp_snapshot, 1);
    define("HEAPTAP-MARK", (cl_objectfn_fixed)lisp_mark, 1);
    define("HEAPTAP-START", (cl_objectfn_fixed)lisp_start, 0);
    define("HEAPTAP-STOP", (cl_objectfn_fixed)lisp_stop, 0);
    return result;
}
