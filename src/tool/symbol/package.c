/* package.c: looks a file up in the lists that dpkg keeps, a file PACKAGE.list for each package
 * with a path on each line.
 *
 * They are read here instead of asking dpkg-query, because no view starts another program. Each is
 * read once for all paths. A path may be listed as the system had it before /lib became a link to
 * /usr/lib, so both are looked for.
 */
#include "symbol/package.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/regular.h"

#define LIST_BYTES_MAX (16 * MIB)

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

/* The whole of the file PATH, to be freed; NULL if it cannot be read. */
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

void
package_find(const char *lists_in, const char *const *paths, size_t count, const char **ret_names,
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
            found += ret_names[i] != NULL;
    }
    if (dir != NULL)
        closedir(dir);
}
