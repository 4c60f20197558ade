/* launch.h: start a program with the recorder in it, and end as it ended. */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include <elf.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/arena.h"
#include "util/err.h"
#include "util/strbuf.h"

struct launch {
    const char *path;
    char **arguments;
    // Return the program's environment. Called in the new process, so that it can contain the
    // process id.
    char **(*environment)(void *arg);
    void *environment_arg;
    // A function that is called repeatedly while process PID runs, first soon after its start.
    // Return the ns until the next call, which may come earlier.
    uint64_t (*look)(void *arg, pid_t pid);
    void *look_arg;
};

/* Run the program and wait for its end. Signals from the terminal reach both processes, and only
 * the program acts on them. Other signals to `run` are forwarded. `run` stops when job control
 * stops the program. Returns 0, or HEAPTAP_BAD_INPUT with ERR set if the program cannot be
 * started. */
int launch_wait(const struct launch *l, pid_t *ret_pid, int *ret_status, struct err *err);

/* Return true if a signal after the program's end has requested our end. */
bool launch_interrupted(void);

/* End this process as a program with the wait status STATUS ended: with the same exit code or
 * signal. */
_Noreturn void launch_end_like(int status);

/* --- program.c: find the program to run. */

/* Return true if the program at PATH runs with more rights than its user has (setuid, setgid,
 * capabilities). The loader preloads nothing into such a program. */
bool program_has_more_rights(const char *path);

/* Return why the ELF file at PATH cannot be recorded, with the remedy; NULL if preload or a
 * linked-in recorder can record it. Scripts and other files are left to execve. */
const char *program_cannot_be_recorded(const char *path);

/* Find the file that PROGRAM names, along PATH as execvp does. Returns 0, or with ERR set
 * HEAPTAP_NOT_FOUND; HEAPTAP_NO_PROGRAM; or HEAPTAP_BAD_INPUT for a program that cannot be recorded
 * (static without a recorder, foreign architecture). */
int program_find(const char *program, struct arena *arena, const char **ret_path, struct err *err);

/* Return the program that PATH, started with ARGUMENTS, runs in its process: PATH, or the program
 * that the arguments name if PATH is the dynamic linker. ARGUMENTS end with NULL. */
const char *program_loaded(const char *path, char **arguments);

/* --- adapters.c: choose the language adapters to preload into a program. */

struct adapter_choice {
    const char *const *names; // The COUNT adapters requested by name.
    size_t count;
    const char *const *files; // The FILE_COUNT adapters of the user.
    size_t file_count;
    bool none; // Preload no adapter of heaptap, even if the program needs one.
};

/* Return the name of the Ith adapter, NULL after the last one. */
const char *adapters_name(size_t i);

struct adapters_chosen {
    const char *paths;        // Paths of the adapters, each with ':' in front; "" = none.
    const char *hint;         // A line for the user; NULL = none.
    const char *node_options; // Value of NODE_OPTIONS for the program; NULL = unchanged.
};

/* Choose the adapters for PROGRAM. They are beside LIBRARY, the recorder. The texts in *RET are
 * from ARENA. Returns 0, or HEAPTAP_USAGE with ERR set if a requested adapter does not exist. */
int adapters_choose(const struct adapter_choice *choice, const char *program, const char *library,
                    struct arena *arena, struct adapters_chosen *ret, struct err *err);

/* --- stub32.c: library that 32-bit programs load in place of the recorder. */

/* Append a shared object for i386 without code and symbols to OUT. */
void stub32_write(struct strbuf *out);

/* --- signal_name.c: signals by their names. */

/* Return the signal named TEXT (USR1, SIGUSR1, usr1, RTMIN+2, 10). Returns 0 if there is none, or
 * if it cannot be handled, is raised by faults, or is reserved by libc. */
int signal_number(const char *text);

/* --- linked_note.c: detect a recorder linked into an executable. */

/* Return true if the ELF file FD with HEADER has the note of a linked-in recorder. */
bool linked_note_in(int fd, const Elf64_Ehdr *header);

#endif
