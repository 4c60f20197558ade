/* elf_names.h: the names in an ELF file, and how other objects can reach them. */
#ifndef SYMBOL_ELF_NAMES_H
#define SYMBOL_ELF_NAMES_H

#include "base/base.h"

enum elf_name {
    ELF_NAME_NONE = 0,
    ELF_NAME_HIDDEN,   // Defined, but no dynamic symbol.
    ELF_NAME_IMPORTED, // Used here, to be defined by another file.
    ELF_NAME_EXPORTED, // Defined, a function, and a dynamic symbol.
    ELF_NAME_VARIABLE, // Defined, a dynamic symbol, and no function.
};

/* Fill RET_KINDS with what each of the COUNT NAMES is in the file at PATH; where it is several
 * things, the last in the order above. False, and nothing filled, if PATH is no ELF file that can
 * be read. */
bool elf_names_find(const char *path, const char *const *names, size_t count,
                    enum elf_name *ret_kinds);

/* Do the constants of the file at PATH contain TEXT? Also false if it cannot be read. */
bool elf_names_has_text(const char *path, const char *text);

/* Copy the path of the dynamic linker that the file at PATH asks for into RET. Return false if it
 * asks for none, if the path does not fit into SIZE_BYTES, or if the file cannot be read. */
bool elf_names_dynamic_linker(const char *path, char *ret, size_t size_bytes);

/* Whether the file at PATH is an executable, as opposed to a shared library. Also false if it
 * cannot be read. */
bool elf_names_is_program(const char *path);

#endif
