/* ecl_names.c: maps names of ECL's Lisp functions to ids of the recorder.
 *
 * The name of a function is a symbol, a list such as (SETF X), or NIL for a lambda. A symbol is
 * shown with its package, DEMO::WORK, unless that is the language's or the user's. Names of these
 * two packages are rarely confused, because the package USER sees all names of the language.
 * Symbols without a package are shown as #:NAME.
 *
 * Each allocation looks up the name of a function by the address of the function object. Addresses
 * are reused after a collection. So a key also contains the number of collections, which makes
 * cached names invalid after the next one. ECL frees the code of an evaluated form at once, which
 * is handled separately. Keys are complemented: the collector scans this memory and must not take a
 * key for an address. */
#include "language/ecl_adapter.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/atomics.h"
#include "heaptap/language.h"

enum { TEXT_BYTES = 256, LIST_MAX = 8, KEPT = 8192, ADDRESS_BITS = 47 };

/* A text under construction, truncated at its capacity. */
struct text {
    char bytes[TEXT_BYTES];
    size_t size;
};

static void
ecl_names_put(struct text *t, unsigned c)
{
    if (c < 0x80 && t->size < TEXT_BYTES - 1)
        t->bytes[t->size++] = (char)c;
    else if (c >= 0x80 && c < 0x800 && t->size < TEXT_BYTES - 2) {
        t->bytes[t->size++] = (char)(0xc0 | c >> 6);
        t->bytes[t->size++] = (char)(0x80 | (c & 0x3f));
    } else if (t->size < TEXT_BYTES - 1)
        t->bytes[t->size++] = '?';
}

static void
ecl_names_put_text(struct text *t, const char *text)
{
    while (*text != '\0')
        ecl_names_put(t, (unsigned char)*text++);
}

/* Append a Lisp string, which consists of bytes or of words of 32 bits. */
static void
ecl_names_put_string(struct text *t, cl_object s)
{
    cl_index count;

    if (ECL_IMMEDIATE(s) || !heaptap_can_read(s, sizeof s->base_string))
        return;
    if (s->d.t != t_base_string && s->d.t != t_string)
        return;
    count = s->base_string.fillp < TEXT_BYTES ? s->base_string.fillp : TEXT_BYTES;
    if (!heaptap_can_read(s->base_string.self,
                          count * (s->d.t == t_string ? sizeof *s->string.self : 1)))
        return;
    for (cl_index i = 0; i < count; i++)
        ecl_names_put(t, s->d.t == t_string ? (unsigned)s->string.self[i] : s->base_string.self[i]);
}

static bool
ecl_names_is_text(cl_object s, const char *text)
{
    struct text t = {.size = 0};

    ecl_names_put_string(&t, s);
    t.bytes[t.size] = '\0';
    return strcmp(t.bytes, text) == 0;
}

/* Return true if NAME is a generated symbol such as LAMBDA50, which a lambda has if compiled with
 * (debug 3). */
static bool
is_lambda(cl_object name)
{
    struct text t = {.size = 0};
    size_t i = 6;

    ecl_names_put_string(&t, name);
    t.bytes[t.size] = '\0';
    while (t.bytes[i < t.size ? i : t.size] >= '0' && t.bytes[i] <= '9')
        i++;
    return strncmp(t.bytes, "LAMBDA", 6) == 0 && i == t.size && i > 6;
}

static void
ecl_names_put_symbol(struct text *t, cl_object s)
{
    cl_object pack = s->symbol.hpack;

    if (is_lambda(s->symbol.name)) {
        ecl_names_put_text(t, "LAMBDA");
        return;
    }
    if (Null(pack)) {
        ecl_names_put_text(t, "#:");
    } else if (!ECL_IMMEDIATE(pack) && heaptap_can_read(pack, sizeof pack->pack) &&
               pack->d.t == t_package && !ecl_names_is_text(pack->pack.name, "COMMON-LISP") &&
               !ecl_names_is_text(pack->pack.name, "COMMON-LISP-USER")) {
        bool keyword = ecl_names_is_text(pack->pack.name, "KEYWORD");

        if (!keyword)
            ecl_names_put_string(t, pack->pack.name);
        ecl_names_put_text(t, keyword ? ":" : "::");
    }
    ecl_names_put_string(t, s->symbol.name);
}

