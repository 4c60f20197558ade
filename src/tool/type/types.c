/* types.c: find the types of a profile, by size and for each site's blocks.
 *
 * By size: each module's index (type_index.c, type_cache.c) has the structures of the sizes that
 * occurred. Structures of the program come first, then structures of libraries. The C++ library,
 * which has many of each small size, comes last.
 *
 * By site: type_verdict.c compares the facts about the innermost call (type_facts.c) with the sizes
 * requested there. If the function only passes memory on, its caller is examined, up to
 * WRAPPERS_MAX callers. Some wrappers put a header of one or two words in front of the block. If no
 * type is certain for the whole size, but one is for the size without the header, that type is
 * likely. All size classes of a stack are examined together, because they belong to one place in
 * the program.
 *
 *     node ─► location ─► facts ─┐
 *       └──► sizes ──────────────┴► verdict ─► answer, or continue with the parent
 *
 * Blocks with only a known size get the verdict "same size": with the type if it is the only one of
 * that size, otherwise with none.
 *
 * Caches reduce a hundred thousand stacks to a few thousand queries. Facts are computed once per
 * location and name. A verdict is cached by facts and sizes. An answer is cached by the innermost
 * calls and sizes, if no call further out was examined.
 *
 * Source text is read only if it is older than the program, because newer text may have other line
 * numbers. Names are untrusted: control characters become '?'. */
#include "type/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "profile/profile_valid.h"
#include "type/type_facts.h"
#include "type/type_hint.h"
#include "type/type_module.h"
#include "util/ensure.h"
#include "util/path.h"
#include "util/strbuf.h"

enum {
    WRAPPERS_MAX = 5,
    HEADER_MAX = 16,
    EXACT_SIZE_MAX = 1024,
    ANSWERS_MIN = 1 << 8,
    ANSWERS_MAX = 1 << 16,
    SITES_PER_ANSWER = 8,
    SMALL_MAX = 1 << 12, // Sizes below this are marked in a table.
};

#define SOURCE_BYTES_MAX (16 * MIB)

struct source_text {
    const char *text; // NULL = do not use.
    size_t size_bytes;
    struct timespec written;
};

/* A cached verdict. */
struct decided {
    const struct type_facts *facts; // NULL = the entry is empty.
    struct type_sizes sizes;
    struct type_answer answer;
    bool passes_on;
};

/* Type of blocks, in the profile's terms. */
struct named_answer {
    uint32_t type; // String id.
    uint32_t verdict; // VERDICT_UNKNOWN: only the sizes are known.
};

enum { CACHED_CALLS = 3 };

/* The cached answer for all stacks with the same innermost calls, if no other call was examined.
 * Most of a hundred thousand stacks differ only further out. */
struct cached_verdict {
    uint32_t locations[CACHED_CALLS]; // Innermost first. [0] = 0: empty.
    struct named_answer answer;
    struct type_sizes sizes;
};

/* Query for a stack with at least one allocation. */
struct asked {
    struct type_sizes sizes;
    struct named_answer answer; // Valid if `decided`.
    bool decided;
};

/* The types of one size. */
struct same_size {
    bool known; // The other fields are valid.
    bool any;
    uint32_t sole; // String id of the name if there is only one type.
};

/* Facts from a function's name. */
struct name_facts {
    bool known;         // The other fields are valid.
    bool is_allocator, is_rust_library, is_python_allocator;
    const char *result; // Type of the allocations; NULL = unknown.
};

