/* elf_names.h: find names in an ELF file, and determine how other objects can reach them. */
#ifndef SYMBOL_ELF_NAMES_H
#define SYMBOL_ELF_NAMES_H

#include "base/base.h"
#include "profile/profile.h"

enum elf_name {
    ELF_NAME_NONE = 0,
    ELF_NAME_HIDDEN,   // The file defines the name, but not as a dynamic symbol.
    ELF_NAME_IMPORTED, // The file uses the name, and another file defines it.
    ELF_NAME_EXPORTED, // The file defines the name as a function that is a dynamic symbol.
    ELF_NAME_VARIABLE, // The file defines the name as a dynamic symbol that is not a function.
};

/* Set RET_KINDS to the kind of each of the COUNT NAMES in the file at PATH; if a name has several
 * kinds, to the last in the order above. Return false, with RET_KINDS unchanged, if PATH is not a
 * readable ELF file. */
bool elf_names_find(const char *path, const char *const *names, size_t count,
                    enum elf_name *ret_kinds);

/* Return true if the file at PATH is a shared library for the processor of this program. */
bool elf_names_is_library(const char *path);

/* Return true if the constants of the file at PATH contain TEXT. Return false also if the file
 * cannot be read. */
bool elf_names_has_text(const char *path, const char *text);

/* Return true if the file at PATH has a section called NAME. Return false also if the file cannot
 * be read. */
bool elf_names_has_section(const char *path, const char *name);

/* Copy the path of the dynamic linker that the file at PATH requests to RET. Return false if it
 * requests none, if the path exceeds SIZE_BYTES, or if the file cannot be read. */
bool elf_names_dynamic_linker(const char *path, char *ret, size_t size_bytes);

/* Return true if the file at PATH is an executable, and false if it is a shared library or cannot
 * be read. */
bool elf_names_is_program(const char *path);

/* --- variable.c: find the names of variables in the symbol tables of a file on disk. */

/* The variables of a file. */
struct variables;

struct variable {
    // Offset from the mapped address of the file's first byte; of a thread-local variable, from the
    // beginning of the program's.
    uint64_t start;
    uint64_t size_bytes; // Not 0.
    const char *name;    // Linkage name.
};

/* Read the variables of module M of P, which may have only a path. Without a matching file
 * (symbol/dwfl.h) there are none. The caller must close the result. */
struct variables *variables_open(const struct profile *p, const struct profile_module *m);

/* Close V, which may be NULL. */
void variables_close(struct variables *v);

/* Return the smallest variable in V that contains the byte at OFF, as in struct variable; NULL if
 * there is none. Valid as long as V. */
const struct variable *variables_at(const struct variables *v, uint64_t off);

/* Like variables_at, for a thread-local variable of the program V on x86-64, BELOW bytes in front
 * of the thread pointer. *RET_OFF is then the offset. */
const struct variable *variables_local_at(const struct variables *v, uint64_t below,
                                          uint64_t *ret_off);

/* Return the demangled name of the variable at OFF of module M of P, from ARENA. Set *RET_OFF to
 * the offset in the variable. Return NULL if there is none. */
const char *variable_name(const struct profile *p, const struct profile_module *m, uint64_t off,
                          struct arena *arena, uint64_t *ret_off);

#endif
