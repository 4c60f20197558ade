/* run_places.c: rename the profiles after a run.
 *
 * While the program runs, it is unknown which process is the main one, and the first process has
 * the name that the user chose. If another process is the main one (run_process.c), the names are
 * exchanged after the run:
 *
 *     w.heaptap                               w.heaptap                    ./prog, by exec
 *     w.prog.12.heaptap               ──►     w.processes/
 *     w.processes/heaptap.ls.13.heaptap           heaptap.bash.12.heaptap  before its exec
 *                                                 heaptap.ls.13.heaptap
 *
 * So NAME.processes has one profile beside it and contains all others of the run. The directory
 * keeps the name of the started program, even if file names contain a program's name. Only profiles
 * of ended processes are moved, because a living recorder finds its file by name. Nothing is
 * overwritten, and a profile that cannot be moved stays in its place. So does one that the program
 * has moved: it would miss the file. */
#include "launch/run_places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "format/environment.h"

enum { NAMES_TRIED = 1000 };

/* Rename FROM to TO unless TO exists. Some file systems cannot do that atomically; there a link is
 * used, which replaces nothing either. */
static bool
rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    return link(from, to) == 0 && unlink(from) == 0;
}

static bool
move(struct run_process *p, const char *to)
{
    if (!rename_new(p->path, to))
        return false;
    p->path = to;
    return true;
}

/* Move P to DIRECTORY, under the name for processes other than the first. */
static void
move_into(struct recorded_run *r, struct run_process *p, const char *directory)
{
    const char *name =
        destination_name(&r->to, PROFILE_DEFAULT_NAME, p->executable, (pid_t)p->pid);
    int length = (int)(strlen(name) - strlen(PROFILE_SUFFIX));

    for (int number = 1; number <= NAMES_TRIED; number++) {
        const char *to = number == 1 ? arena_printf(&r->arena, "%s/%s", directory, name)
                                     : arena_printf(&r->arena, "%s/%.*s.%d" PROFILE_SUFFIX,
                                                    directory, length, name, number);

        if (move(p, to) || access(to, F_OK) != 0)
            return;
    }
}

static bool
run_places_is_in(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    return strncmp(path, directory, length) == 0 && path[length] == '/';
}

void
run_places_arrange(struct recorded_run *r, struct run_profiles *profiles, struct run_process *v,
                   size_t count, size_t head)
{
    const char *place, *directory;

    if (!r->to.has_others || count < 1 || v[head].running || v[head].is_moved)
        return;
    // If profiles are lost, the program may have removed this directory.
    if (profiles->lost.ended > 0 && access(destination_others_path(&r->to, r->pid), F_OK) != 0)
        return;
    place = destination_place(&r->to, v[head].executable, (pid_t)v[head].pid);
    directory = destination_make_others(&r->to, r->pid);
    if (directory == NULL)
        return;
    profiles->directory = directory;
    for (size_t i = 0; i < count; i++)
        if (i != head && !v[i].running && !v[i].is_moved &&
            !run_places_is_in(v[i].path, directory))
            move_into(r, &v[i], directory);
    if (strcmp(v[head].path, place) != 0)
        move(&v[head], place);
    rmdir(directory); // Succeeds only if it is empty.
}
