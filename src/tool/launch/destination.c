/* destination.c: choose the paths of a run's profiles.
 *
 * The first process gets the name that the user requested. A run may have hundreds of other
 * processes. Their profiles go to a directory beside the first profile, unless the user named one
 * directory for all. The first of these processes creates it:
 *
 *     app.heaptap         the program that was started
 *     app.processes/      heaptap.cc1.4711.heaptap, heaptap.as.4712.heaptap, …
 *
 * The recorder expands patterns when it creates a file, and never overwrites one. It has no good
 * way to report an error, so conflicts are detected here in advance. The run's number is chosen
 * here for both file and directory: both must be new, or two runs would look like one. A run gets a
 * number if another run uses its name, or still uses a numbered form of it. If several runs start
 * at once, each executes its program and keeps its profile. */
#include "launch/destination.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/environment.h"
#include "launch/overwrite.h"
#include "profile/origin.h"
#include "util/path.h"
#include "util/strbuf.h"
#include "view/messages.h"

enum { NUMBERS_TRIED = 100000, STARTING_S = 10 };

/* The longest process id of Linux, and the longest name of a program that the recorder writes. */
enum { PID_LONGEST = 4194304, PROGRAM_LONGEST = 63 };

/* Return PATH with every % doubled, as a pattern for the recorder. */
static const char *
escape(struct arena *arena, const char *path)
{
    struct strbuf b = {0};
    const char *escaped;

    for (; *path != '\0'; path++) {
        strbuf_char(&b, *path);
        if (*path == '%')
            strbuf_char(&b, '%');
    }
    escaped = arena_strdup(arena, strbuf_text(&b));
    strbuf_release(&b);
    return escaped;
}

/* Return the length of PATH without trailing slashes, or 1 if it is all slashes. */
static size_t
trimmed_length(const char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

static bool
destination_is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Return the directory part of PATH, in a form that can be opened. */
static const char *
parent_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL   ? "."
           : slash == path ? "/"
                           : arena_strndup(arena, path, (size_t)(slash - path));
}

/* Return the last component of PROGRAM's executable, as the recorder writes it for %e. */
static const char *
file_name(struct arena *arena, const char *program)
{
    char real[PATH_MAX];
    const char *path = realpath(program, real) ? real : program;
    char *name = arena_strdup(arena, path_basename(path));

    name[strcspn(name, " ")] = '\0';
    for (char *c = name; *c != '\0'; c++)
        if (*c < ' ' || *c >= 0x7f || *c == '%')
            *c = '_';
    return name;
}

/* Return PATTERN as process PID of PROGRAM expands it. %n becomes 1: it is still in a pattern only
 * if a process id makes names unique. */
static const char *
expanded_by(const struct destination *d, const char *pattern, const char *program, pid_t pid)
{
    struct strbuf b = {0};
    const char *text;

    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p != '%' || p[1] == '\0')
            strbuf_char(&b, *p);
        else if (*++p == 'p')
            strbuf_fmt(&b, "%d", (int)pid);
        else if (*p == 'e')
            strbuf_str(&b, program);
        else if (*p == 'n')
            strbuf_char(&b, '1');
        else
            strbuf_fmt(&b, *p == '%' ? "%c" : "%%%c", *p);
    }
    text = arena_strdup(d->arena, strbuf_text(&b));
    strbuf_release(&b);
    return text;
}

/* Return the directory of the other processes' profiles. PATTERN is the profile of the first
 * process, PID. */
static const char *
others_path(const struct destination *d, const char *pattern, pid_t pid)
{
    const char *path = expanded_by(d, pattern, d->program, pid);
    size_t length = strlen(path), suffix = strlen(PROFILE_SUFFIX);

    if (length >= suffix && strcmp(path + length - suffix, PROFILE_SUFFIX) == 0)
        length -= suffix;
    return arena_printf(d->arena, "%.*s" ORIGIN_OTHERS_SUFFIX, (int)length, path);
}

const char *
destination_name(const struct destination *d, const char *pattern, const char *executable,
                 pid_t pid)
{
    return expanded_by(d, pattern, file_name(d->arena, executable), pid);
}

const char *
destination_place(const struct destination *d, const char *executable, pid_t pid)
{
    return destination_name(d, d->wanted, executable, pid);
}

/* Return the names that the recorder can give to the profile of process PID with PATTERN, as a
 * pattern for fnmatch. TAIL is "" for its first choice; otherwise it follows the name without its
 * suffix. */
