/* path.c: file names as text; no function accesses a file. */
#include "util/path.h"

#include <stdlib.h>
#include <string.h>

const char *
path_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Return true if the component of LENGTH bytes at S is NAME. */
static bool
is_component(const char *s, size_t length, const char *name)
{
    return length == strlen(name) && memcmp(s, name, length) == 0;
}

const char *
path_normal(const char *path, struct arena *arena)
{
    bool is_absolute = *path == '/';
    char *ret = arena_strdup(arena, path);
    size_t end = is_absolute, kept = is_absolute; // `..` removes nothing in front of KEPT.

    for (const char *s = path; *s != '\0';) {
        size_t length = strcspn(s, "/");
        bool is_up = is_component(s, length, "..");

        if (is_up && end > kept) {
            while (end > kept && ret[end - 1] != '/')
                end--;
            end -= end > kept;
        } else if (length > 0 && !is_component(s, length, ".") && !(is_up && is_absolute)) {
            if (end > 0 && ret[end - 1] != '/')
                ret[end++] = '/';
            memmove(ret + end, s, length);
            end += length;
            kept = is_up ? end : kept;
        }
        s += length + (s[length] == '/');
    }
    ret[end] = '\0';
    return end == 0 || strcmp(ret, path) == 0 ? path : ret;
}

/* Return the number of equal characters at the ends of A and B. */
static size_t
same_at_end(const char *a, const char *b)
{
    size_t i = strlen(a), j = strlen(b), n = 0;

    while (n < i && n < j && a[i - 1 - n] == b[j - 1 - n])
        n++;
    return n;
}

/* Order owners by name, then by path from its end, so that the most similar paths of a name are
 * neighbours. */
static int
compare_owners(const void *a, const void *b)
{
    const struct path_owner *x = *(const struct path_owner *const *)a;
    const struct path_owner *y = *(const struct path_owner *const *)b;
    int order = strcmp(x->name, y->name);
    size_t i, j, n;

    if (order != 0)
        return order;
    i = strlen(x->path);
    j = strlen(y->path);
    n = same_at_end(x->path, y->path);
    if (n < i && n < j)
        return (unsigned char)x->path[i - 1 - n] < (unsigned char)y->path[j - 1 - n] ? -1 : 1;
    if (i != j)
        return i < j ? -1 : 1;
    return strcmp(x->more, y->more);
}

/* Return the end of PATH with the last SAME characters, and the rest of the component before. */
static const char *
longer_tail(const char *path, size_t same)
{
    size_t at = strlen(path) - same;

    while (at > 0 && path[at - 1] != '/')
        at--;
    return path + at;
}

const char **
path_tails(struct arena *arena, const struct path_owner *v, size_t count)
{
    const struct path_owner **sorted = arena_array(arena, count, sizeof(struct path_owner *));
    const char **tails = arena_array(arena, count, sizeof(const char *));

    for (size_t i = 0; i < count; i++) {
        sorted[i] = &v[i];
        tails[i] = "";
    }
    if (count > 1)
        qsort(sorted, count, sizeof(struct path_owner *), compare_owners);
    for (size_t first = 0, end; first < count; first = end) {
        const char *path = sorted[first]->path, *name = sorted[first]->name, *tail;
        size_t same = 0, k;

        for (end = first + 1; end < count && strcmp(sorted[end]->name, name) == 0 &&
                              strcmp(sorted[end]->path, path) == 0;)
            end++;
        if (first > 0 && strcmp(sorted[first - 1]->name, name) == 0)
            same = same_at_end(sorted[first - 1]->path, path);
        else if (end - first == 1 && (end == count || strcmp(sorted[end]->name, name) != 0))
            continue;
        if (end < count && strcmp(sorted[end]->name, name) == 0 &&
            same_at_end(sorted[end]->path, path) > same)
            same = same_at_end(sorted[end]->path, path);
        tail = longer_tail(path, same);
        for (k = first; k < end; k++)
            tails[sorted[k] - v] = end - first == 1
                                       ? tail
                                       : arena_printf(arena, "%s, %s", tail, sorted[k]->more);
    }
    return tails;
}
