/* package.c: search for a file in dpkg's lists. Each package has a PACKAGE.list with one path per
 * line.
 *
 * The lists are read directly, because views start no other program, such as dpkg-query. Each list
 * is read once for all paths. A list may have a path from before /lib became a link to /usr/lib, so
 * both forms are searched.
 *
 * Most programs come from a package, and reading thousands of lists takes longer than a short
 * program runs. Therefore results are cached beside the symbol cache (symcache.c has the rules),
 * one file per path:
 *
 *     heaptap package 1
 *     /var/lib/dpkg/info 1700000000.123456789      the lists, and when their directory changed
 *     coreutils                                    or an empty line
 *
 * Every change by dpkg replaces a list, which changes the directory's time. A result from shortly
 * after a change is not cached, because file timestamps may be too coarse to distinguish the next
 * change. */
#include "symbol/package.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "symbol/symcache.h"
#include "util/path.h"

#define LIST_BYTES_MAX (16 * MIB)
#define KIND "package-"

enum { NAME_BYTES_MAX = 255, STABLE_S = 3 };

// Substitute for the build id in a cache file's name; these results depend on the path alone.
static const uint8_t any_id[] = {0};

static bool
has_line(const char *text, size_t length, const char *line)
{
    size_t line_length = strlen(line);
    const char *end = text + length, *at = text;

    while ((at = memmem(at, (size_t)(end - at), line, line_length)) != NULL) {
        if ((at == text || at[-1] == '\n') && (at + line_length == end || at[line_length] == '\n'))
            return true;
        at++;
    }
    return false;
}

static bool
lists(const char *text, size_t length, const char *path)
{
    if (*path != '/')
        return false;
    return has_line(text, length, path) ||
           (strncmp(path, "/usr/", 5) == 0 && has_line(text, length, path + 4));
}

/* Return the contents of the file PATH, which the caller frees; NULL if it cannot be read. */
static char *
read_list(const char *path, size_t *ret_length)
{
    struct stat st;
    int fd = regular_open(NULL, path, &st);
    char *text = NULL;
    ssize_t n;

    if (fd < 0)
        return NULL;
    if ((uint64_t)st.st_size <= LIST_BYTES_MAX) {
        text = xmalloc((size_t)st.st_size + 1);
        n = read(fd, text, (size_t)st.st_size);
        *ret_length = n > 0 ? (size_t)n : 0;
    }
    close(fd);
    return text;
}

static void
search_list(const char *directory, const char *name, const char *const *paths, size_t count,
            const char **ret_names, struct arena *arena)
{
    struct arena scratch = {0};
    size_t length = 0;
    char *text = read_list(arena_printf(&scratch, "%s/%s", directory, name), &length);

    for (size_t i = 0; i < count && text != NULL; i++)
        if (ret_names[i] == NULL && lists(text, length, paths[i]))
            ret_names[i] = arena_strndup(arena, name, strcspn(name, ":") < strlen(name)
                                                          ? strcspn(name, ":")
                                                          : strlen(name) - strlen(".list"));
    free(text);
    arena_release(&scratch);
}

/* Return the lines with which a cached result begins if it is valid for the present lists; ""
 * without lists. Set *RET_STABLE to true if results may be cached. */
static const char *
package_stamp_of(const char *lists_in, bool *ret_stable, struct arena *arena)
{
    struct stat st;

    *ret_stable = false;
    if (stat(lists_in, &st) != 0)
        return "";
    *ret_stable = time(NULL) - st.st_mtim.tv_sec >= STABLE_S;
    return arena_printf(arena, "heaptap package 1\n%s %lld.%09ld\n", lists_in,
                        (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

/* Set *RET_NAME to the cached package of PATH, NULL = none. Return false if nothing valid is
 * cached. */
static bool
remembered(const char *path, const char *stamp, const char **ret_name, struct arena *arena)
{
    size_t size_bytes, stamp_bytes = strlen(stamp), length;
    int64_t written_unix_s;
    char *text;
    bool good;

    if (*path != '/' || stamp_bytes == 0)
        return false;
    text = symcache_read(KIND, path, any_id, sizeof any_id, &size_bytes, &written_unix_s);
    if (text == NULL)
        return false;
    length = size_bytes > stamp_bytes ? size_bytes - stamp_bytes - 1 : 0;
    good = size_bytes > stamp_bytes && memcmp(text, stamp, stamp_bytes) == 0 &&
           length <= NAME_BYTES_MAX && text[size_bytes - 1] == '\n' &&
           memchr(text + stamp_bytes, '\n', length) == NULL &&
           memchr(text + stamp_bytes, '\0', length) == NULL;
    if (good && length > 0)
        *ret_name = arena_strndup(arena, text + stamp_bytes, length);
    free(text);
    return good;
}

static void
package_remember(const char *path, const char *stamp, const char *name)
{
    struct strbuf text = {0};

    strbuf_fmt(&text, "%s%s\n", stamp, name != NULL ? name : "");
    symcache_write(KIND, path, any_id, sizeof any_id, &text);
    strbuf_release(&text);
}

/* Read the lists until each of the COUNT PATHS has been found, or all lists have been read. */
static void
package_search(const char *lists_in, const char *const *paths, size_t count, const char **ret_names,
               struct arena *arena)
{
    static const char suffix[] = ".list";
    DIR *dir = opendir(lists_in);
    const struct dirent *e;
    size_t found = 0;

    while (dir != NULL && found < count && (e = readdir(dir)) != NULL) {
        size_t length = strlen(e->d_name);

        if (length <= strlen(suffix) || strcmp(e->d_name + length - strlen(suffix), suffix) != 0)
            continue;
        search_list(lists_in, e->d_name, paths, count, ret_names, arena);
        found = 0;
        for (size_t i = 0; i < count; i++)
            found += ret_names[i] != NULL || *paths[i] != '/';
    }
    if (dir != NULL)
        closedir(dir);
}

void
package_find(const char *lists_in, bool keep, const char *const *paths, size_t count,
             const char **ret_names, struct arena *arena)
{
    struct arena scratch = {0};
    const char **left = arena_array(&scratch, count, sizeof *left); // "" = result known.
    size_t left_count = 0;
    bool stable = false;
    const char *stamp = keep ? package_stamp_of(lists_in, &stable, &scratch) : "";

    for (size_t i = 0; i < count; i++) {
        left[i] = remembered(paths[i], stamp, &ret_names[i], arena) ? "" : paths[i];
        left_count += *left[i] == '/';
    }
    if (left_count > 0)
        package_search(lists_in, left, count, ret_names, arena);
    for (size_t i = 0; i < count && stable; i++)
        if (*left[i] == '/')
            package_remember(left[i], stamp, ret_names[i]);
    arena_release(&scratch);
}
