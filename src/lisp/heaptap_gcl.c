/* heaptap_gcl.c: record the allocations of GNU Common Lisp; linked into its image.
 *
 * GCL is a static program that was dumped, so a preloaded library cannot interpose its functions.
 * But GCL can relink itself, and heaptap-gcl makes it do so. In GCL's files alloc.o and list.o, the
 * functions that allocate cells are renamed to real_…, and the functions below get their names.
 * Then GCL calls the functions below, and so do compiled files that it loads, which find symbols by
 * name. The functions of list.o are included because they take many cells at once from the free
 * list.
 *
 *     compiled Lisp ─► make_cons (here) ─► real_make_cons
 *                          └─► heaptap_alloc, if there is a recorder
 *
 * GCL's hook at the end of a collection finds the freed cells by a bit in their first word.
 * Therefore live means not yet reclaimed, as with ECL. A table with one byte for each 8 bytes of
 * the heap records the positions of cells. It is in memory that GCL does not scan.
 *
 * The Lisp frames come from GCL's list of calls. It includes compiled functions that GCL calls
 * through their symbol. With (si::use-fast-links nil), this applies to calls between files and to
 * most calls within a file. GCL's compiled code has no unwind tables, so C frames further out are
 * unknown, and the whole image is declared as code of the runtime.
 *
 * Bytes are the sizes of cells. The slots of a structure and the elements of a vector are stored
 * outside of cells, in memory that moves; they are not counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmpinclude.h> // GCL's header for compiled code.

#include "heaptap/heaptap.h"
#include "heaptap/language.h"

enum { TYPES = t_other + 1, NAME_BYTES = 200, KNOWN = 4096, MANAGER_BYTES = 0xb8, SIZE_AT = 8 };

#define HEAP_END ((uintptr_t)1 << 36)
#define CELL_FREE 4
#define MOST_LIST ((fixnum)1 << 40)
#define IMMEDIATE ((uintptr_t)1 << 63) // Flag of a small number in place of an address.

/* GCL defines these, but its header for compiled code does not declare them. */
extern char tm_table[];
extern void (*GBC_exit_hook)(void);
extern char *data_start, *core_end;

static const char *const type_names[TYPES] = {
    [t_cons] = "lisp cons",
    [t_fixnum] = "lisp fixnum",
    [t_bignum] = "lisp bignum",
    [t_ratio] = "lisp ratio",
    [t_shortfloat] = "lisp single-float",
    [t_longfloat] = "lisp double-float",
    [t_complex] = "lisp complex",
    [t_stream] = "lisp stream",
    [t_pathname] = "lisp pathname",
    [t_string] = "lisp string",
    [t_bitvector] = "lisp bit-vector",
    [t_vector] = "lisp vector",
    [t_array] = "lisp array",
    [t_hashtable] = "lisp hash-table",
    [t_structure] = "lisp structure",
    [t_symbol] = "lisp symbol",
    [t_package] = "lisp package",
};

static const struct heaptap_recorder *recorder; // NULL if the program is not recorded.
static const struct heaptap_languages *languages;
static heaptap_heap *heaps[TYPES];
static unsigned char *types; // By address / 8: type of the cell plus 1.
// Frame of the outermost function of this file in progress, which records the allocation; NULL =
// none.
static const void *inside;

/* --- Cells ------------------------------------------------------------------------------------ */

/* Types of one size share a manager. */
static size_t
size_of_type(int type)
{
    size_t bytes;
    int shared;

    memcpy(&shared, tm_table + (size_t)type * MANAGER_BYTES, sizeof shared);
    memcpy(&bytes, tm_table + (size_t)shared * MANAGER_BYTES + SIZE_AT, sizeof bytes);
    return bytes;
}

static inline __attribute__((always_inline)) void
began(const void *p, int type)
{
    if (recorder == NULL || types == NULL || (uintptr_t)p >= HEAP_END || type < 0 || type >= TYPES)
        return;
    // Skip no frames, because the Lisp frames are inside all C frames.
    if (heaps[type] == NULL)
        heaps[type] =
            recorder->heap_create(type_names[type] != NULL ? type_names[type] : "lisp other", 0);
    types[(uintptr_t)p / 8] = (unsigned char)(type + 1);
    recorder->alloc(heaps[type], p, 1, size_of_type(type));
}

