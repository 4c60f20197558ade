/* definitions.h: find the addresses of names in all symbol tables of a module. */
#ifndef SYMBOL_DEFINITIONS_H
#define SYMBOL_DEFINITIONS_H

#include "profile/profile.h"

enum { DEFINITION_CODE_BYTES = 16 };

/* A definition of a name. */
struct definition {
    size_t name;                  // Index of the name.
    uint64_t address, size_bytes; // Address in the ELF file. Size 0 = unknown.
    uint32_t type;                // STT_*
    uint32_t code_bytes;          // Number of bytes in `code`; 0 if the file has none.
    uint8_t code[DEFINITION_CODE_BYTES]; // First bytes at the address.
};

/* Find the definitions of the COUNT NAMES in the file of module M of process PID, and in its
 * separate debug file. Only M's path and build id are used. Store them in *RET, from ARENA. Return
 * their number; two names for one address are two definitions. */
size_t definitions_find(const struct profile_module *m, uint32_t pid, const char *const *names,
                        size_t count, struct arena *arena, struct definition **ret);

/* Return true if MATCHES is true for ARG and a function that code of P defines, by its source name.
 * The recorder's own code does not count. */
bool definitions_any(const struct profile *p, bool (*matches)(void *arg, const char *function),
                     void *arg);

/* Return true if the file of module M of process PID has no symbol table, and there is no debug
 * file for it. */
bool definitions_are_stripped(const struct profile_module *m, uint32_t pid);

#endif
