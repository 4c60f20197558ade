/* linked_note.c: find the note of an executable that has a recorder linked in.
 *
 * strip keeps notes, and program headers point to them, so a few small reads suffice. The file may
 * be any that a user wants to run, so every length in it is checked. platform/dormant_linked.c
 * writes the note. */
#include "launch/launch.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

/* Bytes to search at the start of a segment of notes. */
enum { NOTES_BYTES = 4096 };

/* Owner of the note. Its type 1 is the note of heaptap.h, which any program may have. */
static const char owner[] = "heaptap";
enum { LINKED_TYPE = 2 };

static bool
linked_note_has_note(const unsigned char *notes, size_t bytes)
{
    size_t at = 0;

    while (at + sizeof(Elf64_Nhdr) <= bytes) {
        Elf64_Nhdr note;
        uint64_t whole;

        memcpy(&note, notes + at, sizeof note);
        whole = sizeof note + round_up(note.n_namesz, 4) + round_up(note.n_descsz, 4);
        if (whole > bytes - at)
            return false;
        if (note.n_type == LINKED_TYPE && note.n_namesz == sizeof owner &&
            memcmp(notes + at + sizeof note, owner, sizeof owner) == 0)
            return true;
        at += whole;
    }
    return false;
}

bool
linked_note_in(int fd, const Elf64_Ehdr *header)
{
    for (int i = 0; i < header->e_phnum; i++) {
        uint64_t off = header->e_phoff + (uint64_t)i * header->e_phentsize;
        unsigned char notes[NOTES_BYTES];
        Elf64_Phdr segment;
        ssize_t got;

        if (pread(fd, &segment, sizeof segment, (off_t)off) != sizeof segment)
            return false;
        if (segment.p_type != PT_NOTE)
            continue;
        got = pread(fd, notes, segment.p_filesz < sizeof notes ? segment.p_filesz : sizeof notes,
                    (off_t)segment.p_offset);
        if (got > 0 && linked_note_has_note(notes, (size_t)got))
            return true;
    }
    return false;
}