static void
ecl_names_put_name(struct text *t, cl_object name, unsigned depth)
{
    if (Null(name)) {
        ecl_names_put_text(t, depth == 0 ? "LAMBDA" : "NIL");
    } else if (ECL_LISTP(name) && depth < 3) {
        ecl_names_put(t, '(');
        for (unsigned i = 0; i < LIST_MAX && ECL_CONSP(name); i++, name = ECL_CONS_CDR(name)) {
            if (!heaptap_can_read((void *)((uintptr_t)name & ~(uintptr_t)7), 16))
                break;
            if (i > 0)
                ecl_names_put(t, ' ');
            ecl_names_put_name(t, ECL_CONS_CAR(name), depth + 1);
        }
        ecl_names_put(t, ')');
    } else if (!ECL_IMMEDIATE(name) && heaptap_can_read(name, sizeof name->symbol) &&
               name->d.t == t_symbol) {
        ecl_names_put_symbol(t, name);
    } else if (!ECL_IMMEDIATE(name) && heaptap_can_read(name, sizeof name->base_string) &&
               (name->d.t == t_base_string || name->d.t == t_string)) {
        ecl_names_put_string(t, name);
    } else {
        ecl_names_put_text(t, "?");
    }
}

unsigned
ecl_name_of_text(const char *text)
{
    return heaptap_frame_name(text, "", 0, "Lisp");
}

unsigned
ecl_name_of(cl_object name)
{
    struct text t = {.size = 0};

    ecl_names_put_name(&t, name, 0);
    t.bytes[t.size] = '\0';
    return ecl_name_of_text(t.bytes);
}

/* --- By function ------------------------------------------------------------------------------ */

static struct {
    uint64_t key; // Atomic; 0 = unused.
    uint32_t id;  // Atomic.
} kept[KEPT];
static uint32_t collections; // Atomic.

void
ecl_names_invalidate(void)
{
    add_relaxed(&collections, 1u);
}

static uint64_t
ecl_names_key_of(const void *function)
{
    uint64_t generation = load_relaxed(&collections);

    return ~((uint64_t)(uintptr_t)function | generation << ADDRESS_BITS);
}

static size_t
ecl_names_place_of(const void *function)
{
    return ((uintptr_t)function >> 3 ^ (uintptr_t)function >> 16) % KEPT;
}

void
ecl_names_invalidate_one(const void *function)
{
    size_t i = ecl_names_place_of(function);

    if (load_relaxed(&kept[i].key) == ecl_names_key_of(function))
        store_release(&kept[i].key, UINT64_C(0));
}

static unsigned
ecl_names_look_at(cl_object f)
{
    if (Null(f))
        return 0;
    if (ECL_IMMEDIATE(f))
        return ECL_LISTP(f) ? ecl_name_of(f) : 0;
    if (!heaptap_can_read(f, sizeof f->bytecodes))
        return 0;
    switch (f->d.t) {
    case t_symbol:
        return ecl_name_of(f);
    case t_bytecodes:
        return ecl_name_of(f->bytecodes.name);
    case t_bclosure:
        f = f->bclosure.code;
        return heaptap_can_read(f, sizeof f->bytecodes) && f->d.t == t_bytecodes
                   ? ecl_name_of(f->bytecodes.name)
                   : 0;
    case t_cfun:
    case t_cfunfixed:
        return ecl_name_of(f->cfun.name);
    case t_cclosure:
        return ecl_name_of(ECL_NIL);
    default:
        return 0;
    }
}

unsigned
ecl_name_of_function(cl_object function)
{
    uint64_t key = ecl_names_key_of(function);
    size_t i = ecl_names_place_of(function);
    unsigned id;

    if (load_acquire(&kept[i].key) == key) {
        id = load_acquire(&kept[i].id);
        if (load_relaxed(&kept[i].key) == key)
            return id;
    }
    id = ecl_names_look_at(function);
    store_release(&kept[i].key, UINT64_C(0));
    store_release(&kept[i].id, id);
    store_release(&kept[i].key, key);
    return id;
}
