/* plan.c: prepare the recorder's region and all patches for a process, without touching it.
 *
 * First the process is checked. Then the region gets an address less than 2 GiB from the allocator,
 * the library is relocated for it, and each function's jump and trampoline are prepared. The
 * allocator's direct branches to its own functions are changed too: they are no calls of the
 * program. */
#include "attach/plan.h"

#include <elf.h>
#include <string.h>

#include "attach/remote.h"

enum {
    PAGE_BYTES = 4096,
    STACK_BYTES = 256 << 10,
    // A stub, and the ends of its instructions.
    STUB_BYTES = 32,
    LEA_END = 11,
    JUMP_END = 16,
};

#define REGION_BYTES round_up(sizeof(struct region), PAGE_BYTES)

#define FUNCTION_NAME(name) #name,
static const char *const function_names[ATTACH_FUNCTION_COUNT] = {
    ATTACH_FUNCTIONS(FUNCTION_NAME) ATTACH_FINDER(FUNCTION_NAME) ATTACH_OPERATORS(FUNCTION_NAME)};

int
plan_check_process(struct target *t, struct err *err)
{
    static const char *const sanitizers[] = {"libasan.", "libtsan.", "liblsan.", "libhwasan."};
    struct target_symbol s;
    struct region *region = arena_alloc(&t->arena, sizeof *region);

    if (region_find(t, region) != 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u is being recorded already, in %.1000s; `heaptap detach %u` ends "
                       "that", t->pid, region->profile, t->pid);
    if (target_find(t, "heaptap_recorder_v1", &s))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has a recorder already; `heaptap record %u --exact` lets it "
                       "record", t->pid, t->pid);
    if (target_find(t, "__asan_init", &s) || target_find(t, "__tsan_init", &s))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u is built with a sanitizer, which needs the allocator alone",
                       t->pid);
    for (size_t i = 0; i < t->module_count; i++)
        for (size_t k = 0; k < countof(sanitizers); k++)
            if (strstr(t->modules[i].path, sanitizers[k]) != NULL)
                return err_set(err, HEAPTAP_BAD_INPUT,
                               "process %u uses a sanitizer, which needs the allocator alone",
                               t->pid);
    if (!target_find(t, "gnu_get_libc_version", &s))
        return err_set(err, HEAPTAP_BAD_INPUT, "the C library of process %u is not glibc",
                       t->pid);
    return 0;
}

/* Find the offset of a thread's id in its control block, which libc describes for debuggers: the
 * size in bits, the number of elements, and the offset. */
static int
find_tid(struct plan *p, struct err *err)
{
    struct target_symbol s;
    uint32_t description[3];

    if (!target_find(p->target, "_thread_db_pthread_tid", &s) ||
        !target_read(p->target, s.address, description, sizeof description) ||
        description[0] != 32 || description[2] > PAGE_BYTES)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the C library of process %u does not describe its threads", p->target->pid);
    p->tid_off = description[2];
    return 0;
}

/* Return the range of mappings of the object that contains ADDRESS. */
static void
object_range(const struct target *t, uint64_t address, uint64_t *ret_low, uint64_t *ret_high)
{
    const struct target_map *of = target_map_at(t, address);

    *ret_low = *ret_high = address;
    for (size_t i = 0; of != NULL && i < t->map_count; i++) {
        if (strcmp(t->maps[i].path, of->path) != 0)
            continue;
        if (t->maps[i].start < *ret_low)
            *ret_low = t->maps[i].start;
        if (t->maps[i].end > *ret_high)
            *ret_high = t->maps[i].end;
    }
}

/* Return true if an attach replaces function number INDEX, which is at S. */
static bool
is_replaced(const struct plan *p, uint32_t index, const struct target_symbol *s)
{
    if (s->type == STT_GNU_IFUNC)
        return false;
    return index < ATTACH_OPERATORS_FROM ||
           (s->module == p->allocator.module && p->request->is_glibc == 0);
}

