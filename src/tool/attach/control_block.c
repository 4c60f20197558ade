/* control_block.c: check and clear the recorder's part of a thread's control block.
 *
 * The recorder's thread-local memory is in bytes of the block that no version of glibc uses. glibc
 * reuses the blocks of ended threads without clearing them, so a mark distinguishes bytes of an
 * earlier recorder from bytes that glibc uses. */
#include "attach/control_block.h"

#include <string.h>

enum { SELF_OFF = 0x10 }; // Offset of the block's own address in it.

bool
control_block_clear(const struct target *t, const struct stopped *s, uint64_t tls_bytes)
{
    static const unsigned char zeros[PLAN_TLS_BYTES];

    if (s->has_ended || s->registers.fs_base == 0 || tls_bytes > sizeof zeros)
        return true;
    // A second attempt, because the next attach would refuse a thread with such bytes.
    return target_write(t, s->registers.fs_base + PLAN_TLS_OFF, zeros, tls_bytes) ||
           target_write(t, s->registers.fs_base + PLAN_TLS_OFF, zeros, tls_bytes);
}

int
control_block_check_all(const struct plan *p, const struct threads *s, struct err *err)
{
    for (size_t i = 0; i < s->count; i++) {
        static const unsigned char zeros[PLAN_TLS_BYTES];
        unsigned char bytes[PLAN_TLS_BYTES];
        uint64_t block = s->v[i].registers.fs_base;
        struct attach_owner owner;
        uint32_t tid = 0;

        if (s->v[i].has_ended)
            continue;
        if (target_word(p->target, block + SELF_OFF) != block ||
            !target_read(p->target, block + p->tid_off, &tid, sizeof tid) ||
            !target_read(p->target, block + PLAN_TLS_OFF, bytes, sizeof bytes))
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "thread %u of process %u was not created by the C library",
                           s->v[i].tid, p->target->pid);
        if (memcmp(bytes, zeros, sizeof bytes) == 0)
            continue;
        // A new thread has got the control block of one that ended while it was recorded.
        memcpy(&owner, bytes + p->owner_off, sizeof owner);
        if (owner.magic == ATTACH_OWNER_MAGIC && owner.tid != tid)
            control_block_clear(p->target, &s->v[i], p->region->tls_bytes);
        else
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "the C library of process %u uses the part of thread %u's control block "
                           "that the recorder needs", p->target->pid, s->v[i].tid);
    }
    return 0;
}