static int
is_free(const void *p)
{
    uintptr_t word = *(const uintptr_t *)p;

    return word < IMMEDIATE && (word & CELL_FREE) != 0;
}

static void
collected(void)
{
    uintptr_t end = ((uintptr_t)core_end + 7) / 8;

    if (recorder == NULL || types == NULL)
        return;
    for (uintptr_t i = (uintptr_t)data_start / 8; i < end && i < HEAP_END / 8; i++) {
        const void *p = (const void *)(i * 8);

        if (types[i] == 0 || !is_free(p))
            continue;
        recorder->release(heaps[types[i] - 1], p);
        types[i] = 0;
    }
}

/* --- In front of GCL's functions -------------------------------------------------------------- */

object real_alloc_object(enum type type);
object real_make_cons(object car, object cdr);
object real_make_list(int n);
object real_append(object x, object y);
object real_n_cons_from_x(fixnum n, object x);
object real_list(fixnum n, ...);
object real_listA(fixnum n, ...);
void real_Llist(void);
void real_LlistA(void);
void real_Lmake_list(void);

/* Return true if no outer function of this file is in progress; FRAME is the caller's frame. The
 * caller then records the allocation, until leave. An error may have left an earlier function
 * without a call of leave. */
static inline __attribute__((always_inline)) int
gcl_enter(const void *frame)
{
    if (inside != NULL && inside > frame)
        return 0;
    inside = frame;
    return 1;
}

static inline __attribute__((always_inline)) void
gcl_leave(int entered)
{
    if (entered)
        inside = NULL;
}

#define ENTER gcl_enter(__builtin_frame_address(0))

/* End the call. If ENTERED, record the new conses of LIST: the first COUNT conses, or all conses up
 * to END. */
static inline __attribute__((always_inline)) void
leave_with(int entered, object list, fixnum count, object end)
{
    gcl_leave(entered);
    for (; entered && count > 0 && list != end; count--, list = list->c.c_cdr)
        began(list, t_cons);
}

object
alloc_object(enum type type)
{
    int entered = ENTER;
    object o = real_alloc_object(type);

    gcl_leave(entered);
    if (entered)
        began(o, (int)type);
    return o;
}

object
make_cons(object car, object cdr)
{
    int entered = ENTER;
    object o = real_make_cons(car, cdr);

    gcl_leave(entered);
    if (entered)
        began(o, t_cons);
    return o;
}

/* Call FUNCTION with the arguments of the current call. */
#define PASS(function, n)                                                                          \
    *(object *)__builtin_apply((void (*)())(function), __builtin_apply_args(),                     \
                               8 * (size_t)((n) + 2))

object
list(fixnum n, ...)
{
    int entered = ENTER;
    object o = PASS(real_list, n);

    leave_with(entered, o, n, Cnil);
    return o;
}

object
listA(fixnum n, ...)
{
    int entered = ENTER;
    object o = PASS(real_listA, n);

    leave_with(entered, o, n - 1, Cnil);
    return o;
}

object
make_list(int n)
{
    int entered = ENTER;
    object o = real_make_list(n);

    leave_with(entered, o, n, Cnil);
    return o;
}

object
n_cons_from_x(fixnum n, object x)
{
    int entered = ENTER;
    object o = real_n_cons_from_x(n, x);

    leave_with(entered, o, n, Cnil);
    return o;
}

object
append(object x, object y)
{
    int entered = ENTER;
    object o = real_append(x, y);

    leave_with(entered, o, o != x ? MOST_LIST : 0, y);
    return o;
}

/* GCL passes arguments to these functions on its own stack, and expects the list there. */
void
Llist(void)
{
    int entered = ENTER;
    fixnum n = vs_top - vs_base;

    real_Llist();
    leave_with(entered, vs_base[0], n, Cnil);
}

void
LlistA(void)
{
    int entered = ENTER;
    fixnum n = vs_top - vs_base;

    real_LlistA();
    leave_with(entered, vs_base[0], n - 1, Cnil);
}

void
Lmake_list(void)
{
    int entered = ENTER;

    real_Lmake_list();
    leave_with(entered, vs_base[0], MOST_LIST, Cnil);
}

/* --- Functions of Lisp ------------------------------------------------------------------------ */

static size_t
gcl_put(char *to, size_t n, const char *text, int bytes)
{
    for (int i = 0; i < bytes && n < NAME_BYTES - 1; i++)
        to[n++] = text[i];
    return n;
}