/* Prepare the jump from function number INDEX, which is at S. */
static int
prepare_jump(struct plan *p, uint32_t index, const struct target_symbol *s, struct err *err)
{
    struct region *region = p->region;
    struct patch *patch = &region->patches[region->patch_count];
    char entry[64] = "heaptap_attached_";
    struct place place;
    int r;

    strcat(entry, function_names[index]);
    r = annex_place(&p->places, s->address,
                    region->library + library_offset(&p->library, entry), &place, err);
    if (r != 0)
        return r;
    patch->trampoline = place.trampoline;
    r = patch_prepare(p->target, function_names[index], s->address, s->size_bytes, place.target,
                      patch, place.code, err);
    if (r == 0) {
        p->request->functions[index] = patch->trampoline;
        region->patch_count++;
    }
    return r;
}

/* Return the patch of the function at ADDRESS; NULL = none. */
static const struct patch *
patch_at(const struct region *region, uint64_t address)
{
    for (uint64_t i = 0; i < region->patch_count; i++)
        if (region->patches[i].function == address)
            return &region->patches[i];
    return NULL;
}

/* Prepare function number INDEX, if it is replaced. Two names may have one function. */
static int
prepare_function(struct plan *p, uint32_t index, struct err *err)
{
    const struct region *region = p->region;
    const struct patch *patch;
    struct target_symbol s;

    if (index == ATTACH__dl_find_object || !target_find(p->target, function_names[index], &s) ||
        !is_replaced(p, index, &s))
        return 0;
    patch = patch_at(region, s.address);
    if (patch != NULL) {
        p->request->functions[index] = patch->trampoline;
        return 0;
    }
    return prepare_jump(p, index, &s, err);
}

/* Write the stub of hook INDEX: endbr64; lea r9, SLOT; jmp ENTRY. Return its address. */
static uint64_t
write_stub(struct plan *p, size_t index, uint32_t shape)
{
    static const unsigned char code[] = "\xf3\x0f\x1e\xfa\x4c\x8d\x0d....\xe9";
    uint64_t off = p->places.code_used_bytes, at = p->region->code + off, entry;
    uint64_t slot = p->library.base + library_offset(&p->library, "heaptap_attach_request") +
                    offsetof(struct attach_request, hooks) + index * sizeof(struct hook_slot);
    uint64_t entries = library_offset(&p->library, "heaptap_attached_hooks");
    unsigned char *stub = p->places.code + off;
    int32_t slot_off = (int32_t)(slot - (at + LEA_END)), jump_off;

    memcpy(&entry, p->library.bytes + entries + shape * sizeof entry, sizeof entry);
    jump_off = (int32_t)(entry - (at + JUMP_END));
    memcpy(stub, code, sizeof code - 1);
    memcpy(stub + LEA_END - sizeof slot_off, &slot_off, sizeof slot_off);
    memcpy(stub + JUMP_END - sizeof jump_off, &jump_off, sizeof jump_off);
    p->places.code_used_bytes += STUB_BYTES;
    return at;
}

/* Prepare the jump from F, hook number INDEX, unless the function is patched already. */
static int
prepare_hook(struct plan *p, const struct function *f, size_t index, struct err *err)
{
    struct region *region = p->region;
    struct patch *patch = &region->patches[region->patch_count];
    struct place place;
    int r;

    if (patch_at(region, f->symbol.address))
        return 0;
    r = annex_place(&p->places, f->symbol.address, write_stub(p, index, f->shape), &place, err);
    if (r != 0)
        return r;
    patch->trampoline = place.trampoline;
    r = patch_prepare(p->target, f->name, f->symbol.address, f->symbol.size_bytes, place.target,
                      patch, place.code, err);
    if (r == 0) {
        p->request->hooks[index].function = patch->trampoline;
        region->patch_count++;
    }
    return r;
}