static const char *
names_of(const struct destination *d, const char *pattern, pid_t pid, const char *tail)
{
    const char *slash = strrchr(pattern, '/');
    const char *name = expanded_by(d, slash != NULL ? slash + 1 : pattern, "\1", pid);
    size_t length = strlen(name), suffix = strlen(PROFILE_SUFFIX);
    struct strbuf b = {0};
    const char *names;

    if (*tail != '\0' && length > suffix && strcmp(name + length - suffix, PROFILE_SUFFIX) == 0)
        length -= suffix;
    for (size_t i = 0; i < length; i++) {
        if (name[i] != '\1' && strchr("*?[\\", name[i]) != NULL)
            strbuf_char(&b, '\\');
        strbuf_char(&b, name[i] == '\1' ? '*' : name[i]);
    }
    strbuf_str(&b, tail);
    names = arena_strdup(d->arena, strbuf_text(&b));
    strbuf_release(&b);
    return names;
}

bool
destination_is_gone(const struct destination *d)
{
    struct stat st;

    // A removed working directory still exists, without a name.
    return stat(d->directory, &st) != 0 ? errno == ENOENT : st.st_nlink == 0;
}

unsigned
destination_fit(const struct destination *d, const char *path, pid_t pid, pid_t first_pid)
{
    const char *parent = parent_of(d->arena, path), *name = path_basename(path);
    const char *others = destination_others_path(d, first_pid), *pattern = NULL;

    if (!d->has_others && strcmp(parent, d->directory) == 0)
        pattern = PROFILE_DEFAULT_NAME;
    else if (d->has_others && pid == first_pid && strcmp(parent, d->directory) == 0)
        pattern = d->wanted;
    else if (others != NULL && strcmp(parent, others) == 0)
        pattern = PROFILE_DEFAULT_NAME;
    if (pattern == NULL)
        return 0;
    if (fnmatch(names_of(d, pattern, pid, ""), name, 0) == 0)
        return 2;
    for (unsigned i = 0; i < 2; i++) {
        const char *tail = arena_printf(d->arena, ".*.%d%s" PROFILE_SUFFIX, (int)pid,
                                        i == 0 ? "" : ".[0-9]*");

        if (fnmatch(names_of(d, pattern, pid, tail), name, 0) == 0)
            return 1;
    }
    return 0;
}

/* Return true if users other than PATH's owner and root can create names beside PATH. */
static bool
destination_is_public(const char *path)
{
    struct arena a = {0};
    struct stat st;
    bool is = stat(parent_of(&a, path), &st) != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
              (st.st_uid != 0 && st.st_uid != geteuid());

    arena_release(&a);
    return is;
}

/* Return why PATH cannot hold the profiles of other processes, or NULL. The recorder creates the
 * directory with its first profile and accepts an existing one. If another user could create it
 * first, it is created here. */
static const char *
others_problem(const char *path)
{
    struct stat st;

    if (destination_is_public(path))
        // If mkdir fails, the check below gives the reason, or the recorder does.
        mkdir(path, 0700);
    if (lstat(path, &st) != 0)
        return NULL;
    return S_ISLNK(st.st_mode)           ? "is a symbolic link"
           : !S_ISDIR(st.st_mode)        ? "is not a directory"
           : st.st_uid != geteuid()      ? "belongs to another user"
           : (st.st_mode & S_IWOTH) != 0 ? "can be written by everybody"
                                         : NULL;
}

/* Warn if profiles of other processes may have a path that the kernel does not accept. */
static void
warn_of_long_names(const struct destination *d)
{
    const char *path = others_path(d, d->pattern, PID_LONGEST);
    const char *name = expanded_by(d, PROFILE_DEFAULT_NAME, "", PID_LONGEST);

    if (strlen(path) + 1 + strlen(name) + PROGRAM_LONGEST >= PATH_MAX)
        message_warning("the profile's whole path is so long that other processes may be unable to "
                        "create theirs beside it; choose a shorter path with -o");
}

int
destination_check_others(const struct destination *d, struct err *err)
{
    const char *path, *problem;

    if (d->has_others)
        warn_of_long_names(d);
    if (!d->has_others || strstr(d->pattern, "%p") != NULL)
        return 0;
    path = others_path(d, d->pattern, 0);
    problem = others_problem(path);
    if (problem == NULL)
        return 0;
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "the profiles of other processes would go to %s, which %s; choose another name "
                   "with -o, or --no-children",
                   path, problem);
}

const char *
destination_others_used(const struct destination *d)
{
    const char *path;

    if (!d->has_others || strstr(d->pattern, "%p") != NULL)
        return NULL;
    path = others_path(d, d->pattern, 0);
    return overwrite_profile_in(path, d->arena) != NULL ? path : NULL;
}

