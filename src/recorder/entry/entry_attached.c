/* entry_attached.c: starts and ends recording in a running process, and receives its calls.
 *
 * The library lies in the process without the loader's knowledge, so it cannot have thread-local
 * memory of the usual kind. The tool places it in a part of glibc's thread control block that
 * glibc does not use (tcbhead_t). A new thread may get the control block of one that has ended. The
 * recorder's words in it are still set. Therefore each entry compares the owner of these words
 * with the thread's id, and clears them if they differ. Until then the words mean nothing.
 *
 *     malloc (first bytes) -> heaptap_attached_malloc -> malloc of shim.c -> trampoline -> malloc
 *
 * An entry has no frame, so the recorder sees the caller's. */
#include "entry/entry.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include "account/file.h"
#include "base/atomics.h"
#include "event/event_state.h"
#include "event/reentry.h"
#include "event/start.h"
#include "event/tick.h"
#include "format/format.h"
#include "platform/arch_x86_64.h"
#include "platform/attached.h"
#include "platform/host.h"
#include "platform/mem.h"
#include "platform/process.h"
#include "platform/sys.h"
#include "unwind/unwind.h"

/* The owner of `tls`. The tool recognises words of an earlier recorder by `magic`. */
EXPORT __thread struct attach_owner heaptap_attach_owner;

/* Copy of the request's tid_off, for the entries. */
uint64_t attached_tid_off __attribute__((visibility("hidden")));

void attached_new_owner(uint32_t tid);

/* Clear this thread's words, which belonged to another thread, for thread TID. */
COLD __attribute__((visibility("hidden"))) void
attached_new_owner(uint32_t tid)
{
    memset(&tls, 0, sizeof tls);
    heaptap_attach_owner = (struct attach_owner){tid, ATTACH_OWNER_MAGIC};
}

ARCH_ATTACHED_CHECK;

#define ENTRY(name) ARCH_ATTACHED_ENTRY(name);
ATTACH_FUNCTIONS(ENTRY)
ATTACH_OPERATORS(ENTRY)

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

int heaptap_attached__dl_find_object(void *address, struct dl_find_object *ret);

/* Like _dl_find_object, and find this library too. */
EXPORT int
heaptap_attached__dl_find_object(void *address, struct dl_find_object *ret)
{
    static struct link_map map = {.l_name = (char *)(uintptr_t)"/[heaptap]"};
    const char *start = __ehdr_start;
    const ElfW(Ehdr) *h = (const ElfW(Ehdr) *)(const void *)start;
    const ElfW(Phdr) *p = (const ElfW(Phdr) *)(const void *)(start + h->e_phoff);
    int (*next)(void *, struct dl_find_object *);

    if ((uintptr_t)address - (uintptr_t)start >= (uintptr_t)(_end - start)) {
        memcpy(&next, &heaptap_attach_request.functions[ATTACH__dl_find_object], sizeof next);
        return next(address, ret);
    }
    map.l_addr = (uintptr_t)start;
    *ret = (struct dl_find_object){.dlfo_map_start = (void *)(uintptr_t)start,
                                   .dlfo_map_end = (void *)(uintptr_t)_end,
                                   .dlfo_link_map = &map};
    for (uint32_t i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_GNU_EH_FRAME)
            ret->dlfo_eh_frame = (void *)(uintptr_t)(start + p[i].p_vaddr);
    return 0;
}

long heaptap_attach_begin(void), heaptap_attach_end(void);

/* Undo a start that has failed. */
static void
forget_start(void)
{
    host_drop_profile();
    if (state != NULL) {
        mem_release_all();
        sys_munmap(state, sizeof *state);
        state = NULL;
    }
    identity_release();
}

/* Start recording. The tool calls it on a separate stack, in a thread that it has stopped. Closes
 * the profile's descriptor. Return 1 on success; otherwise a negative error number, or 0 if the
 * reason is unknown, and leave nothing. */
EXPORT long
heaptap_attach_begin(void)
{
    bool started;

    attached_new_owner((uint32_t)sys_gettid());
    attached_tid_off = heaptap_attach_request.tid_off;
    unwind_use_finder(heaptap_attached__dl_find_object);
    host_use_settings(heaptap_attach_request.settings, heaptap_attach_request.profile_fd);
    real_calls_resolve();
    identity_own();
    reentry_enter(ARCH_SLOT());
    started = start_recording();
    if (started) {
        store_relaxed(&event_state()->gaps, 1u); // Blocks from before are no errors.
        if (heaptap_attach_request.is_quiet != 0)
            start_seal();
    } else {
        forget_start();
    }
    memset(&tls, 0, sizeof tls);
    return started ? 1 : host_failure();
}

/* End recording and unmap all memory except this library. Requires that no thread is in the
 * recorder and that no call reaches it any more. Call as heaptap_attach_begin. */
EXPORT long
heaptap_attach_end(void)
{
    static unsigned char buffer[MEM_RESIDENT_PAGES];

    sys_be_quiet_no_longer();
    if (state == NULL)
        return 0;
    if (load_acquire(&state->ready) == READY_YES) {
        tick_end();
        mem_measure(false, buffer);
        store_relaxed(&state->header->state, (uint32_t)DISK_STATE_ENDED);
        file_unmap();
    }
    mem_release_all();
    sys_munmap(state, sizeof *state);
    state = NULL;
    identity_release();
    return 1;
}
