/* dormant_preloaded.c: deactivates a preloaded recorder if another one is linked into the program.
 *
 * Both would record every block, each in a separate profile. The program's recorder comes first in
 * link order, sees all events that the preloaded one sees, and has more exact callers, so that one
 * is active. A note in the executable identifies it (dormant_linked.c). */
#include "platform/host.h"

#include <elf.h>
#include <string.h>

#include "base/atomics.h"
#include "platform/process.h"
#include "unwind/unwind.h"

static bool
dormant_has_note(uint64_t at, uint64_t end)
{
    while (at + sizeof(Elf64_Nhdr) <= end) {
        const Elf64_Nhdr *note = (const Elf64_Nhdr *)(uintptr_t)at;
        uint64_t name = at + sizeof *note;
        uint64_t next = name + round_up(note->n_namesz, 4) + round_up(note->n_descsz, 4);

        if (next > end)
            return false;
        if (note->n_type == DORMANT_NOTE_TYPE && note->n_namesz == sizeof DORMANT_NOTE_OWNER &&
            memcmp((const void *)(uintptr_t)name, DORMANT_NOTE_OWNER,
                   sizeof DORMANT_NOTE_OWNER) == 0)
            return true;
        at = next;
    }
    return false;
}

static bool
program_has_recorder(void)
{
    struct unwind_object program;
    const Elf64_Phdr *segments;

    if (!unwind_find_object(process_value(AT_ENTRY), &program) || program.segments == NULL)
        return false;
    segments = program.segments;
    for (uint32_t i = 0; i < program.segment_count; i++) {
        uint64_t at = segments[i].p_vaddr + program.bias;
        uint64_t end = at + segments[i].p_memsz;

        if (segments[i].p_type == PT_NOTE && end <= unwind_readable_end(&program, at) &&
            at % 4 == 0 && dormant_has_note(at, end))
            return true;
    }
    return false;
}

bool
dormant_here(void)
{
    static uint32_t answer; // Atomic: 0 = unknown, 1 = dormant, 2 = active.

    if (unlikely(load_relaxed(&answer) == 0))
        store_relaxed(&answer, program_has_recorder() ? 1u : 2u);
    return load_relaxed(&answer) == 1;
}

bool
dormant_starts_early(void)
{
    return false;
}
