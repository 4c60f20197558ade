/* dump_names.c: resolve names through a map file, or through a program with the interface of
 * addr2line.
 *
 * A return address follows its call and may belong to the next line or function, so the byte before
 * it is looked up. An unresolved address gets a frame without a name. The symboliser does not look
 * it up again.
 *
 * The addresses are passed to the program in a file. Some programs read all addresses before they
 * answer, others answer each at once. With two pipes, one of these kinds could deadlock. */
#include "command/dump_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layout/map_file.h"
#include "symbol/demangle.h"
#include "util/path.h"

#define MAP_BYTES_MAX (256 * MIB)

static uint64_t
call_address(const struct profile_location *l, uint64_t bias)
{
    return l->address - bias - 1;
}

static void
give_frame(struct profile *p, size_t location, const char *function, const char *file,
           uint32_t line, struct arena *scratch)
{
    struct profile_location *l = &p->locations[location];
    struct profile_frame f = {.module = l->module, .line = line};

    if (function != NULL) {
        f.linkage = strtab_clean_id(&p->strings, function);
        f.function = strtab_clean_id(&p->strings, demangle(scratch, function));
    }
    if (file != NULL)
        f.file = strtab_clean_id(&p->strings, file);
    l->first_frame = (uint32_t)p->frame_count;
    l->frame_count = 1;
    profile_add_frame(p, &f);
}

/* Return the contents of the file PATH, terminated by a NUL, and their length; NULL with ERR set on
 * failure. From ARENA. */
static char *
dump_names_read_text(const char *path, struct arena *arena, size_t *ret_bytes, struct err *err)
{
    struct stat st;
    int fd = regular_open(NULL, path, &st);
    char *text = NULL;
    ssize_t n = -1;

    errno = fd < 0 ? -fd : EFBIG;
    if (fd >= 0 && st.st_size <= (off_t)MAP_BYTES_MAX) {
        text = arena_alloc(arena, (size_t)st.st_size + 1);
        n = pread(fd, text, (size_t)st.st_size, 0);
    }
    if (n < 0)
        err_errno(err, HEAPTAP_BAD_INPUT, "%s cannot be read", path);
    if (fd >= 0)
        close(fd);
    *ret_bytes = n > 0 ? (size_t)n : 0;
    return n < 0 ? NULL : text;
}

static void
all_are_named(struct profile *p)
{
    p->symbolised = p->sought = true;
}

int
dump_names_by_map(struct profile *p, uint64_t bias, const char *path, struct err *err)
{
    struct map_names names = {0};
    struct arena scratch = {0};
    size_t bytes;
    const char *text = dump_names_read_text(path, &scratch, &bytes, err);
    int rc = text == NULL ? HEAPTAP_BAD_INPUT : 0;

    if (rc == 0)
        map_file_parse(text, bytes, &scratch, &names);
    if (rc == 0 && names.count == 0)
        rc = err_set(err, HEAPTAP_BAD_INPUT,
                     "%s has no line that names a function, as nm, GNU ld and armlink write them",
                     path);
    for (size_t i = 1; i < p->location_count && rc == 0; i++)
        give_frame(p, i, map_file_name(&names, call_address(&p->locations[i], bias)), NULL, 0,
                   &scratch);
    if (rc == 0)
        all_are_named(p);
    arena_release(&scratch);
    return rc;
}

/* Return an unnamed file with all addresses, one per line, or NULL on failure. */
static FILE *
write_questions(const struct profile *p, uint64_t bias)
{
    FILE *f = tmpfile();

    for (size_t i = 1; f != NULL && i < p->location_count; i++)
        fprintf(f, "0x%" PRIx64 "\n", call_address(&p->locations[i], bias));
    if (f == NULL)
        return NULL;
    if (fflush(f) == 0 && fseek(f, 0, SEEK_SET) == 0)
        return f;
    fclose(f);
    return NULL;
}

/* Return TEXT in single quotes for a shell. From ARENA. */
static const char *
dump_names_quoted(struct arena *arena, const char *text)
{
    char *out = arena_alloc(arena, 4 * strlen(text) + 3), *to = out;

    *to++ = '\'';
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            to = stpcpy(to, "'\\'");
        *to++ = *text;
    }
    *to = '\'';
    return out;
}

/* Return the next line of F without its newline, or NULL at the end. *LINE is getline's buffer. */
static char *
next_line(FILE *f, char **line, size_t *capacity)
{
    ssize_t length = getline(line, capacity, f);

    if (length < 0)
        return NULL;
    (*line)[strcspn(*line, "\r\n")] = '\0';
    return *line;
}

/* Cut PLACE, "file:line" with an optional suffix, after the file name. Return the line; 0 =
 * unknown. */
static uint32_t
split_place(char *place)
{
    char *colon = strrchr(place, ':');
    unsigned long line = colon != NULL ? strtoul(colon + 1, NULL, 10) : 0;

    if (colon != NULL)
        *colon = '\0';
    return line <= UINT32_MAX ? (uint32_t)line : 0;
}

/* Set the names of P's locations from ANSWERS. Return the number of locations that were
 * answered. */
static size_t
read_answers(struct profile *p, FILE *answers, struct arena *scratch)
{
    char *first = NULL, *second = NULL;
    size_t first_capacity = 0, second_capacity = 0, location = 1;

    while (location < p->location_count && next_line(answers, &first, &first_capacity) != NULL &&
           next_line(answers, &second, &second_capacity) != NULL) {
        uint32_t line = split_place(second);
        bool named = *first != '\0' && *first != '?', placed = *second != '\0' && *second != '?';

        give_frame(p, location++, named ? first : NULL, placed ? second : NULL, placed ? line : 0,
                   scratch);
    }
    free(first);
    free(second);
    return location - 1;
}

int
dump_names_by_command(struct profile *p, uint64_t bias, const char *command, const char *program,
                      struct err *err)
{
    struct arena scratch = {0};
    FILE *questions = write_questions(p, bias), *answers;
    size_t asked = p->location_count - 1, told = 0;
    int status = -1;

    if (questions == NULL)
        return err_errno(err, HEAPTAP_BAD_INPUT, "no temporary file could be written");
    // NOLINTNEXTLINE(cert-env33-c): the user's own command line.
    answers =
        popen(arena_printf(&scratch, "%s -f -e %s </proc/%ld/fd/%d", command,
                           dump_names_quoted(&scratch, program), (long)getpid(), fileno(questions)),
              "re");
    if (answers != NULL) {
        told = read_answers(p, answers, &scratch);
        status = pclose(answers);
    }
    fclose(questions);
    arena_release(&scratch);
    if (told == asked) {
        all_are_named(p);
        return 0;
    }
    if (status != 0)
        return err_set(err, HEAPTAP_BAD_INPUT, "--addr2line: '%s' failed (exit status %d)", command,
                       status == -1 || !WIFEXITED(status) ? -1 : WEXITSTATUS(status));
    return err_set(err, HEAPTAP_BAD_INPUT,
                   "--addr2line: '%s' answered %zu of %zu address%s; it should print two lines for "
                   "each, a function and file:line",
                   command, told, asked, asked == 1 ? "" : "es");
}
