/* diff_files.c: match source files by the ends of their paths.
 *
 * Debug information contains the build directory. So a program built in /a and again in /b has no
 * path in common, and no stack of one build would match a stack of the other. Equal paths are one
 * file. Any other file matches the file of the other profile with which it shares most trailing
 * components, at least the name:
 *
 *     before           after
 *     /a/src/x/util.c  /b/src/x/util.c     x/util.c: one component more than y/util.c
 *     /a/src/y/util.c  /b/src/y/util.c
 *
 * A match must be the best for both sides, and no other file may match equally well. So two files
 * of one profile never merge, and ambiguous files stay separate. */
#include "analyse/diff.h"

#include <stdlib.h>
#include <string.h>

#include "util/path.h"

enum { BEFORE = 1, AFTER = 2 };

// Maximum number of pairs to compare among files of one name. Beyond it, these files stay separate.
enum { PAIRS_MAX = 1 << 20 };

/* A file that only one side has, with its best match. */
struct lone {
    const char *path, *name;
    uint32_t id;
    size_t shared; // Largest number of components shared with a file of the other side.
    uint32_t best; // Id of the file that shares them.
    bool is_tied;  // Another file shares as many.
};

struct lones {
    struct lone *v;
    size_t count;
};

/* Set the flag SIDE in MASKS for each file of P. MASKS is keyed by ids of PATHS. */
static void
diff_files_add_side(const struct profile *p, uint8_t side, struct strtab *paths, struct map *masks)
{
    struct map seen = {0};

    for (uint32_t i = 0; i < p->frame_count; i++) {
        bool is_new = false;

        if (p->frames[i].file != 0)
            map_put(&seen, p->frames[i].file, &is_new);
        if (is_new)
            *map_put(masks, strtab_id(paths, profile_string(p, p->frames[i].file)), NULL) |= side;
    }
    map_release(&seen);
}

static int
compare_lones(const void *a, const void *b)
{
    const struct lone *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : strcmp(x->path, y->path);
}

/* Return the files that only SIDE has, sorted by name. The caller frees their array. */
static struct lones
find_lones(const struct strtab *paths, const struct map *masks, uint8_t side)
{
    struct lones ret = {.v = xmalloc(paths->count * sizeof *ret.v + 1)};

    for (uint32_t id = 1; id < paths->count; id++) {
        const char *path = strtab_get(paths, id);

        if (*map_get(masks, id) == side)
            ret.v[ret.count++] =
                (struct lone){.path = path, .name = path_basename(path), .id = id};
    }
    if (ret.count > 1)
        qsort(ret.v, ret.count, sizeof *ret.v, compare_lones);
    return ret;
}

/* Return the number of trailing path components that A and B share. */
static size_t
shared_components(const char *a, const char *b)
{
    size_t i = strlen(a), k = strlen(b), count = 0;

    while (i > 0 && k > 0 && a[i - 1] == b[k - 1]) {
        i--;
        k--;
        count += a[i] == '/';
    }
    return count + ((i == 0 || a[i - 1] == '/') && (k == 0 || b[k - 1] == '/') &&
                    (a[i] != '/' || b[k] != '/'));
}

static void
consider(struct lone *file, uint32_t other, size_t shared)
{
    if (shared < file->shared)
        return;
    file->is_tied = shared == file->shared;
    file->shared = shared;
    file->best = other;
}

/* Return the number of consecutive FILES from FIRST on with the same name. */
static size_t
count_named(const struct lones *files, size_t first)
{
    size_t n = 1;

    while (first + n < files->count && strcmp(files->v[first].name, files->v[first + n].name) == 0)
        n++;
    return n;
}

/* Match the A_COUNT files A with the B_COUNT files B, all of one name. */
static void
match_named(struct lone *a, size_t a_count, struct lone *b, size_t b_count, struct map *matches)
{
    if (a_count > PAIRS_MAX / b_count)
        return;
    for (size_t i = 0; i < a_count; i++)
        for (size_t k = 0; k < b_count; k++) {
            size_t shared = shared_components(a[i].path, b[k].path);

            consider(&a[i], b[k].id, shared);
            consider(&b[k], a[i].id, shared);
        }
    for (size_t i = 0; i < a_count; i++)
        for (size_t k = 0; k < b_count; k++)
            if (a[i].best == b[k].id && b[k].best == a[i].id && !a[i].is_tied && !b[k].is_tied)
                *map_put(matches, b[k].id, NULL) = a[i].id;
}

void
diff_files_match(const struct profile *before, const struct profile *after,
                 struct diff_files *ret)
{
    struct map masks = {0};
    struct lones a, b;

    *ret = (struct diff_files){0};
    diff_files_add_side(before, BEFORE, &ret->paths, &masks);
    diff_files_add_side(after, AFTER, &ret->paths, &masks);
    a = find_lones(&ret->paths, &masks, BEFORE);
    b = find_lones(&ret->paths, &masks, AFTER);
    for (size_t i = 0, k = 0; i < a.count && k < b.count;) {
        int order = strcmp(a.v[i].name, b.v[k].name);
        size_t a_count = count_named(&a, i), b_count = count_named(&b, k);

        if (order == 0)
            match_named(&a.v[i], a_count, &b.v[k], b_count, &ret->matches);
        i += order <= 0 ? a_count : 0;
        k += order >= 0 ? b_count : 0;
    }
    free(a.v);
    free(b.v);
    map_release(&masks);
}

const char *
diff_files_key(struct diff_files *f, const char *path)
{
    const uint64_t *match = map_get(&f->matches, strtab_id(&f->paths, path));

    return match != NULL ? strtab_get(&f->paths, (uint32_t)*match) : path;
}

void
diff_files_release(struct diff_files *f)
{
    strtab_release(&f->paths);
    map_release(&f->matches);
}
