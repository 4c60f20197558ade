/* program.h: which file is to be run. */
#ifndef LAUNCH_PROGRAM_H
#define LAUNCH_PROGRAM_H

#include "util/arena.h"
#include "util/err.h"

/* Does the program at PATH run with more rights than its user has (setuid, setgid, capabilities)?
 * The loader preloads nothing into such a one. */
bool program_has_more_rights(const char *path);

/* Why the ELF file at PATH cannot be recorded, neither by preloading nor because a recorder is
 * linked into it, with what to do; NULL if it can. Scripts and anything else are left to execve. */
const char *program_cannot_be_recorded(const char *path);

/* The file that PROGRAM names, found along PATH as execvp would. HEAPTAP_NOT_FOUND or
 * HEAPTAP_BAD_INPUT (it cannot be recorded: static without a recorder of its own, another
 * architecture), with ERR set. */
int program_find(const char *program, struct arena *arena, const char **ret_path, struct err *err);

#endif
