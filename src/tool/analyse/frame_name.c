/* frame_name.c: names of frames. All formats use these, so equal frames have equal names.
 *
 * A frame without a function is named by module and offset in the ELF file. The offset does not
 * depend on address space randomisation: two runs of a program give the same name, and addr2line
 * accepts it. If the unwind tables give the function's start, the name has the offset of the start
 * and an ellipsis, and all calls in the function share it. */
#include "analyse/frame_name.h"

#include <inttypes.h>
#include <stdio.h>

#define ELLIPSIS "\xe2\x80\xa6"

uint64_t
location_pc(const struct profile_location *location)
{
    return location->exact || location->address == 0 ? location->address : location->address - 1;
}

static const char *
module_name(const struct profile_module *m)
{
    return *m->path != '\0' ? path_basename(m->path) : "[unknown]";
}

const char *
frame_name(const struct profile *p, uint32_t frame, uint32_t location, struct arena *arena)
{
    const struct profile_frame *f = &p->frames[frame];
    const struct profile_location *l = &p->locations[location];
    const struct profile_module *m = &p->modules[l->module];

    if (f->function != 0)
        return profile_string(p, f->function);
    if (l->module == 0)
        return arena_printf(arena, "0x%" PRIx64, location_pc(l));
    if (l->function_start != 0)
        return arena_printf(arena, "%s+0x%" PRIx64 ELLIPSIS, module_name(m),
                            l->function_start - m->bias);
    return frame_place(p, location, arena);
}

struct unsymbolized_text
frame_unsymbolized(const struct profile *p, uint32_t location)
{
    const struct profile_location *l = &p->locations[location];
    const struct profile_module *m = &p->modules[l->module];
    uint64_t address = l->function_start != 0 ? l->function_start : location_pc(l);
    struct unsymbolized_text ret = {{0}, {0}};

    if (l->module == 0)
        return ret;
    snprintf(ret.bare, sizeof ret.bare, "%s+0x%" PRIx64, module_name(m), address - m->bias);
    snprintf(ret.shown, sizeof ret.shown, "%.*s%s", FRAME_UNSYMBOLIZED_MAX - 4, ret.bare,
             l->function_start != 0 ? ELLIPSIS : "");
    return ret;
}

const char *
frame_place(const struct profile *p, uint32_t location, struct arena *arena)
{
    const struct profile_location *l = &p->locations[location];
    const struct profile_module *m = &p->modules[l->module];

    return arena_printf(arena, "%s+0x%" PRIx64, module_name(m), location_pc(l) - m->bias);
}
