/* overwrite.c: `run --force`.
 *
 * A script that runs again and again wants its profile under one name. The old one is removed, not
 * written over: a process that still has it mapped keeps what it has. With it go the profiles of
 * the other processes of its run, since those of two runs in one place would be taken for one
 * session.
 *
 * What is removed must be a profile by what is in it, so a slip of the finger after -o costs no
 * other file; and no symbolic link is followed.
 */
#include "launch/overwrite.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/environment.h"
#include "profile/origin.h"

static bool
is_profile(const char *path)
{
    struct disk_header h;
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && origin_header(path, &h);
}

/* The directory of other processes beside OUTPUT. */
static const char *
others_of(const char *output, struct arena *arena)
{
    size_t length = strlen(output), suffix = strlen(PROFILE_SUFFIX);

    if (length > suffix && strcmp(output + length - suffix, PROFILE_SUFFIX) == 0)
        length -= suffix;
    return arena_printf(arena, "%.*s" ORIGIN_OTHERS_SUFFIX, (int)length, output);
}

const char *
overwrite_profile_in(const char *directory, struct arena *arena)
{
    const char *found = NULL;
    struct dirent *e;
    DIR *d = opendir(directory);

    while (d != NULL && found == NULL && (e = readdir(d)) != NULL) {
        const char *path = arena_printf(arena, "%s/%s", directory, e->d_name);

        if (e->d_name[0] != '.' && is_profile(path))
            found = path;
    }
    if (d != NULL)
        closedir(d);
    return found;
}

static void
remove_others(const char *directory, struct arena *arena)
{
    struct dirent *e;
    struct stat st;
    DIR *d = lstat(directory, &st) == 0 && S_ISDIR(st.st_mode) ? opendir(directory) : NULL;

    if (d == NULL)
        return;
    while ((e = readdir(d)) != NULL) {
        const char *path = arena_printf(arena, "%s/%s", directory, e->d_name);

        if (e->d_name[0] != '.' && is_profile(path))
            unlink(path);
    }
    closedir(d);
    rmdir(directory); // Something else may be in it, which stays.
}

int
overwrite_make_room(const char *output, struct arena *arena, struct err *err)
{
    struct stat st;

    if (output == NULL || strchr(output, '%') != NULL ||
        (stat(output, &st) == 0 && S_ISDIR(st.st_mode)))
        return 0;
    if (lstat(output, &st) == 0) {
        if (!is_profile(output))
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "%s exists and is no profile, and --force replaces nothing else; choose "
                           "another name",
                           output);
        if (unlink(output) != 0)
            return err_errno(err, HEAPTAP_BAD_INPUT, "cannot remove %s", output);
    }
    remove_others(others_of(output, arena), arena);
    return 0;
}
