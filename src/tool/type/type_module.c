/* type_module.c: get one module's types and facts from the caches or from its debug information.
 *
 * Opening debug information may take longer than all other work on a profile, because distributions
 * compress it. Therefore only a query that misses all caches opens it. If a module's file is not
 * trusted (object_may_be_cached), nothing is cached for it. */
#include "type/type_module.h"

#include <stdlib.h>
#include <unistd.h>

#include "symbol/dwfl.h"
#include "symbol/module_cache.h"
#include "type/type_facts.h"
#include "util/path.h"

static const struct profile_module *
type_module_of(const struct type_module *m)
{
    return &m->p->modules[m->module];
}

static bool
uses_caches(const struct type_module *m)
{
    return !m->options->no_cache && type_module_of(m)->build_id_bytes > 0;
}

/* Return true if the search for M's symbols found no debug information. */
static bool
is_known_without(const struct type_module *m)
{
    enum profile_symbols symbols = type_module_of(m)->symbols;

    return m->p->sought && symbols != SYMBOLS_UNKNOWN && symbols != SYMBOLS_DEBUG;
}

/* Data of a file that is kept for further profiles. */
struct kept_types {
    bool index_known, facts_loaded; // The index, or the facts, were read from their caches.
    bool index_sought; // The cache of the index was searched for; missing unless index_known.
    bool dated;        // `written` is valid.
    struct timespec written;
    struct type_index index;
    struct fact_cache facts;
};

static void
release_types(void *types)
{
    struct kept_types *k = types;

    type_index_release(&k->index);
    fact_cache_release(&k->facts);
    free(k);
}

/* Return the slot for the data of M's file; NULL = none. */
static struct module_cache_entry *
kept_of(const struct type_module *m)
{
    const struct profile_module *from = type_module_of(m);

    return uses_caches(m) ? module_cache_find(m->options->module_cache, from->path, from->build_id,
                                              from->build_id_bytes)
                          : NULL;
}

/* Move the kept data of M's file to M, once. */
static void
take_kept(struct type_module *m)
{
    struct module_cache_entry *f = m->kept_taken ? NULL : kept_of(m);
    struct kept_types *k;

    m->kept_taken = true;
    if (f == NULL || f->types == NULL)
        return;
    k = f->types;
    m->index_known = k->index_known;
    m->index_sought = k->index_sought;
    m->dated = k->dated && m->p->sysroot == NULL;
    m->written = k->written;
    m->index = k->index;
    m->facts_loaded = k->facts_loaded;
    m->facts = k->facts;
    free(k);
    f->types = NULL;
}

/* Move M's data to the slot of M's file. Return false if there is no slot or it is occupied. */
static bool
type_module_keep(struct type_module *m)
{
    struct module_cache_entry *f = kept_of(m);
    struct kept_types *k;

    if (f == NULL || f->types != NULL)
        return false;
    k = xmalloc(sizeof *k);
    *k = (struct kept_types){.index_known = m->index_known,
                             .facts_loaded = m->facts_loaded,
                             .index_sought = m->index_sought,
                             .dated = m->dated && m->p->sysroot == NULL,
                             .written = m->written,
                             .index = m->index,
                             .facts = m->facts};
    k->facts.changed = false; // The facts were just written to their file.
    if (!k->index_known)
        type_index_release(&k->index);
    f->types = k;
    f->release_types = release_types;
    return true;
}

/* Open M's file, once, if it may have facts. */
static void
open_module(struct type_module *m)
{
    struct symbol_paths paths = object_paths(m->p, m->options);
    struct object_failure ignored;

    if (m->opened)
        return;
    m->opened = true;
    if (is_known_without(m))
        return;
    m->object = object_open(type_module_of(m), &paths, &ignored);
    if (m->object == NULL)
        return;
    m->debug = object_debuginfo(m->object, &m->bias);
    if (m->debug != NULL)
        m->finder = type_finder_new(m->debug, m->arena);
}

void
type_module_load(struct type_module *m)
{
    const struct profile_module *from = type_module_of(m);

    take_kept(m);
    if (m->index_known)
        return;
    if (uses_caches(m) && !m->index_sought)
        m->index_known =
            type_cache_load(&m->index, from->path, from->build_id, from->build_id_bytes);
    m->index_sought = true;
    if (m->index_known)
        return;
    open_module(m);
    if (m->debug == NULL)
        return;
    type_index_build(&m->index, m->debug);
    if (!uses_caches(m) || !object_may_be_cached(m->object))
        return;
    type_cache_store(&m->index, from->path, from->build_id, from->build_id_bytes);
    m->index_known = true;
}

struct timespec
type_module_written(struct type_module *m)
{
    struct stat st;
    int fd;

    if (m->dated)
        return m->written;
    take_kept(m);
    if (m->dated)
        return m->written;
    m->dated = true;
    fd = regular_open(m->p->sysroot, type_module_of(m)->path, &st);
    if (fd >= 0) {
        m->written = st.st_mtim;
        close(fd);
    }
    return m->written;
}

static void
load_facts(struct type_module *m)
{
    const struct profile_module *from = type_module_of(m);

    take_kept(m);
    if (!m->facts_loaded && uses_caches(m))
        fact_cache_load(&m->facts, from->path, from->build_id, from->build_id_bytes);
    m->facts_loaded = true;
}

bool
type_module_has_facts(struct type_module *m)
{
    load_facts(m);
    return m->facts.count > 0 || !is_known_without(m);
}

void
type_module_facts(struct type_module *m, uint64_t address, uint64_t stamp,
                  const struct type_statement *statements, size_t count, struct type_facts *ret)
{
    load_facts(m);
    if (fact_cache_find(&m->facts, address, stamp, ret))
        return;
    open_module(m);
    if (m->finder == NULL) // Do not cache this: debug information may be installed later.
        return;
    type_facts_find(m->finder, address - m->bias, statements, count, ret);
    if (uses_caches(m) && object_may_be_cached(m->object))
        fact_cache_add(&m->facts, address, stamp, ret);
}

void
type_module_close(struct type_module *m)
{
    const struct profile_module *from = type_module_of(m);

    if (uses_caches(m))
        fact_cache_store(&m->facts, from->path, from->build_id, from->build_id_bytes);
    if (!type_module_keep(m)) {
        fact_cache_release(&m->facts);
        type_index_release(&m->index);
    }
    type_finder_free(m->finder);
    object_close(m->object);
}