struct typer {
    struct profile *p;
    const struct symbol_options *options;
    struct arena scratch;
    struct type_module *modules;
    size_t module_count;
    uint32_t *module_of;      // By module id: index into modules + 1; 0 = no file.
    uint64_t *wanted;         // Sizes that occurred, each once.
    size_t wanted_count, wanted_capacity;
    bool is_wanted[SMALL_MAX]; // Sizes below SMALL_MAX that are in `wanted`.
    struct map wanted_large;   // Sizes from SMALL_MAX on that are in `wanted`.
    struct same_size same_size[SMALL_MAX];
    const struct type_facts **facts; // By location; NULL = not computed yet.
    struct map sources;       // String id of the file to struct source_text *.
    bool sizes_known;         // size_names and size_of are filled in.
    struct strtab size_names; // Names of types.
    struct map size_of;       // Size of the type with each name.
    uint32_t *place; // By node: index into `asked` plus 1; 0 = no allocations.
    struct asked *asked;
    size_t asked_count;
    size_t answer_count;                   // Sizes of the next two tables, a power of two.
    struct decided *decided;               // Verdicts, by a hash of the query.
    struct cached_verdict *cached_verdict; // Answers for stacks, by a hash of the calls.
    struct map type_names;                 // Fact and fit to string id of the type.
    struct name_facts *of_name;            // By string id, for strings from before types were
                                           // added.
    size_t name_count;
    unsigned steps; // Largest number of callers examined since this was set to 0.
};

static void collect_sizes(struct typer *t);
static void collect_modules(struct typer *t);
static void types_collect_types(struct typer *t);
static void decide_sites(struct typer *t);

/* Types of a packed profile, before others are found. */
struct known {
    const struct profile_type *types;
    size_t type_count;
    const struct site_type *sites;
};

struct site_type {
    uint32_t type;
    enum profile_verdict verdict;
};

static struct known
known_types(struct typer *t)
{
    struct profile *p = t->p;
    struct site_type *sites = arena_array(&t->scratch, p->site_count, sizeof *sites);
    struct known known = {p->types, p->type_count, sites};

    for (size_t i = 0; i < p->site_count; i++) {
        sites[i] = (struct site_type){p->sites[i].type, p->sites[i].verdict};
        p->sites[i].type = 0;
        p->sites[i].verdict = VERDICT_UNKNOWN;
    }
    p->types = NULL;
    p->type_count = 0;
    return known;
}

/* Restore packed types that are more certain than those found on this machine, where files may be
 * missing. */
static void
keep_known(struct typer *t, const struct known *before)
{
    struct profile *p = t->p;
    const struct profile_type *old = before->types, *old_end = old + before->type_count;
    struct profile_type *v = arena_array(&p->arena, p->type_count + before->type_count, sizeof *v);
    struct map found = {0};
    size_t count = 0;

    for (size_t i = 0; i < p->site_count; i++) {
        const struct site_type *was = &before->sites[i];

        if (was->verdict > p->sites[i].verdict) {
            p->sites[i].verdict = was->verdict;
            p->sites[i].type = was->type;
        }
    }
    for (size_t i = 0; i < p->type_count; i++)
        map_put(&found, p->types[i].size << 32 | p->types[i].name, NULL);
    // Both inputs are sorted by size, and so is the result.
    for (size_t i = 0; i < p->type_count || old < old_end;) {
        if (old == old_end || (i < p->type_count && p->types[i].size <= old->size)) {
            v[count++] = p->types[i++];
            continue;
        }
        if (map_get(&found, old->size << 32 | old->name) == NULL)
            v[count++] = *old;
        old++;
    }
    map_release(&found);
    p->types = v;
    p->type_count = count;
}

void
symbol_types(struct profile *p, const struct symbol_options *options)
{
    static const struct symbol_options defaults;
    struct typer t = {.p = p, .options = options != NULL ? options : &defaults};
    struct known before = {0};

    if (p->typed && (!p->types_outdated || p->extent != EXTENT_WHOLE))
        return;
    t.answer_count = ANSWERS_MIN;
    while (t.answer_count < ANSWERS_MAX && t.answer_count < p->site_count / SITES_PER_ANSWER)
        t.answer_count *= 2;
    t.decided = arena_array(&t.scratch, t.answer_count, sizeof *t.decided);
    t.cached_verdict = arena_array(&t.scratch, t.answer_count, sizeof *t.cached_verdict);
    t.facts = arena_array(&t.scratch, p->location_count, sizeof *t.facts);
    t.name_count = p->strings.count;
    t.of_name = arena_array(&t.scratch, t.name_count, sizeof *t.of_name);
    if (p->typed)
        before = known_types(&t);
    collect_sizes(&t);
    collect_modules(&t);
    types_collect_types(&t);
    decide_sites(&t);
    if (p->typed)
        keep_known(&t, &before);
    for (size_t i = 0; i < t.module_count; i++)
        type_module_close(&t.modules[i]);
    map_release(&t.wanted_large);
    map_release(&t.sources);
    map_release(&t.size_of);
    map_release(&t.type_names);
    strtab_release(&t.size_names);
    arena_release(&t.scratch);
    p->typed = true;
    p->types_outdated = false;
    ENSURE_VALID(profile_ids_are_valid(p));
}