const char *
destination_others_pattern(const struct destination *d)
{
    const char *path, *problem;

    if (!d->has_others)
        return NULL;
    path = others_path(d, d->pattern, getpid());
    problem = others_problem(path);
    if (problem == NULL)
        return arena_printf(d->arena, "%s/%s", escape(d->arena, path), PROFILE_DEFAULT_NAME);
    message_warning("other processes are not recorded: their profiles would go to %s, which %s",
                    path, problem);
    return "";
}

const char *
destination_make_others(const struct destination *d, pid_t pid)
{
    const char *path = others_path(d, d->wanted, pid);

    mkdir(path, 0700); // If mkdir fails, the check below fails as well.
    return destination_is_directory(path) && others_problem(path) == NULL ? path : NULL;
}

const char *
destination_others_path(const struct destination *d, pid_t pid)
{
    return d->has_others ? others_path(d, d->wanted, pid) : NULL;
}

const char *
destination_others_found(const struct destination *d, pid_t pid)
{
    const char *path = destination_others_path(d, pid);
    struct stat st;

    if (path == NULL || lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return NULL;
    // The directory is empty if the run had no other processes, or if another process was killed
    // while it started.
    return !d->others_were_present && st.st_uid == geteuid() && rmdir(path) == 0 ? NULL : path;
}

/* Return PATTERN with NUMBER for %n. */
static const char *
numbered(const struct destination *d, const char *pattern, unsigned number)
{
    struct strbuf b = {0};
    const char *text;

    for (const char *p = pattern; *p != '\0'; p++) {
        if (*p != '%' || p[1] == '\0')
            strbuf_char(&b, *p);
        else if (*++p == 'n')
            strbuf_fmt(&b, "%u", number);
        else
            strbuf_fmt(&b, "%%%c", *p);
    }
    text = arena_strdup(d->arena, strbuf_text(&b));
    strbuf_release(&b);
    return text;
}

/* Choose the value of %n for the whole run, so that the first process's profile and the directory
 * of the others do not exist yet. Create the directory at once, because only one of two concurrent
 * runs can. The directory is removed after the run if it is empty. Returns 0, or HEAPTAP_BAD_INPUT
 * with ERR set. */
static int
choose_number(struct destination *d, struct err *err)
{
    const char *pattern = d->wanted;
    struct stat st;

    if (strstr(pattern, "%p") != NULL || strcmp(numbered(d, pattern, 1), pattern) == 0) {
        d->others_were_present =
            strstr(pattern, "%p") == NULL && lstat(others_path(d, pattern, 0), &st) == 0;
        return 0;
    }
    for (unsigned n = 1; n <= NUMBERS_TRIED; n++) {
        d->wanted = numbered(d, pattern, n);
        if (lstat(expanded_by(d, d->wanted, d->program, 0), &st) == 0)
            continue;
        // A later check detects other problems of that directory.
        if (mkdir(others_path(d, d->wanted, 0), 0700) == 0 || errno != EEXIST)
            return 0;
    }
    return err_set(err, HEAPTAP_BAD_INPUT, "%s: no number is left for %%n; choose another name",
                   pattern);
}

/* Store the current directory in CWD of SIZE bytes, for a profile at the relative path WANTED. */
static int
find_current(const char *wanted, char *cwd, size_t size, struct err *err)
{
    if (getcwd(cwd, size) != NULL)
        return 0;
    if (errno == ERANGE || errno == ENAMETOOLONG)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the profile cannot be created at %s: the path of the working directory is "
                       "longer than the %d bytes that the kernel accepts; choose an absolute path "
                       "with -o",
                       wanted, PATH_MAX - 1);
    return err_errno(err, HEAPTAP_BAD_INPUT,
                     "the profile cannot be created at %s, choose an absolute path with -o: cannot "
                     "determine the working directory",
                     wanted);
}

/* Return the length of the longest name between two slashes of PATH. */
static size_t
longest_name(const char *path)
{
    size_t longest = 0, length;

    for (; *path != '\0'; path += length + (path[length] == '/')) {
        length = strcspn(path, "/");
        if (length > longest)
            longest = length;
    }
    return longest;
}

int
destination_check_length(const char *path, struct err *err)
{
    char cwd[PATH_MAX] = "";
    size_t length = strlen(path);
    int rc;

    if (path[0] != '/') {
        if ((rc = find_current(path, cwd, sizeof cwd, err)) < 0)
            return rc;
        length += strlen(cwd) + 1;
    }
    if (longest_name(path) > NAME_MAX)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the profile cannot be created at %s: a name in this path has %zu bytes, "
                       "and the kernel accepts %d; choose a shorter one with -o",
                       path, longest_name(path), NAME_MAX);
    if (length < PATH_MAX)
        return 0;
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "the profile cannot be created at %s: its whole path has %zu bytes, and the "
                   "kernel accepts %d; choose a shorter path with -o",
                   path, length, PATH_MAX - 1);
}

