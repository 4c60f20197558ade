/* plan.h: everything that is prepared before a process is touched. */
#ifndef ATTACH_PLAN_H
#define ATTACH_PLAN_H

#include "attach/annex.h"
#include "attach/attach_how.h"
#include "attach/functions.h"
#include "attach/library.h"

enum {
    // glibc's control block of a thread has 512 unused bytes here (tcbhead_t, __glibc_unused2).
    PLAN_TLS_OFF = 0x80,
    PLAN_TLS_BYTES = 0x200,
};

struct plan {
    struct target *target;
    struct function *hooked; // Functions of other names than malloc, and so on.
    size_t hooked_count;
    struct library library;
    struct region *region;
    struct places places;
    struct attach_request *request; // In the library's bytes.
    struct target_symbol allocator; // malloc.
    uint64_t base, begin_function;
    uint64_t owner_off; // Offset of struct attach_owner in a thread's memory of the recorder.
    uint64_t tid_off;
};

/* Refuse a process that is recorded already, or that cannot be. Returns 0, or HEAPTAP_BAD_INPUT
 * with ERR set. */
int plan_check_process(struct target *t, struct err *err);

/* Prepare everything for process T, in its arena. Returns 0, or HEAPTAP_BAD_INPUT with ERR set. */
int plan_make(struct target *t, const struct attach_how *how, struct plan *p, struct err *err);

#endif
