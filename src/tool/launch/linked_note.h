/* linked_note.h: detect a recorder linked into an executable. */
#ifndef LAUNCH_LINKED_NOTE_H
#define LAUNCH_LINKED_NOTE_H

#include <elf.h>
#include <stdbool.h>

/* Does the ELF file FD, whose header is HEADER, have the note of a recorder that is linked in? */
bool linked_note_in(int fd, const Elf64_Ehdr *header);

#endif
