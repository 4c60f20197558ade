/* dormant_linked.c: activates the recorder that is linked into the program.
 *
 * That recorder is present in every run of the program, so it is inactive unless the environment
 * requests it. HEAPTAP_OUT, which `heaptap run` also sets, requests it, and so does HEAPTAP=1,
 * which lets the recorder choose the profile's name.
 *
 * A note marks the executable. `heaptap run`, which otherwise refuses static programs, reads it; so
 * does a second recorder that is preloaded (dormant_preloaded.c). A note survives strip and the
 * removal of unused sections. */
#include "platform/host.h"

#include <string.h>

#include "base/atomics.h"
#include "format/environment.h"
#include "platform/compiled_output.h"

/* The note: length of the owner with its zero byte, length of the empty description, type, and
 * owner. */
__asm__(".pushsection .note.heaptap, \"a\", @note\n\t"
        ".balign 4\n\t"
        ".long 8, 0, 2\n\t"
        ".asciz \"" DORMANT_NOTE_OWNER "\"\n\t"
        ".popsection");
static_assert(sizeof DORMANT_NOTE_OWNER == 8 && DORMANT_NOTE_TYPE == 2, "the note says so");

/* Return true if the environment requests recording. The first result counts for the whole process,
 * because the environment may change later. */
static bool
dormant_is_asked(void)
{
    const char *wanted = host_environment("HEAPTAP"), *directory;

    return host_environment(ENVIRONMENT_OUT) != NULL ||
           compiled_output_directory(&directory) != 0 ||
           (wanted != NULL && strcmp(wanted, "1") == 0);
}

bool
dormant_here(void)
{
    static uint32_t answer; // Atomic: 0 = unknown, 1 = dormant, 2 = active.

    if (unlikely(load_relaxed(&answer) == 0))
        store_relaxed(&answer, dormant_is_asked() ? 2u : 1u);
    return load_relaxed(&answer) == 1;
}

bool
dormant_starts_early(void)
{
    return !dormant_here();
}
