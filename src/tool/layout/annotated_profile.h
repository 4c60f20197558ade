/* annotated_profile.h: make a profile of annotated blocks. */
#ifndef LAYOUT_ANNOTATED_PROFILE_H
#define LAYOUT_ANNOTATED_PROFILE_H

#include "layout/annotated_memory.h"
#include "profile/profile.h"

/* A program or a library whose code was in the memory. */
struct annotated_module {
    const char *path;              // Absolute.
    const struct elf_facts *facts; // Facts from the file's headers.
    uint64_t bias;                 // Address in memory minus address in the file.
};

/* The program that the memory belongs to. */
struct annotated_program {
    const char *path; // NULL = unknown.
    uint32_t machine; // EM_ARM and so on; 0 = unknown.
    const struct annotated_module *modules;
    size_t module_count;
};

/* Sites and nodes of the blocks; arrays from the profile's arena. */
struct annotated_places {
    uint32_t *site_of; // Site of each block.
    uint32_t *node_of; // Innermost node of each stack.
};

/* Make a profile with M's blocks as live blocks and without other events. TITLE is shown as the
 * command, WHEN_NS as the start. The profile is not symbolised, and write_model accepts it. The
 * caller frees it. */
struct profile *annotated_profile(const struct annotated_memory *m,
                                  const struct annotated_program *program, const char *title,
                                  uint64_t when_ns, struct annotated_places *ret);

#endif