static int
gcl_is_text(object s, const char *text)
{
    return type_of(s) == t_string && (size_t)s->st.st_fillp == strlen(text) &&
           memcmp(s->st.st_self, text, strlen(text)) == 0;
}

static unsigned
name_of_symbol(object s)
{
    static struct {
        object symbol;
        unsigned id;
    } known[KNOWN];
    size_t at = (uintptr_t)s / 16 % KNOWN, n = 0;
    char text[NAME_BYTES];
    object package = s->s.s_hpack;

    if (known[at].symbol == s)
        return known[at].id;
    // Symbols of the packages COMMON-LISP and COMMON-LISP-USER get no package prefix, as with ECL.
    if (package != Cnil && package != NULL && type_of(package) == t_package) {
        object name = package->p.p_name;

        if (!gcl_is_text(name, "COMMON-LISP") && !gcl_is_text(name, "COMMON-LISP-USER")) {
            n = gcl_put(text, n, name->st.st_self, name->st.st_fillp);
            n = gcl_put(text, n, "::", 2);
        }
    }
    n = gcl_put(text, n, s->s.s_self, s->s.s_fillp);
    text[n] = '\0';
    known[at].id = languages->name(text, "", 0, "Lisp");
    known[at].symbol = s;
    return known[at].id;
}

/* Return the frame id of the function F; 0 if it cannot be determined. */
static unsigned
gcl_name_of(object f)
{
    static unsigned lambda;

    if (f == NULL || is_imm_fixnum(f))
        return 0;
    switch (type_of(f)) {
    case t_symbol:
        return f != Cnil ? name_of_symbol(f) : 0;
    case t_cons:
        // F is (LAMBDA-BLOCK NAME …), (LAMBDA-BLOCK-CLOSURE … … … NAME …) or (LAMBDA …).
        if (type_of(f->c.c_car) != t_symbol)
            return 0;
        if (f->c.c_car->s.s_fillp == 12)
            return gcl_name_of(f->c.c_cdr->c.c_car);
        if (f->c.c_car->s.s_fillp == 20)
            return gcl_name_of(f->c.c_cdr->c.c_cdr->c.c_cdr->c.c_cdr->c.c_car);
        if (lambda == 0)
            lambda = languages->name("LAMBDA", "", 0, "Lisp");
        return f->c.c_car->s.s_fillp == 6 || f->c.c_car->s.s_fillp == 14 ? lambda : 0;
    case t_cfun:
    case t_cclosure:
    case t_sfun:
    case t_gfun:
    case t_vfun:
    case t_afun:
    case t_closure:
        return f->cf.cf_name != NULL && !is_imm_fixnum(f->cf.cf_name) &&
                       type_of(f->cf.cf_name) == t_symbol && f->cf.cf_name != Cnil
                   ? name_of_symbol(f->cf.cf_name)
                   : 0;
    default:
        return 0;
    }
}

static size_t
gcl_frames(struct heaptap_frame *to, size_t max)
{
    size_t n = 0;

    for (ihs_ptr i = ihs_top; i >= ihs_org && n < max; i--) {
        unsigned id = gcl_name_of(i->ihs_function);

        if (id != 0)
            to[n++] = (struct heaptap_frame){.id = id};
    }
    return n;
}

static const struct heaptap_language gcl = {sizeof gcl, "Lisp", gcl_frames, 0, 0, 0, 0};

/* Runs at each start of the image, because the state in the dump is stale. */
__attribute__((constructor)) static void
gcl_begin(void)
{
    const char *preloaded = getenv("LD_PRELOAD");

    memset(heaps, 0, sizeof heaps);
    inside = NULL;
    types = NULL;
    recorder = NULL;
    GBC_exit_hook = NULL;
    // If dlsym finds nothing, it allocates, and GCL's malloc is not ready yet.
    if (preloaded == NULL || strstr(preloaded, "libheaptap") == NULL)
        return;
    recorder = dlsym(RTLD_DEFAULT, "heaptap_recorder_v1");
    languages = dlsym(RTLD_DEFAULT, "heaptap_languages_v1");
    if (recorder == NULL || languages == NULL)
        return;
    types = mmap(NULL, HEAP_END / 8, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (types == MAP_FAILED)
        types = NULL;
    GBC_exit_hook = collected;
    languages->runtime((const void *)4096, (const void *)HEAP_END);
    languages->add(&gcl);
}