/* Find all functions of other names, and local ones of the usual names in the program. */
static int
find_hooked(struct plan *p, const struct attach_how *how, struct err *err)
{
    struct function *own, *all;
    size_t own_count = functions_of_program(p->target, &own);
    int r = functions_find(p->target, how->hooks, how->hook_count, &p->hooked, &p->hooked_count,
                           err);

    if (r != 0)
        return r;
    if (p->hooked_count + own_count > ATTACH_HOOKS_MAX)
        return err_set(err, HEAPTAP_BAD_INPUT, "process %u has more than %d functions to hook",
                       p->target->pid, ATTACH_HOOKS_MAX);
    all = arena_array(&p->target->arena, p->hooked_count + own_count, sizeof *all);
    if (p->hooked_count > 0)
        memcpy(all, p->hooked, p->hooked_count * sizeof *all);
    if (own_count > 0)
        memcpy(all + p->hooked_count, own, own_count * sizeof *all);
    p->hooked = all;
    p->hooked_count += own_count;
    return 0;
}

/* Prepare the search for objects. It is replaced if functions are that may throw: operators, and
 * hooked functions. */
static int
prepare_finder(struct plan *p, struct err *err)
{
    struct target_symbol s;
    bool may_throw = p->hooked_count > 0;

    if (!target_find(p->target, function_names[ATTACH__dl_find_object], &s))
        return 0; // The library cannot be bound then, which is reported.
    p->request->functions[ATTACH__dl_find_object] = s.address;
    for (uint32_t i = ATTACH_OPERATORS_FROM; i < ATTACH_FUNCTION_COUNT; i++)
        may_throw |= p->request->functions[i] != 0;
    p->region->has_finder = may_throw;
    return may_throw ? prepare_jump(p, ATTACH__dl_find_object, &s, err) : 0;
}

/* Find the allocator's direct branches to the first PATCH_COUNT functions. */
static int
prepare_branches(struct plan *p, uint64_t patch_count, struct err *err)
{
    const struct target *t = p->target;
    const struct target_map *of = target_map_at(t, p->allocator.address);
    struct region *region = p->region;

    // In an allocator that is a part of the program, the recorder recognises inner calls itself.
    if (p->allocator.module == t->modules)
        return 0;
    for (size_t i = 0; of != NULL && i < t->map_count; i++) {
        if ((t->maps[i].access & TARGET_EXECUTE) == 0 || strcmp(t->maps[i].path, of->path) != 0)
            continue;
        region->branch_count +=
            patch_branches(t, t->maps[i].start, t->maps[i].end, region->patches,
                           patch_count, region->branches + region->branch_count,
                           REGION_BRANCHES_MAX - region->branch_count);
        if (region->branch_count > REGION_BRANCHES_MAX)
            return err_set(err, HEAPTAP_BAD_INPUT,
                           "the allocator of process %u calls itself from more than %d places",
                           t->pid, REGION_BRANCHES_MAX);
    }
    return 0;
}

/* Choose the addresses of all parts. */
static int
place_region(struct plan *p, struct err *err)
{
    uint64_t low, high, bytes;
    struct region *region = p->region;
    struct target_symbol near = p->allocator;

    // The call stub, and a place for each patch.
    p->places.code_bytes =
        round_up(TRAMPOLINE_BYTES * (1 + ATTACH_FUNCTION_COUNT + p->hooked_count) +
                     STUB_BYTES * p->hooked_count, PAGE_BYTES);
    p->places.code = arena_alloc(&p->target->arena, p->places.code_bytes);
    bytes = REGION_BYTES + p->places.code_bytes + p->library.size_bytes + STACK_BYTES;

    // Beside a program there is little free address space, and its heap grows there.
    if (near.module == p->target->modules)
        target_find(p->target, "gnu_get_libc_version", &near);
    object_range(p->target, near.address, &low, &high);
    p->base = target_gap(p->target, low, high, bytes);
    if (p->base == 0)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has no free memory within 2 GiB of the libraries",
                       p->target->pid);
    region->magic = REGION_MAGIC;
    region->pid = p->target->pid;
    region->version = REGION_VERSION;
    region->size_bytes = bytes;
    region->code = p->base + REGION_BYTES;
    region->library = p->library.base = region->code + p->places.code_bytes;
    region->stack_top = p->base + bytes - REMOTE_RESULT_BYTES;
    strcpy(region->name, "heaptap");
    memcpy(p->places.code, REMOTE_CALL, REMOTE_CALL_BYTES);
    p->places.code_used_bytes = TRAMPOLINE_BYTES;
    p->places.base = p->base;
    return 0;
}