/* Return the pattern of profiles in a directory for all processes. It names the file, because the
 * recorder takes a pattern that is no directory for a file: if the program removed the directory,
 * the next process would create a file in its place. */
static const char *
pattern_inside(const struct destination *d, const char *directory)
{
    const char *trimmed = arena_strndup(d->arena, directory, trimmed_length(directory));

    return arena_printf(d->arena, "%s/%s", escape(d->arena, trimmed), PROFILE_DEFAULT_NAME);
}

/* Set d->pattern to the pattern of the first process, made absolute. */
static int
make_absolute(struct destination *d, struct err *err)
{
    char cwd[PATH_MAX];
    int rc;

    d->pattern = d->has_others ? d->wanted : pattern_inside(d, d->wanted);
    rc = destination_check_length(expanded_by(d, d->pattern, d->program, PID_LONGEST), err);
    if (rc < 0 || d->pattern[0] == '/')
        return rc;
    if ((rc = find_current(d->wanted, cwd, sizeof cwd, err)) < 0)
        return rc;
    d->pattern = arena_printf(d->arena, "%s/%s", escape(d->arena, cwd), d->pattern);
    return 0;
}

/* Return PATH with a number: "app.%n.heaptap". */
static const char *
beside(const struct destination *d, const char *path)
{
    size_t length = strlen(path), suffix = strlen(PROFILE_SUFFIX);

    if (length <= suffix || strcmp(path + length - suffix, PROFILE_SUFFIX) != 0)
        return arena_printf(d->arena, "%s.%%n", path);
    return arena_printf(d->arena, "%.*s.%%n" PROFILE_SUFFIX, (int)(length - suffix), path);
}

/* Return a text about the process that uses PATH, or a numbered name that another run got instead;
 * NULL if none does. */
static const char *
find_user(const struct destination *d, const char *path)
{
    const char *pattern = beside(d, path), *name = path;
    uint32_t pid = overwrite_writer(path);

    for (unsigned n = 1; pid == 0 && n <= NUMBERS_TRIED; n++) {
        const char *one = numbered(d, pattern, n), *others = others_path(d, one, 0);
        struct stat st;

        name = expanded_by(d, one, d->program, 0);
        pid = overwrite_writer(name);
        if (pid != 0 || access(name, F_OK) == 0)
            continue;
        if (lstat(others, &st) != 0)
            return NULL;
        // A run creates its directory before its profile, and a killed run leaves the directory
        // behind.
        if (st.st_mtime + STARTING_S >= time(NULL))
            return arena_printf(d->arena, "another run is about to write %s", name);
    }
    return pid != 0 ? arena_printf(d->arena, "process %u still writes %s", pid, name) : NULL;
}

int
destination_choose(struct destination *d, const char *output, const char *path,
                   struct arena *arena, struct err *err)
{
    const char *user = NULL;
    struct stat st;
    bool exists;
    int r;

    *d = (struct destination){.wanted = output ? output : PROFILE_DEFAULT_NAME,
                              .program = file_name(arena, path),
                              .arena = arena};
    if (output != NULL && output[0] != '\0' && output[strlen(output) - 1] == '/')
        mkdir(output, 0700); // A session's directory; on failure the check below gives the reason.
    d->has_others = output == NULL || !destination_is_directory(output);
    exists = output != NULL && d->has_others && access(output, F_OK) == 0;
    if (exists && (user = find_user(d, output)) != NULL)
        d->wanted = beside(d, output);
    if ((d->has_others && (r = choose_number(d, err)) < 0) || (r = make_absolute(d, err)) < 0)
        return r;
    if (!d->has_others) {
        d->directory = arena_strndup(arena, output, trimmed_length(output));
    } else {
        d->directory = parent_of(arena, d->wanted);
        if (user != NULL)
            message_warning("%s; the profile of this run is %s", user, d->wanted);
        else if (exists)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "%s exists, and nothing is overwritten; choose another name, or --force",
                           output);
    }
    if (stat(d->directory, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "cannot write a profile into %s: it is no directory; choose another place "
                       "with -o",
                       d->directory);
    if (access(d->directory, W_OK | X_OK) != 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write a profile into the directory %s",
                         d->directory);
    return 0;
}
