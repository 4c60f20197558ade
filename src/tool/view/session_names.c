/* session_names.c: distinctive names for the processes of a session.
 *
 * A build may have twelve processes cc1plus with forty arguments each. Users identify them by the
 * source file: it is the argument that other processes of the program lack, at any position.
 *
 *     cc1plus -quiet -D_GNU_SOURCE lexer.cc  -O2 -o /tmp/cc3f.s     cc1plus … lexer.cc
 *     cc1plus -quiet -D_GNU_SOURCE parser.cc -O2 -o /tmp/cc9a.s     cc1plus … parser.cc
 *
 * So the words of command lines are counted by program. Words of a single process are chosen first,
 * then words of some. They keep their order, and "…" replaces the words in front of each, so that
 * no name is a command that never ran. Names of temporary files, which differ without meaning, are
 * used only for want of others. Processes with equal arguments, such as the workers of a server,
 * show these arguments and are distinguished by the name that they set, if any. */
#include "view/session.h"

#include <string.h>

#include "util/map.h"
#include "util/path.h"
#include "view/style.h"

enum { WORDS_SHOWN = 4, COMM_BYTES = 15 };

/* The words of all command lines. */
struct words {
    const struct session_who *who;
    size_t count;
    struct arena *arena;
    struct strtab texts;     // Names of programs, and words.
    struct map by_program;   // Number of processes of each program.
    struct map with_word;    // By program and word: number of processes with the word.
    struct map last_counted; // By program and word: the last process that was counted.
};

/* Return the first thread's name, "" if unknown. */
static const char *
first_thread(const struct profile *p)
{
    for (size_t i = 0; i < p->thread_count; i++)
        if (p->threads[i].tid == p->process.pid)
            return p->threads[i].name;
    return "";
}

struct session_who
session_who(const struct profile *p, struct arena *arena)
{
    if (p->merged_processes > 0)
        return (struct session_who){profile_title(p, arena), "", ""};
    return (struct session_who){
        .program = path_basename(p->process.executable ? p->process.executable : ""),
        .command = p->process.command ? p->process.command : "",
        .comm = first_thread(p),
    };
}

/* Return the next word from *AT on, from ARENA, and advance *AT; NULL at the end. */
static const char *
session_names_next_word(const char **at, struct arena *arena)
{
    size_t length;
    const char *word;

    *at += strspn(*at, " ");
    length = strcspn(*at, " ");
    word = length != 0 ? arena_strndup(arena, *at, length) : NULL;
    *at += length;
    return word;
}

/* Return the arguments of W after argument 0. */
static const char *
arguments_of(const struct session_who *w)
{
    const char *blank = strchr(w->command, ' ');

    return blank != NULL ? blank : "";
}

static uint64_t
word_key(struct words *all, const struct session_who *w, const char *word)
{
    return (uint64_t)strtab_id(&all->texts, w->program) << 32 | strtab_id(&all->texts, word);
}

static void
session_names_count_words(struct words *all, size_t process)
{
    const struct session_who *w = &all->who[process];
    const char *at = arguments_of(w), *word;

    ++*map_put(&all->by_program, strtab_id(&all->texts, w->program), NULL);
    while ((word = session_names_next_word(&at, all->arena)) != NULL) {
        uint64_t key = word_key(all, w, word);
        uint64_t *last = map_put(&all->last_counted, key, NULL);

        if (*last == process + 1)
            continue;
        *last = process + 1;
        ++*map_put(&all->with_word, key, NULL);
    }
}

/* Value of a word as a name, best first. The last two are used only without better ones. */
enum rank { RANK_ALONE, RANK_SOME, RANK_TEMPORARY, RANK_ALL, RANK_COUNT };

static enum rank
session_names_rank_of(struct words *all, const struct session_who *w, const char *word)
{
    uint64_t processes = *map_put(&all->by_program, strtab_id(&all->texts, w->program), NULL);
    uint64_t with = *map_put(&all->with_word, word_key(all, w, word), NULL);

    if (processes > 1 && with == processes)
        return RANK_ALL;
    if (processes > 1 && strncmp(word, "/tmp/", 5) == 0)
        return RANK_TEMPORARY;
    return with == 1 || processes == 1 ? RANK_ALONE : RANK_SOME;
}

