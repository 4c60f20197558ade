/* frame_name.h: names of frames, for formats where only a name fits. */
#ifndef ANALYSE_FRAME_NAME_H
#define ANALYSE_FRAME_NAME_H

#include "profile/profile.h"
#include "util/path.h"

// Room for the name of a file, "+0x", 16 digits and an ellipsis.
enum { FRAME_UNSYMBOLIZED_MAX = 288 };

/* Return the function of FRAME (an index into P's frames) at LOCATION. A frame without a function
 * is named "libx.so+0x1f00..." (with an ellipsis) by the function's start, "libx.so+0x1f30" if the
 * start is unknown, or "0x7f12" if no module covers the address. The address is the call's, not the
 * return address. Interned in P or from ARENA. */
const char *frame_name(const struct profile *p, uint32_t frame, uint32_t location,
                       struct arena *arena);

/* Name of an unsymbolized function at a location, for matching patterns; "" if no module covers the
 * location. */
struct unsymbolized_text {
    char shown[FRAME_UNSYMBOLIZED_MAX]; // As frame_name returns it, cut to fit.
    char bare[FRAME_UNSYMBOLIZED_MAX];  // Name without the ellipsis.
};

/* Return the substitute name of the unsymbolized function at LOCATION. */
struct unsymbolized_text frame_unsymbolized(const struct profile *p, uint32_t location);

/* Return the call at LOCATION as "libx.so+0x1f30". Requires that a module covers it. From ARENA. */
const char *frame_place(const struct profile *p, uint32_t location, struct arena *arena);

/* Name of a stack that was not recorded because the call tree was full (struct stack with depth
 * 0). */
#define FRAME_NAME_OTHER "[other stacks]"

/* Name of the caller of all stacks whose outer frames are missing, because a limit of the recorder
 * has cut them or the walk broke off. */
#define FRAME_NAME_TRUNCATED "[truncated stacks]"
#define FRAME_NAME_CALLERLESS "[callers not recorded]"

/* Return the address for looking LOCATION up. For a return address this lies inside the call
 * instruction. */
uint64_t location_pc(const struct profile_location *location);

#endif