static void
want(struct typer *t, uint64_t size)
{
    bool is_new = true;

    if (size < SMALL_MAX) {
        is_new = !t->is_wanted[size];
        t->is_wanted[size] = true;
    } else {
        map_put(&t->wanted_large, size, &is_new);
    }
    if (!is_new)
        return;
    arena_grow(&t->scratch, &t->wanted, &t->wanted_capacity, t->wanted_count, sizeof *t->wanted);
    t->wanted[t->wanted_count++] = size;
}

/* Return the query for NODE, created on first use. */
static struct asked *
asked_of(struct typer *t, uint32_t node)
{
    if (t->place[node] == 0) {
        t->asked[t->asked_count].sizes.min = SIZE_MIN_NONE;
        t->place[node] = (uint32_t)++t->asked_count;
    }
    return &t->asked[t->place[node] - 1];
}

/* Collect the requested sizes, by stack and in total. */
static void
collect_sizes(struct typer *t)
{
    const struct profile *p = t->p;

    t->place = arena_array(&t->scratch, p->node_count, sizeof *t->place);
    t->asked = arena_array(&t->scratch, p->site_count, sizeof *t->asked);
    for (size_t i = 0; i < p->site_count; i++) {
        const struct counters *c = &p->sites[i].counters;
        struct type_sizes *s = &asked_of(t, p->sites[i].node)->sizes;

        if (c->allocations == 0)
            continue;
        if (c->size_min < s->min)
            s->min = c->size_min;
        if (c->size_max > s->max)
            s->max = c->size_max;
        if (c->size_min == c->size_max)
            want(t, c->size_min);
    }
    for (size_t i = 0; i < p->bin_count; i++)
        if (p->bins[i].size_max <= EXACT_SIZE_MAX && p->bins[i].counters.allocations != 0)
            want(t, p->bins[i].size_max);
}

/* Group the modules of the same file. The recorder's own modules are skipped, because its types are
 * never the types of the program's blocks. */
static void
collect_modules(struct typer *t)
{
    static const char digits[] = "0123456789abcdef";
    const struct profile *p = t->p;
    struct strtab keys = {0};
    struct map known = {0};

    t->modules = arena_array(&t->scratch, p->module_count, sizeof *t->modules);
    t->module_of = arena_array(&t->scratch, p->module_count, sizeof *t->module_of);
    for (uint32_t i = 1; i < p->module_count; i++) {
        const struct profile_module *m = &p->modules[i];
        struct strbuf key = {0};
        uint64_t *index;
        bool is_new;

        if (m->path == NULL || m->path[0] != '/' || profile_is_recorder(m->path))
            continue;
        for (uint32_t k = 0; k < m->build_id_bytes; k++) {
            strbuf_char(&key, digits[m->build_id[k] >> 4]);
            strbuf_char(&key, digits[m->build_id[k] & 0xf]);
        }
        strbuf_str(&key, m->path);
        index = map_put(&known, strtab_id(&keys, strbuf_text(&key)), &is_new);
        strbuf_release(&key);
        if (is_new) {
            t->modules[t->module_count] = (struct type_module){
                .p = p, .options = t->options, .arena = &t->scratch, .module = i};
            *index = ++t->module_count;
        }
        t->module_of[i] = (uint32_t)*index;
    }
    map_release(&known);
    strtab_release(&keys);
}

/* A type, and its rank among types of the same size. */
struct ranked_type {
    struct profile_type type;
    uint32_t rank;
};

