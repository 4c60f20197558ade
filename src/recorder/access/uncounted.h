/* uncounted.h: finds code in this process that may access blocks uncounted. */
#ifndef ACCESS_UNCOUNTED_H
#define ACCESS_UNCOUNTED_H

#include "base/base.h"

/* Examine all loaded objects. Call before an object is unloaded, and before the process ends. */
void uncounted_scan(void);

/* Reasons why the process may access blocks uncounted. */
enum uncounted {
    UNCOUNTED_LOOKUP = 1 << 0,   // The program looked up a function by name.
    UNCOUNTED_FORMAT = 1 << 1,   // counted_format.c could not parse a format of printf or scanf.
    UNCOUNTED_BY_VALUE = 1 << 2, // Code that may copy structures uncounted.
    UNCOUNTED_ATOMIC = 1 << 3,   // Code whose atomic operations count as writes only.
    UNCOUNTED_ASSEMBLER = 1 << 4, // Assembler statements, or intrinsics with pointers.
};

/* Record the reason WHAT, which suppresses verdicts of "never". Thread-safe, async-signal-safe. */
void uncounted_note(enum uncounted what);

/* Write the names found to the profile. Only then do readers trust that a block was never used. */
void uncounted_publish(void);

#endif
