/* frame_name.h: names of frames where only a name fits. */
#ifndef ANALYSE_FRAME_NAME_H
#define ANALYSE_FRAME_NAME_H

#include "profile/profile.h"
#include "util/path.h"

// The name of a file, "+0x", 16 digits and an ellipsis.
enum { FRAME_UNSYMBOLIZED_MAX = 288 };

/* Function of FRAME (an index into P's frames) at LOCATION. Without a function: "libx.so+0x1f00..."
 * (with an ellipsis) by its start, "libx.so+0x1f30" if the start is unknown, or "0x7f12" if no
 * module covers it. The address is the call's, not the return address. Interned in P or from
 * ARENA. */
const char *frame_name(const struct profile *p, uint32_t frame, uint32_t location,
                       struct arena *arena);

/* Name of a unsymbolized function at a location, in the form that patterns match: "" if no module
 * covers the location. */
struct unsymbolized_text {
    char shown[FRAME_UNSYMBOLIZED_MAX]; // As frame_name; a longer one is cut.
    char bare[FRAME_UNSYMBOLIZED_MAX];  // The same without the ellipsis.
};

/* Return the substitute name of the unsymbolized function at LOCATION. */
struct unsymbolized_text frame_unsymbolized(const struct profile *p, uint32_t location);

/* Return the call at LOCATION, which a module covers, as "libx.so+0x1f30". */
const char *frame_place(const struct profile *p, uint32_t location, struct arena *arena);

/* Name of a stack whose frames the profile did not keep (struct stack with depth 0). */
#define FRAME_NAME_OTHER "[other stacks]"

/* Return the address to look LOCATION up with: inside the call instruction for a return address. */
uint64_t location_pc(const struct profile_location *location);

#endif
