/* annex.h: places for the code of an attached recorder: in its region, or beside functions that are
 * far from there. */
#ifndef ATTACH_ANNEX_H
#define ATTACH_ANNEX_H

#include "attach/region.h"

enum { ANNEX_BYTES = 5 * 4096 };

/* The code of an annex. */
struct annex {
    uint64_t low; // Its address.
    uint64_t used_bytes;
    unsigned char *code;
};

struct places {
    struct target *target;
    struct region *region; // Has the addresses.
    uint64_t base;         // The region's address.
    unsigned char *code;   // The region's code.
    uint64_t code_bytes, code_used_bytes;
    struct annex annexes[REGION_ANNEXES_MAX]; // As many as the region has.
};

/* The place of a patch. */
struct place {
    uint64_t trampoline;
    unsigned char *code; // For the trampoline.
    uint64_t target;     // Address for the jump.
};

/* Take a place for the patch of a function at ADDRESS, whose jump is to lead to TARGET, an address
 * in the region. Returns 0, or HEAPTAP_BAD_INPUT with ERR set if there is no free memory nearby. */
int annex_place(struct places *p, uint64_t address, uint64_t target, struct place *ret,
                struct err *err);

#endif
