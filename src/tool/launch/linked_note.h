/* linked_note.h: detect a recorder linked into an executable. */
#ifndef LAUNCH_LINKED_NOTE_H
#define LAUNCH_LINKED_NOTE_H

#include <elf.h>
#include <stdbool.h>

/* Return true if the ELF file FD with HEADER has the note of a linked-in recorder. */
bool linked_note_in(int fd, const Elf64_Ehdr *header);

#endif