static bool
is_of_library(const char *name)
{
    static const char *const prefixes[] = {"std::", "__gnu",  "__cxx",  "_IO_",
                                           "__",    "core::", "alloc::"};

    for (size_t i = 0; i < countof(prefixes); i++)
        if (*name == *prefixes[i] && strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Return the rank of a type: first the program's types, then types of libraries, then of the
 * language's libraries, then anonymous types. */
static uint32_t
types_rank_of(const char *name, bool in_program)
{
    if (strncmp(name, "(anonymous, ", 12) == 0)
        return 3;
    return is_of_library(name) ? 2 : !in_program;
}

static int
types_compare_ranked(const void *left, const void *right, void *arg)
{
    const struct ranked_type *a = left;
    const struct ranked_type *b = right;
    const struct profile *p = arg;

    if (a->type.size != b->type.size)
        return a->type.size < b->type.size ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return strcmp(profile_string(p, a->type.name), profile_string(p, b->type.name));
}

static int
compare_sizes(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Return true if V is sorted by types_compare_ranked, as is usual for the types of one size in one
 * file. */
static bool
in_order(const struct ranked_type *v, size_t count, struct profile *p)
{
    for (size_t i = 1; i < count; i++)
        if (types_compare_ranked(&v[i - 1], &v[i], p) > 0)
            return false;
    return true;
}

/* A list of types. */
struct ranked_types {
    struct ranked_type *v;
    size_t count, capacity;
};

/* Append the types of SIZE from all modules to LIST, sorted. */
static void
add_of_size(struct typer *t, uint64_t size, struct ranked_types *list)
{
    size_t first = list->count;

    for (size_t i = 0; i < t->module_count; i++) {
        const struct type_module *m = &t->modules[i];

        for (size_t k = type_index_find(&m->index, size);
             k < m->index.count && m->index.v[k].size == size; k++) {
            const char *name = strtab_get(&m->index.names, m->index.v[k].name);
            uint32_t rank = types_rank_of(name, profile_is_program(t->p, m->module));

            arena_grow(&t->scratch, &list->v, &list->capacity, list->count, sizeof *list->v);
            list->v[list->count++] =
                (struct ranked_type){{size, strtab_clean_id(&t->p->strings, name)}, rank};
        }
    }
    if (!in_order(list->v + first, list->count - first, t->p))
        qsort_r(list->v + first, list->count - first, sizeof *list->v, types_compare_ranked, t->p);
}

/* Reserve room for the names of all types of requested sizes; few are in the profile yet. */
static void
expect_names(struct typer *t)
{
    size_t count = t->p->strings.ids.count;

    for (size_t i = 0; i < t->module_count; i++) {
        const struct type_index *index = &t->modules[i].index;

        for (size_t w = 0; w < t->wanted_count && index->count > 0; w++)
            for (size_t k = type_index_find(index, t->wanted[w]);
                 k < index->count && index->v[k].size == t->wanted[w]; k++)
                count++;
    }
    map_reserve(&t->p->strings.ids, count);
}

/* Add the types of wanted sizes from all modules to the profile, each name once per size. */
static void
types_collect_types(struct typer *t)
{
    struct profile *p = t->p;
    struct ranked_types list = {0};
    uint64_t *last; // By name: the last size with a type of that name, plus 1.
    size_t kept = 0;

    for (size_t i = 0; i < t->module_count; i++)
        type_module_load(&t->modules[i]);
    expect_names(t);
    if (t->wanted_count > 1)
        qsort(t->wanted, t->wanted_count, sizeof *t->wanted, compare_sizes);
    for (size_t i = 0; i < t->wanted_count; i++)
        add_of_size(t, t->wanted[i], &list);
    p->types = arena_array(&p->arena, list.count, sizeof *p->types);
    last = arena_array(&t->scratch, p->strings.count, sizeof *last);
    for (size_t i = 0; i < list.count; i++) {
        const struct profile_type *type = &list.v[i].type;

        if (last[type->name] == type->size + 1)
            continue;
        last[type->name] = type->size + 1;
        p->types[kept++] = *type;
    }
    p->type_count = kept;
}

static bool
is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Read the text file PATH if everybody may read it or it belongs to us. Other files are refused,
 * because a profile may name any file. */
static void
types_read_source(struct typer *t, const char *path, struct source_text *ret)
{
    struct stat st;
    int fd = path[0] == '/' ? regular_open(t->p->sysroot, path, &st) : -1;
    char *text;
    ssize_t n;

    // The sources of a container's programs are often outside of the container.
    if (fd < 0 && path[0] == '/' && t->p->sysroot != NULL)
        fd = regular_open(NULL, path, &st);
    if (fd < 0)
        return;
    if (((st.st_mode & S_IROTH) != 0 || st.st_uid == geteuid()) &&
        (uint64_t)st.st_size <= SOURCE_BYTES_MAX) {
        text = arena_alloc(&t->scratch, (size_t)st.st_size + 1);
        n = read(fd, text, (size_t)st.st_size);
        ret->text = n > 0 ? text : NULL;
        ret->size_bytes = n > 0 ? (size_t)n : 0;
        ret->written = st.st_mtim;
    }
    close(fd);
}

static const struct source_text *
find_source(struct typer *t, uint32_t file)
{
    bool is_new;
    uint64_t *known = map_put(&t->sources, file, &is_new);

    if (is_new) {
        struct source_text *s = arena_alloc(&t->scratch, sizeof *s);

        types_read_source(t, profile_string(t->p, file), s);
        *known = (uintptr_t)s;
    }
    return (const struct source_text *)(uintptr_t)*known;
}

/* Return the name of FUNCTION in the source: without scopes, arguments and parameters. */
static const char *
types_plain_name(struct typer *t, const char *function)
{
    size_t length = strcspn(function, "<(");
    const char *name = arena_strndup(&t->scratch, function, length);
    const char *colon = strrchr(name, ':');

    return colon != NULL ? colon + 1 : name;
}

/* Return the statements of the frames of L. The innermost statement calls CALLEE. */
static struct type_statement *
find_statements(struct typer *t, struct type_module *m, const struct profile_location *l,
                const char *callee)
{
    struct timespec written = type_module_written(m);
    struct type_statement *v = arena_array(&t->scratch, l->frame_count, sizeof *v);

    for (uint32_t i = 0; i < l->frame_count; i++) {
        const struct profile_frame *f = &t->p->frames[l->first_frame + i];

        v[i] = (struct type_statement){.line = f->line, .callee = callee};
        if (f->file != 0) {
            const struct source_text *s = find_source(t, f->file);

            v[i].file = profile_string(t->p, f->file);
            if (s->text != NULL && !is_newer(&s->written, &written)) {
                v[i].source = s->text;
                v[i].size_bytes = s->size_bytes;
            }
        }
        callee = f->function != 0 ? types_plain_name(t, profile_string(t->p, f->function)) : NULL;
    }
    return v;
}

/* Return a hash of all inputs from the statements V of L, including the times of source files. */
static uint64_t
types_stamp_of(struct typer *t, const struct profile_location *l, const struct type_statement *v)
{
    uint64_t stamp = l->frame_count;

    for (uint32_t i = 0; i < l->frame_count; i++) {
        const struct profile_frame *f = &t->p->frames[l->first_frame + i];
        const char *texts[] = {v[i].callee, v[i].file, profile_string(t->p, f->function)};

        for (size_t k = 0; k < countof(texts); k++)
            stamp = hash_u64(stamp * 31 + (texts[k] == NULL
                                               ? 0
                                               : hash_bytes(texts[k], strlen(texts[k]) + 1)));
        stamp = hash_u64(stamp * 31 + v[i].line);
        if (v[i].source != NULL) {
            const struct timespec *written = &find_source(t, f->file)->written;

            stamp = hash_u64(stamp * 31 + v[i].size_bytes);
            stamp = hash_u64(stamp * 31 + (uint64_t)written->tv_sec);
            stamp = hash_u64(stamp * 31 + (uint64_t)written->tv_nsec);
        }
    }
    return stamp;
}

/* Return the size of the type NAME in any module; 0 if it is unknown. */
static uint64_t
size_of_name(struct typer *t, const char *name)
{
    const uint64_t *size;

    if (strcmp(name, "char") == 0 || strcmp(name, "unsigned char") == 0)
        return 1;
    for (size_t i = 0; i < t->module_count && !t->sizes_known; i++)
        for (size_t k = 0; k < t->modules[i].index.count; k++) {
            const struct type_entry *e = &t->modules[i].index.v[k];

            *map_put(&t->size_of,
                     strtab_id(&t->size_names, strtab_get(&t->modules[i].index.names, e->name)),
                     NULL) = e->size;
        }
    t->sizes_known = true;
    size = map_get(&t->size_of, strtab_id(&t->size_names, name));
    return size != NULL ? *size : 0;
}

static struct name_facts
read_name(struct typer *t, uint32_t function)
{
    const char *name = profile_string(t->p, function);

    return (struct name_facts){.known = true,
                               .is_allocator = type_is_allocator_name(name),
                               .is_rust_library = type_is_rust_library(name),
                               .is_python_allocator = type_is_python_allocator(name),
                               .result = type_of_allocator(name, &t->scratch)};
}

/* Return the facts from the name FUNCTION, a string id. */
static struct name_facts
name_facts(struct typer *t, uint32_t function)
{
    if (function >= t->name_count)
        return read_name(t, function);
    if (!t->of_name[function].known)
        t->of_name[function] = read_name(t, function);
    return t->of_name[function];
}

/* Add FACT, from the name of the frame LEVEL. */
static void
add_name_fact(struct typer *t, struct type_facts *facts, struct type_fact fact, uint32_t level)
{
    fact.level = (uint8_t)level;
    fact.evidence = EVIDENCE_TEMPLATE;
    arena_grow(&t->scratch, &facts->v, &facts->capacity, facts->count, sizeof *facts->v);
    facts->v[facts->count++] = fact;
}

/* Add facts from the names of L's frames. */
static void
add_name_facts(struct typer *t, const struct profile_location *l, struct type_facts *facts)
{
    bool has_scopes = facts->level_count > 0;

    if (!has_scopes)
        facts->level_count = l->frame_count < SYMBOL_FRAMES_MAX ? l->frame_count : 1;
    for (uint32_t i = 0; i < l->frame_count && i < facts->level_count; i++) {
        uint32_t function = t->p->frames[l->first_frame + i].function;
        struct name_facts told = name_facts(t, function);
        const char *object = type_of_python(profile_string(t->p, function), l->runtime);
        bool known = told.result == NULL;

        if (!has_scopes)
            facts->passes_on[i] = told.is_allocator;
        if (told.is_rust_library || told.is_python_allocator)
            facts->passes_on[i] = true;
        // It returns a PyObject, which is only the head of the caller's object.
        if (told.is_python_allocator)
            facts->takes_size[i] = true;
        if (object != NULL) // Python's objects have any size.
            add_name_fact(t, facts,
                          (struct type_fact){.name = object, .size = 1, .has_tail = true}, i);
        for (size_t k = 0; k < facts->count; k++)
            known = known || (facts->v[k].level == i && facts->v[k].evidence == EVIDENCE_TEMPLATE);
        if (known)
            continue;
        add_name_fact(t, facts,
                      (struct type_fact){.name = told.result,
                                         .size = size_of_name(t, told.result)}, i);
    }
}

/* Return the name of the code at LOCATION in the source; NULL for location 0, an allocation
 * function. */
static const char *
source_name(struct typer *t, uint32_t location)
{
    const struct profile_location *l = &t->p->locations[location];
    uint32_t outermost = l->first_frame + l->frame_count - 1;

    return location == 0
               ? NULL
               : types_plain_name(t, profile_string(t->p, t->p->frames[outermost].function));
}

/* Facts of most calls of a program without debug information: none. If such a function passes
 * memory on, its caller may have some. */
static const struct type_facts silent = {.level_count = 1};
static const struct type_facts silent_passing = {.level_count = 1, .passes_on = {true}};

/* Return FACTS; or, if they are empty, a shared equivalent that can be compared by address. */
static const struct type_facts *
shared_if_silent(const struct type_facts *facts)
{
    if (facts->count > 0)
        return facts;
    for (size_t i = 0; i < facts->level_count; i++)
        if (!facts->passes_on[i])
            return &silent;
    return &silent_passing;
}

/* Find the facts about the call at LOCATION of the function at CALLEE (0 = an allocation
 * function). */
static const struct type_facts *
find_facts(struct typer *t, uint32_t location, uint32_t callee)
{
    const struct profile_location *l = &t->p->locations[location];
    uint32_t index = t->module_of[l->module];
    struct type_facts facts = {0}, *kept;
    const struct type_facts *shared;

    if (index != 0 && !l->exact && !l->at_start && type_module_has_facts(&t->modules[index - 1])) {
        struct type_module *m = &t->modules[index - 1];
        const struct type_statement *v = find_statements(t, m, l, source_name(t, callee));

        type_module_facts(m, l->address - t->p->modules[l->module].bias, types_stamp_of(t, l, v), v,
                          l->frame_count, &facts);
    }
    add_name_facts(t, l, &facts);
    shared = shared_if_silent(&facts);
    if (shared != &facts)
        return shared;
    kept = arena_alloc(&t->scratch, sizeof *kept);
    *kept = facts;
    return kept;
}

/* Like find_facts, but cached by location. */
static const struct type_facts *
types_facts_of(struct typer *t, uint32_t location, uint32_t callee)
{
    if (t->facts[location] == NULL)
        t->facts[location] = find_facts(t, location, callee);
    return t->facts[location];
}

/* Like type_verdict_decide, but cached, because many stacks have the same innermost call. */
static bool
types_decide(struct typer *t, const struct type_facts *facts, const struct type_sizes *sizes,
             struct type_answer *ret)
{
    uint64_t hash;
    struct decided *j;

    *ret = (struct type_answer){0};
    if (facts->count == 0)
        return facts == &silent_passing;
    hash = hash_u64((uintptr_t)facts ^ hash_u64(sizes->min * 31 + sizes->max));
    j = &t->decided[hash & (t->answer_count - 1)];
    if (j->facts != facts || j->sizes.min != sizes->min || j->sizes.max != sizes->max) {
        *j = (struct decided){.facts = facts, .sizes = *sizes};
        j->passes_on = type_verdict_decide(facts, sizes, &j->answer);
    }
    *ret = j->answer;
    return j->passes_on;
}

/* Fill the empty RET with the type of NODE's blocks, under the assumption that a header of HEADER
 * bytes was requested in addition to SIZES. Return false if there are no facts about the calls, so
 * that other sizes would make no difference. */
static bool
types_decide_sizes(struct typer *t, uint32_t node, const struct type_sizes *sizes, uint64_t header,
                   struct type_answer *ret)
{
    const struct profile *p = t->p;
    uint32_t callee = 0;
    bool passes_on = true, knows = false;

    for (unsigned i = 0; i <= WRAPPERS_MAX && node != 0 && passes_on; i++) {
        uint32_t location = p->nodes[node].location;
        const struct profile_location *l = &p->locations[location];
        const struct type_facts *facts;
        struct type_answer a;

        if (location == 0 || l->frame_count == 0)
            break;
        facts = types_facts_of(t, location, callee);
        passes_on = types_decide(t, facts, sizes, &a);
        knows |= facts->count > 0;
        // A function that adds a header does not know the type.
        if (header > 0 && i == 0 && !passes_on)
            break;
        if (a.fact != NULL && (!passes_on || ret->fact == NULL))
            *ret = a;
        callee = location;
        node = p->nodes[node].parent;
        t->steps = passes_on && i + 1 > t->steps ? i + 1 : t->steps;
    }
    return knows;
}

/* Fill the empty RET with the type of NODE's blocks, for the query ASKED. */
static void
decide_node(struct typer *t, uint32_t node, const struct type_sizes *asked,
            struct type_answer *ret)
{
    if (!types_decide_sizes(t, node, asked, 0, ret))
        return;
    // A guess, or a type that is only the head of the block, is no better than one that fits after
    // a header.
    if (ret->verdict == VERDICT_CERTAIN ||
        (ret->fact != NULL && ret->fact->evidence >= EVIDENCE_CERTAIN && ret->fit != FIT_HEAD))
        return;
    for (uint64_t header = 8; header <= HEADER_MAX && asked->min > header; header *= 2) {
        struct type_sizes sizes = {asked->min - header, asked->max - header};
        struct type_answer behind = {0};

        types_decide_sizes(t, node, &sizes, header, &behind);
        if (behind.verdict != VERDICT_CERTAIN || !behind.fact->is_aggregate ||
            behind.fit < FIT_TAIL)
            continue;
        *ret = behind;
        ret->verdict = VERDICT_LIKELY;
        return;
    }
}

/* Return the first type of SIZE; P->type_count if there is none. */
static size_t
first_of_size(const struct profile *p, uint64_t size)
{
    size_t low = 0;
    size_t high = p->type_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (p->types[middle].size < size)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->type_count && p->types[low].size == size ? low : p->type_count;
}

/* Return the string id of the type of A, which has a fact: the name, followed by "[]" for an array
 * or " +" for a structure that only begins the block. */
static uint32_t
types_type_name(struct typer *t, const struct type_answer *a)
{
    const char *more = a->fit == FIT_ARRAY ? "[]" : a->fit == FIT_HEAD ? " +" : "";
    bool is_new;
    uint64_t *known;

    static_assert(_Alignof(struct type_fact) > FIT_EXACT, "room for how it fits");
    known = map_put(&t->type_names, (uintptr_t)a->fact | a->fit, &is_new);
    if (is_new)
        *known = strtab_clean_id(&t->p->strings,
                                 arena_printf(&t->scratch, "%s%s", a->fact->name, more));
    return (uint32_t)*known;
}

/* Like decide_node, but cached, because many stacks have the same innermost calls. */
static struct named_answer
answer_of(struct typer *t, uint32_t node, const struct type_sizes *sizes)
{
    const struct profile *p = t->p;
    struct cached_verdict *s, now = {.sizes = *sizes};
    struct type_answer a = {0};
    uint64_t hash = sizes->min * 31 + sizes->max;

    for (uint32_t i = 0, n = node; i < CACHED_CALLS; i++, n = p->nodes[n].parent) {
        now.locations[i] = p->nodes[n].location;
        hash = hash * 0x9e3779b97f4a7c15u + now.locations[i];
    }
    s = &t->cached_verdict[hash_u64(hash) & (t->answer_count - 1)];
    if (memcmp(s->locations, now.locations, sizeof now.locations) == 0 &&
        s->sizes.min == sizes->min && s->sizes.max == sizes->max && now.locations[0] != 0)
        return s->answer;
    t->steps = 0;
    decide_node(t, node, sizes, &a);
    if (a.fact != NULL)
        now.answer = (struct named_answer){types_type_name(t, &a), a.verdict};
    if (t->steps < CACHED_CALLS)
        *s = now;
    return now.answer;
}

/* Find the types with SIZE. */
static struct same_size
find_same_size(const struct profile *p, uint64_t size)
{
    size_t first = first_of_size(p, size);
    struct same_size same = {true, first < p->type_count, 0};

    if (same.any && (first + 1 == p->type_count || p->types[first + 1].size != size))
        same.sole = p->types[first].name;
    return same;
}

static struct same_size
same_size(struct typer *t, uint64_t size)
{
    if (size >= SMALL_MAX)
        return find_same_size(t->p, size);
    if (!t->same_size[size].known)
        t->same_size[size] = find_same_size(t->p, size);
    return t->same_size[size];
}

static void
give_type(struct typer *t, struct profile_site *site, const struct named_answer *a)
{
    struct same_size same;

    site->type = a->type;
    site->verdict = a->verdict;
    if (a->verdict != VERDICT_UNKNOWN || site->counters.allocations == 0 ||
        site->counters.size_min != site->counters.size_max)
        return;
    same = same_size(t, site->counters.size_min);
    if (same.any)
        site->verdict = VERDICT_SAME_SIZE;
    site->type = same.sole;
}

static void
decide_sites(struct typer *t)
{
    struct profile *p = t->p;

    for (size_t i = 0; i < p->site_count; i++) {
        struct asked *a = asked_of(t, p->sites[i].node);

        if (!a->decided)
            a->answer = answer_of(t, p->sites[i].node, &a->sizes);
        a->decided = true;
        give_type(t, &p->sites[i], &a->answer);
    }
}