static int
fill_request(struct plan *p, const struct attach_how *how, struct err *err)
{
    struct attach_request *q = p->request;
    struct target_symbol s;
    uint64_t low, high;

    if (q->magic != ATTACH_MAGIC || q->version != ATTACH_VERSION ||
        how->settings_bytes + 1 > sizeof q->settings)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s is of another version of heaptap",
                       how->library);
    q->tid_off = (uint32_t)p->tid_off;
    q->is_quiet = p->target->is_filtered;
    q->is_glibc = target_find(p->target, "gnu_get_libc_version", &s) &&
                  s.module == p->allocator.module;
    q->usable_size = target_find(p->target, "malloc_usable_size", &s) &&
                             s.module == p->allocator.module ? s.address : 0;
    if (p->allocator.module != p->target->modules && q->is_glibc == 0) {
        object_range(p->target, p->allocator.address, &low, &high);
        q->allocator_start = low;
        q->allocator_bytes = high - low;
    }
    memcpy(q->settings, how->settings, how->settings_bytes);
    return 0;
}

int
plan_make(struct target *t, const struct attach_how *how, struct plan *p, struct err *err)
{
    uint64_t patch_count;
    int r;

    *p = (struct plan){.target = t};
    p->region = arena_alloc(&t->arena, REGION_BYTES);
    p->places.target = t;
    p->places.region = p->region;
    if (strlen(how->profile) >= sizeof p->region->profile)
        return err_set(err, HEAPTAP_BAD_INPUT, "the path of the profile is too long");
    strcpy(p->region->profile, how->profile);
    if (!target_find(t, "malloc", &p->allocator))
        return err_set(err, HEAPTAP_BAD_INPUT, "process %u has no malloc", t->pid);
    if ((r = find_tid(p, err)) != 0 || (r = library_read(how->library, t, &p->library, err)) != 0 ||
        (r = find_hooked(p, how, err)) != 0 || (r = place_region(p, err)) != 0 ||
        (r = library_relocate(&p->library, t, PLAN_TLS_OFF, err)) != 0)
        return r;
    p->region->tls_bytes = library_tls_bytes(&p->library);
    p->owner_off = library_offset(&p->library, "heaptap_attach_owner");
    if (p->region->tls_bytes > PLAN_TLS_BYTES ||
        p->owner_off + sizeof(struct attach_owner) > PLAN_TLS_BYTES)
        return err_set(err, HEAPTAP_BUG, "%s needs too much memory in each thread", how->library);
    p->request = (struct attach_request *)(void *)(p->library.bytes +
                                           library_offset(&p->library, "heaptap_attach_request"));
    p->begin_function = p->library.base + library_offset(&p->library, "heaptap_attach_begin");
    p->region->end_function = p->library.base + library_offset(&p->library, "heaptap_attach_end");
    r = fill_request(p, how, err);
    for (uint32_t i = 0; r == 0 && i < ATTACH_FUNCTION_COUNT; i++)
        r = prepare_function(p, i, err);
    patch_count = p->region->patch_count;
    for (size_t i = 0; r == 0 && i < p->hooked_count; i++)
        r = prepare_hook(p, &p->hooked[i], i, err);
    if (r == 0)
        r = prepare_finder(p, err);
    return r != 0 ? r : prepare_branches(p, patch_count, err);
}
