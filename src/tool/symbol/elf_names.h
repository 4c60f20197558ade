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

/* Return the name of the variable of module M of P that contains OFF, an offset from the mapped
 * address of the file's first byte. Set *RET_OFF to the offset in the variable. From ARENA. Return
 * NULL if there is no matching file (symbol/dwfl.h), or no variable at OFF. M may have only a
 * path. */
const char *variable_name(const struct profile *p, const struct profile_module *m, uint64_t off,
                          struct arena *arena, uint64_t *ret_off);

#endif
