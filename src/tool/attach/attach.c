/* attach.c: start and end recording in a running process.
 *
 * The process gets one region of memory, less than 2 GiB from its allocator:
 *
 *     | struct region | code: the call stub, trampolines | the library | stack for our calls |
 *
 * A borrowed thread maps it and starts the recorder, while all others run. Then all threads are
 * stopped for a moment, and only the jumps are written meanwhile. No function of the process is
 * called, no lock is taken, and nothing is loaded by its dynamic linker, so it does not matter what
 * its threads are doing. Struct region records all changes, so that any later heaptap can undo
 * them.
 * */
#include "attach/attach.h"

#include <unistd.h>

#include "attach/insertion.h"
#include "attach/patching.h"
#include "attach/plan.h"
#include "attach/removal.h"
#include "format/format.h"

enum { PLANS_MAX = 20 };

const char *
attach_profile(uint32_t pid, struct arena *arena)
{
    struct region *region = arena_alloc(arena, sizeof *region);
    struct target t;
    const char *path = NULL;

    if (target_open(pid, &t, NULL) != 0)
        return NULL;
    if (region_find(&t, region) != 0 && region->pid == pid) {
        region->profile[sizeof region->profile - 1] = '\0';
        path = region->profile;
    }
    target_close(&t);
    return path;
}

/* Write the numbers of blocks from before to the profile, whose header the recorder has filled
 * in. */
static void
note_earlier(const struct attach_how *how)
{
    const uint64_t numbers[] = {how->earlier_blocks, how->earlier_bytes};

    // If it fails, they are not known.
    if (pwrite(how->profile_fd, numbers, sizeof numbers,
               offsetof(struct disk_header, earlier_blocks)) != sizeof numbers)
        return;
}

/* Remove the copy of another process's recorder, which process T has if that process forked it. */
static int
remove_copy(struct target *t, struct err *err)
{
    struct region *region = arena_alloc(&t->arena, sizeof *region);
    uint64_t base = region_find(t, region);
    struct attach_cost unused = {0};
    int r = 0;

    if (base != 0 && region->pid != t->pid) {
        r = removal_remove(t, base, region, &unused, err);
        target_read_maps(t);
    }
    return r;
}

int
attach_begin(uint32_t pid, const struct attach_how *how, struct attach_cost *ret, struct err *err)
{
    struct attach_cost undo = {0};
    struct target t;
    struct plan p;
    int r;

    *ret = (struct attach_cost){0};
    if (!patch_is_available())
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "this heaptap was built without Zydis, which attach needs; install "
                       "libzydis-dev (version 4 or later) and run `make` again");
    r = target_open(pid, &t, err);
    if (r != 0)
        return r;
    r = remove_copy(&t, err);
    if (r == 0)
        r = plan_check_process(&t, err);
    // A busy process may map something where the region was to lie.
    for (int i = 0, more = 1; r == 0 && more && i < PLANS_MAX; i++) {
        target_read_maps(&t);
        if ((r = plan_make(&t, how, &p, err)) == 0)
            r = insertion_start(&p, how, ret, err);
        more = r == HEAPTAP_NOT_FOUND;
        if (more)
            r = i + 1 < PLANS_MAX ? 0
                                  : err_set(err, HEAPTAP_BAD_INPUT,
                                            "process %u maps memory too fast; try again later",
                                            pid);
    }
    if (r == 0 && (r = patching_begin(&p, ret, err)) != 0 &&
        removal_remove(&t, p.base, p.region, &undo, NULL) != 0)
        region_report_rest(pid, err);
    if (r == 0)
        note_earlier(how);
    // Steps fail in strange ways when the process ends meanwhile.
    if (r != 0 && target_status(&t, t.thread, "VmSize:") == NULL)
        r = err_set(err, HEAPTAP_BAD_INPUT, "process %u has ended", pid);
    target_close(&t);
    return r;
}

int
attach_end(uint32_t pid, struct attach_cost *ret, struct err *err)
{
    struct target t;
    struct region *region;
    uint64_t base;
    int r = target_open(pid, &t, err);

    *ret = (struct attach_cost){0};
    if (r != 0)
        return r;
    region = arena_alloc(&t.arena, sizeof *region);
    base = region_find(&t, region);
    r = base == 0 ? HEAPTAP_NOT_FOUND : removal_remove(&t, base, region, ret, err);
    target_close(&t);
    return r;
}
