/* announce.c: connects an executable that uses heaptap.h but was not linked with the recorder.
 *
 * Each object that includes heaptap.h has one pointer to the recorder's table, from a weak symbol.
 * In shared objects the dynamic linker fills in the pointer. In an executable the static linker may
 * have resolved the symbol to 0 permanently; in an executable that is not position-independent, it
 * always has. So the header adds a note (owner "heaptap", type 1) of one word to the executable:
 * the distance from that word to the pointer. announce_recorder finds the notes through the program
 * headers that the kernel passed, and writes the pointer.
 *
 * announce_recorder reads only segments that are mapped and readable according to the executable's
 * headers. It writes only to a pointer that is 0 and in a writable segment, outside the part that
 * the dynamic linker makes read-only. The executable has one note for each source file that
 * includes the header. */
#include "entry/entry.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/base.h"
#include "entry/api.h"
#include "platform/host.h"
#include "platform/process.h"

enum { NOTE_TYPE = 1, SEGMENTS_MAX = 64 };

static const char owner[8] = "heaptap";

struct program {
    const ElfW(Phdr) * segments;
    uint32_t count;
    uint64_t bias; // Load bias: address in memory minus address in the file.
};

/* Return true if [ADDRESS, ADDRESS + SIZE_BYTES) is in segment S. */
static bool
announce_is_within(const struct program *p, const ElfW(Phdr) * s, uint64_t address,
                   uint64_t size_bytes)
{
    uint64_t off = address - p->bias - s->p_vaddr;

    return off <= s->p_memsz && size_bytes <= s->p_memsz - off;
}

static bool
is_in_segment(const struct program *p, uint32_t type, uint32_t flags, uint64_t address,
              uint64_t size_bytes)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->segments[i].p_type == type && (p->segments[i].p_flags & flags) == flags &&
            announce_is_within(p, &p->segments[i], address, size_bytes))
            return true;
    return false;
}

/* Find the executable's headers and its load bias. Return false if the headers are unusable. */
static bool
find_program(struct program *ret)
{
    uint64_t headers = process_value(AT_PHDR);

    ret->segments = (const ElfW(Phdr) *)(uintptr_t)headers;
    ret->count = (uint32_t)process_value(AT_PHNUM);
    if (headers == 0 || headers % _Alignof(ElfW(Phdr)) != 0 || ret->count > SEGMENTS_MAX ||
        process_value(AT_PHENT) != sizeof *ret->segments)
        return false;
    for (uint32_t i = 0; i < ret->count; i++) {
        if (ret->segments[i].p_type == PT_PHDR) {
            ret->bias = headers - ret->segments[i].p_vaddr;
            return true;
        }
    }
    // A static executable has no PT_PHDR segment. Its headers are at the start of the file.
    for (uint32_t i = 0; i < ret->count; i++) {
        if (ret->segments[i].p_type == PT_LOAD && ret->segments[i].p_offset == 0) {
            ret->bias = headers - sizeof(ElfW(Ehdr)) - ret->segments[i].p_vaddr;
            return true;
        }
    }
    return false;
}

static void
fill_in(const struct program *p, uint64_t place)
{
    const struct heaptap_recorder **pointer = (const struct heaptap_recorder **)(uintptr_t)place;
    // In a program linked with the recorder, the linker has filled in the pointer. If that recorder
    // is dormant, reset the pointer to 0.
    const struct heaptap_recorder *from = dormant_here() ? &heaptap_recorder_v1 : NULL;
    const struct heaptap_recorder *to = dormant_here() ? NULL : &heaptap_recorder_v1;

    if (place % _Alignof(void *) == 0 &&
        is_in_segment(p, PT_LOAD, PF_R | PF_W, place, sizeof *pointer) &&
        !is_in_segment(p, PT_GNU_RELRO, 0, place, sizeof *pointer) && *pointer == from)
        *pointer = to;
}

/* Process the notes in [NOTE, END). The parts of a note begin at multiples of ALIGN. */
static void
announce_read_notes(const struct program *p, uint64_t note, uint64_t end, uint64_t align)
{
    while (note <= end && sizeof(ElfW(Nhdr)) <= end - note) {
        const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)(uintptr_t)note;
        uint64_t name = note + sizeof *n;
        uint64_t word = note + round_up(sizeof *n + n->n_namesz, align);
        int64_t distance;

        if (word < name || word > end || n->n_descsz > end - word)
            return;
        if (n->n_type == NOTE_TYPE && n->n_namesz == sizeof owner &&
            n->n_descsz == sizeof distance &&
            memcmp((const void *)(uintptr_t)name, owner, sizeof owner) == 0) {
            memcpy(&distance, (const void *)(uintptr_t)word, sizeof distance);
            fill_in(p, word + (uint64_t)distance);
        }
        note = word + round_up(n->n_descsz, align);
    }
}

void
announce_recorder(void)
{
    struct program p;

    if (!find_program(&p))
        return;
    for (uint32_t i = 0; i < p.count; i++) {
        const ElfW(Phdr) *s = &p.segments[i];
        uint64_t start = s->p_vaddr + p.bias;

        if (s->p_type == PT_NOTE && start % _Alignof(ElfW(Nhdr)) == 0 &&
            is_in_segment(&p, PT_LOAD, PF_R, start, s->p_memsz))
            announce_read_notes(&p, start, start + s->p_memsz, s->p_align == 8 ? 8 : 4);
    }
}
