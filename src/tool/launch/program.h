/* program.h: find the program to run. */
#ifndef LAUNCH_PROGRAM_H
#define LAUNCH_PROGRAM_H

#include "util/arena.h"
#include "util/err.h"

/* Return true if the program at PATH runs with more rights than its user has (setuid, setgid,
 * capabilities). The loader preloads nothing into such a program. */
bool program_has_more_rights(const char *path);

/* Return why the ELF file at PATH cannot be recorded, with the remedy; NULL if preload or a
 * linked-in recorder can record it. Scripts and other files are left to execve. */
const char *program_cannot_be_recorded(const char *path);

/* Find the file that PROGRAM names, along PATH as execvp does. Returns 0; HEAPTAP_NOT_FOUND; or
 * HEAPTAP_BAD_INPUT for a program that cannot be recorded (static without a recorder, foreign
 * architecture), with ERR set. */
int program_find(const char *program, struct arena *arena, const char **ret_path, struct err *err);

#endif