static bool
session_names_is_among(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* Return true if TEXT and OTHER are equal up to the end of the shorter, or in COMM_BYTES bytes. */
static bool
is_like(const char *text, const char *other)
{
    size_t length = strlen(text) < strlen(other) ? strlen(text) : strlen(other);

    return strncmp(text, other, length < COMM_BYTES ? length : COMM_BYTES) == 0;
}

/* Return true if the first thread of W has a name that differs from W's program and script. */
static bool
has_own_name(const struct session_who *w, struct arena *arena)
{
    const char *at = w->command, *word;

    if (*w->comm == '\0' || is_like(w->comm, w->program))
        return false;
    while ((word = session_names_next_word(&at, arena)) != NULL)
        if (is_like(w->comm, path_basename(word)) && *path_basename(word) != '\0')
            return false;
    return true;
}

/* Return the name by which W was called: "g++", even if its executable is
 * x86_64-linux-gnu-g++-12. */
static const char *
called(const struct session_who *w, struct arena *arena)
{
    const char *at = w->command, *first = *at != ' ' ? session_names_next_word(&at, arena) : NULL;

    if (first != NULL && *path_basename(first) != '\0')
        return path_basename(first);
    return *w->program != '\0' ? w->program : "?";
}

/* Return NAME with the COUNT words SHOWN of ARGUMENTS behind it, in the order of ARGUMENTS. */
static const char *
with_words(const char *arguments, const char *const *shown, size_t count, const char *name,
           struct arena *arena)
{
    const char *put[WORDS_SHOWN], *word;
    size_t put_count = 0;
    bool left_out = false;

    while (put_count < count && (word = session_names_next_word(&arguments, arena)) != NULL) {
        if (!session_names_is_among(shown, count, word) ||
            session_names_is_among(put, put_count, word)) {
            left_out = true;
            continue;
        }
        name = arena_printf(arena, "%s%s %s", name, left_out ? " \xe2\x80\xa6" : "", word);
        put[put_count++] = word;
        left_out = false;
    }
    return name;
}

static const char *
session_names_name_of(struct words *all, const struct session_who *w)
{
    const char *name = called(w, all->arena);
    const char *shown[WORDS_SHOWN];
    size_t count = 0;

    if (has_own_name(w, all->arena))
        name = arena_printf(all->arena, "%s [%s]", name, w->comm);
    for (int rank = 0; rank < RANK_COUNT && (rank < RANK_TEMPORARY || count == 0); rank++) {
        const char *at = arguments_of(w), *word;

        while (count < WORDS_SHOWN && (word = session_names_next_word(&at, all->arena)) != NULL)
            if ((int)session_names_rank_of(all, w, word) == rank &&
                !session_names_is_among(shown, count, word))
                shown[count++] = word;
    }
    return with_words(arguments_of(w), shown, count, name, all->arena);
}

void
session_names(const struct session_who *who, size_t count, struct arena *arena, const char **ret)
{
    struct arena scratch = {0};
    struct words all = {.who = who, .count = count, .arena = &scratch};

    for (size_t i = 0; i < count; i++)
        session_names_count_words(&all, i);
    for (size_t i = 0; i < count; i++)
        ret[i] = arena_strdup(arena, session_names_name_of(&all, &who[i]));
    strtab_release(&all.texts);
    map_release(&all.by_program);
    map_release(&all.with_word);
    map_release(&all.last_counted);
    arena_release(&scratch);
}

const char *
session_name_fit(struct arena *arena, const char *name, size_t width)
{
    const char *at = name, *fitting = "", *word;

    if (style_width(name) <= width)
        return name;
    while ((word = session_names_next_word(&at, arena)) != NULL)
        fitting = arena_printf(arena, "%s%s%s", fitting, *fitting ? " " : "",
                               *path_basename(word) ? path_basename(word) : word);
    return fitting;
}
