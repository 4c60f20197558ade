/* uncounted.h: finds code in this process that may access blocks uncounted. */
#ifndef ACCESS_UNCOUNTED_H
#define ACCESS_UNCOUNTED_H

#include "base/base.h"

/* Examine all loaded objects. Call before some are unloaded and before the process ends. */
void uncounted_scan(void);

/* Reasons why the process may access blocks uncounted. */
enum uncounted {
    UNCOUNTED_LOOKUP = 1 << 0,   // The program has looked up a function by name.
    UNCOUNTED_FORMAT = 1 << 1,   // A format of printf or scanf that counted_format.c cannot read.
    UNCOUNTED_BY_VALUE = 1 << 2, // Code that may copy structures uncounted.
    UNCOUNTED_ATOMIC = 1 << 3,   // Code whose atomic operations count as writes only.
    UNCOUNTED_ASSEMBLER = 1 << 4, // Assembler statements, or intrinsics with pointers.
};

/* Note the reason WHAT, which withholds verdicts that say never. Thread-safe, async-signal-safe. */
void uncounted_note(enum uncounted what);

/* Write the names found into the profile. Readers trust only then that a block was never used. */
void uncounted_publish(void);

#endif
