/* debug_dirs.c: find debug files below directories that the user named.
 *
 * Such a directory may have the layout of /usr/lib/debug, like unpacked debug packages:
 *
 *     DIR/.build-id/xx/yyyy.debug
 *
 * It may also be an unordered set of files. Files directly in DIR are identified by build id,
 * independent of their names. To read the build ids, all these files are opened once, when the
 * first module is not found by layout. Subdirectories and files beyond FILES_MAX are skipped.
 *
 * The caller must verify the build id of each file that it opens. */
#include "symbol/debug_dirs.h"

#include <dirent.h>
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/arena.h"
#include "util/path.h"

enum { FILES_MAX = 10000, ID_BYTES_MAX = 32 };

struct debug_file {
    const char *path;
    uint8_t id[ID_BYTES_MAX];
    size_t id_bytes;
};

struct debug_dirs {
    struct arena arena;
    const char *const *paths;
    size_t count;
    bool listed; // True if the files of the directories were read into the next three members.
    struct debug_file *files;
    size_t file_count, file_capacity;
};

struct debug_dirs *
debug_dirs_new(const char *const *paths, size_t count)
{
    struct debug_dirs *d = xmalloc(sizeof *d);

    *d = (struct debug_dirs){.paths = paths, .count = count};
    return d;
}

void
debug_dirs_free(struct debug_dirs *d)
{
    if (d == NULL)
        return;
    arena_release(&d->arena);
    free(d);
}

/* Add the file PATH if it has a build id. */
static void
add_file(struct debug_dirs *d, const char *path)
{
    struct debug_file f = {.path = path};
    struct stat st;
    int fd = regular_open(NULL, path, &st);
    const void *id;
    ssize_t id_bytes;
    Elf *elf;

    if (fd < 0)
        return;
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    id_bytes = elf != NULL && elf_kind(elf) == ELF_K_ELF ? dwelf_elf_gnu_build_id(elf, &id) : -1;
    if (id_bytes > 0 && id_bytes <= ID_BYTES_MAX) {
        f.id_bytes = (size_t)id_bytes;
        memcpy(f.id, id, f.id_bytes);
        arena_grow(&d->arena, &d->files, &d->file_capacity, d->file_count, sizeof *d->files);
        d->files[d->file_count++] = f;
    }
    elf_end(elf);
    close(fd);
}

static void
list_files(struct debug_dirs *d)
{
    size_t seen = 0;

    d->listed = true;
    for (size_t i = 0; i < d->count; i++) {
        DIR *dir = opendir(d->paths[i]);
        const struct dirent *e;

        while (dir != NULL && seen < FILES_MAX && (e = readdir(dir)) != NULL) {
            if (e->d_type == DT_DIR || e->d_name[0] == '.')
                continue;
            seen++;
            add_file(d, arena_printf(&d->arena, "%s/%s", d->paths[i], e->d_name));
        }
        if (dir != NULL)
            closedir(dir);
    }
}

const char *
debug_dirs_by_id(struct debug_dirs *d, const uint8_t *id, size_t id_bytes, size_t *cursor)
{
    char hex[2 * ID_BYTES_MAX + 1] = "";

    if (d == NULL || id_bytes < 2 || id_bytes > ID_BYTES_MAX)
        return NULL;
    for (size_t i = 1; i < id_bytes; i++)
        snprintf(hex + 2 * (i - 1), 3, "%02x", id[i]);
    if (*cursor < d->count)
        return arena_printf(&d->arena, "%s/.build-id/%02x/%s.debug", d->paths[(*cursor)++], id[0],
                            hex);
    if (!d->listed)
        list_files(d);
    while (*cursor - d->count < d->file_count) {
        const struct debug_file *f = &d->files[(*cursor)++ - d->count];

        if (f->id_bytes == id_bytes && memcmp(f->id, id, id_bytes) == 0)
            return f->path;
    }
    return NULL;
}

const char *
debug_dirs_by_name(struct debug_dirs *d, const char *name, size_t *cursor)
{
    size_t i = *cursor / 2;

    if (d == NULL || i >= d->count || *name == '\0')
        return NULL;
    return arena_printf(&d->arena, "%s/%s%s", d->paths[i], name, (*cursor)++ % 2 ? ".debug" : "");
}
