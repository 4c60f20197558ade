/* symbolise.h: symbolise profiles, with messages. */
#ifndef OPEN_SYMBOLISE_H
#define OPEN_SYMBOLISE_H

#include "analyse/unsymbolized.h"
#include "option/shared_opts.h"
#include "profile/profile.h"
#include "util/arena.h"
#include "util/strbuf.h"

/* Symbolise P with the options CHOICE (or NULL). On a terminal, show progress on stderr. Report
 * unreadable files there. Returns 0, or the exit code after printing an error. */
int symbolise(struct profile *p, const struct symbol_choice *choice);

/* Like symbolise, without messages about unreadable files. */
int symbolise_quietly(struct profile *p, const struct symbol_choice *choice);

/* Return true if the directories of CHOICE exist; otherwise print an error. */
bool symbolise_can_use(const struct symbol_choice *choice);

/* Find the types of a symbolised P. */
void symbolise_types(struct profile *p, const struct symbol_choice *choice);

/* Find the structures called NAMES (type/structures.h). Call once. */
void symbolise_structures(struct profile *p, const struct symbol_choice *choice,
                          const uint32_t *names, size_t count);

/* Find the variable at ADDRESS of P's process and store its members in *RET. Return false if there
 * is none. */
bool symbolise_variable(struct profile *p, const struct symbol_choice *choice, uint64_t address,
                        struct variable_members *ret);

/* Return the user's directories of debug files in CHOICE, or NULL. Free by debug_dirs_free. */
struct debug_dirs *symbolise_dirs(const struct symbol_choice *choice);

/* Return true if PATH, the value of --OPTION, is a directory; otherwise print an error. */
bool symbolise_is_directory(const char *option, const char *path);

/* --- names_hint.c: one sentence about missing names. */

/* A file that lacks names. */
struct names_gap {
    const char *path, *build_id; // The recorded build id, in hex; "" = none.
    const char *lack;            // Result of symbol_lack.
    const char *lists;                  // Package database of the recording system.
    bool elsewhere;                     // The recorded file is not on this machine.
    struct unsymbolized_bytes bytes;
};

/* Gaps found so far. {0} is empty. */
struct names_hint {
    struct arena arena;
    struct names_gap *gaps;
    size_t count, capacity;
    const char *lineless; // A program with names but without lines; NULL = none.
    struct unsymbolized_bytes lineless_bytes, total;
};

/* Record the names that are missing in STACKS of P, which are shown before or after this. Leave out
 * the modules whose NAMELESS is false (NULL = none). P must be symbolised. */
void names_hint_add(struct names_hint *h, const struct profile *p, const struct stacks *stacks,
                    const bool *nameless);

/* Like names_hint_add, for all stacks of P, with or without FOLD_RECURSION. */
void names_hint_add_all(struct names_hint *h, const struct profile *p, bool fold_recursion);

/* Return true if one file's functions without names have most bytes. */
bool names_hint_explains(const struct names_hint *h);

/* Print the hints, if there are any, and release H. */
void names_hint_print(struct names_hint *h);

/* --- source_files.c: read the source files that a profile names. */

/* Read the source file PATH into RET, which must be empty. These places are tried: suffixes of PATH
 * below DIRECTORY (NULL = none), longest first; PATH below SYSROOT (or NULL); PATH itself. Return
 * false, with RET empty, if none is readable. *RET_UNIX_NS is the time of the file's last change.
 * Allocates from ARENA. */
bool source_read(const char *directory, const char *sysroot, const char *path, struct arena *arena,
                 struct strbuf *ret, uint64_t *ret_unix_ns);

#endif
