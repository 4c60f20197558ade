/* patch.c: redirect functions of another process.
 *
 * A jump takes five bytes. The instructions that it overwrites are copied to a trampoline: branches
 * and addresses relative to the instruction are adjusted, and everything else is copied. A function
 * is refused if a branch in it leads into these bytes, or if an instruction cannot be copied. A
 * call cannot: its return address would be in the trampoline when we remove it.
 *
 * The bytes are written while all threads are stopped, so no thread sees half of a jump. */
#include "attach/patch.h"

#include <stdlib.h>
#include <string.h>

#ifdef HEAPTAP_ZYDIS
#include <Zydis/Zydis.h>

enum {
    FUNCTION_BYTES_MAX = 1 << 16,
    INSTRUCTION_BYTES_MAX = 15,
    CALL_NEAR = 0xe8,
    JUMP_NEAR = 0xe9,
    NEAR_BYTES = 5,
    ESCAPE = 0x0f, // First byte of conditional branches with four bytes of offset, 0x80 to 0x8f.
    CONDITIONAL = 0x80,
    CONDITIONAL_BYTES = 6,
};

/* A decoded instruction, and the operand that is relative to it; NULL = none. */
struct instruction {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const ZydisDecodedOperand *branch, *address;
};

/* Decode the instruction at CODE. Return false if it is not valid. */
static bool
decode(const unsigned char *code, size_t size_bytes, struct instruction *ret)
{
    ZydisDecoder decoder;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ret->branch = ret->address = NULL;
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, code, size_bytes, &ret->decoded, ret->operands)))
        return false;
    for (uint8_t i = 0; i < ret->decoded.operand_count_visible; i++) {
        const ZydisDecodedOperand *o = &ret->operands[i];

        if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o->imm.is_relative)
            ret->branch = o;
        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP)
            ret->address = o;
    }
    return true;
}

/* Return the address that I, which is at AT, branches to. */
static uint64_t
branch_target(const struct instruction *i, uint64_t at)
{
    return at + i->decoded.length + (uint64_t)i->branch->imm.value.s;
}

static bool
is_overwritten(const struct patch *p, uint64_t address)
{
    return address > p->function && address < p->function + PATCH_JUMP_BYTES;
}

/* Return true if an instruction of P's function, which has SIZE_BYTES, branches into the bytes that
 * the jump overwrites. */
static bool
is_jumped_into(const struct target *t, const struct patch *p, uint64_t size_bytes)
{
    size_t wanted = size_bytes < FUNCTION_BYTES_MAX ? size_bytes : FUNCTION_BYTES_MAX;
    unsigned char *code = xmalloc(wanted + 1);
    size_t got = target_read_some(t, p->function, code, wanted);
    struct instruction i;
    bool found = false;

    for (size_t at = 0; at < got && !found;) {
        if (!decode(code + at, got - at, &i)) {
            at++;
            continue;
        }
        found = i.branch != NULL && is_overwritten(p, branch_target(&i, p->function + at));
        at += i.decoded.length;
    }
    free(code);
    return found;
}

/* Code that is being written for a trampoline. */
struct trampoline {
    uint64_t at; // Its address in the process.
    unsigned char *code;
    size_t size_bytes;
};

/* Append BYTES, and a 32-bit offset that leads to TO from the end of the instruction. Return false
 * if TO is out of reach. */
static bool
add_branch(struct trampoline *w, const unsigned char *bytes, size_t count, uint64_t to)
{
    int64_t off = (int64_t)(to - (w->at + w->size_bytes + count + sizeof(int32_t)));
    int32_t narrow = (int32_t)off;

    memcpy(w->code + w->size_bytes, bytes, count);
    memcpy(w->code + w->size_bytes + count, &narrow, sizeof narrow);
    w->size_bytes += count + sizeof narrow;
    return narrow == off;
}

static bool
add_jump(struct trampoline *w, uint64_t to)
{
    return add_branch(w, (const unsigned char[]){JUMP_NEAR}, 1, to);
}

/* Append branch I, which is at AT. Return false if it cannot be moved. */
static bool
move_branch(struct trampoline *w, const struct instruction *i, uint64_t at)
{
    unsigned char condition = i->decoded.opcode & 0x0f;

    if (i->decoded.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
        return add_jump(w, branch_target(i, at));
    // A loop or jrcxz has no form with a long offset; a call would return to the trampoline.
    if (i->decoded.meta.category != ZYDIS_CATEGORY_COND_BR ||
        (i->decoded.opcode & 0xf0) != (i->decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT
                                           ? 0x70
                                           : CONDITIONAL))
        return false;
    return add_branch(w, (const unsigned char[]){ESCAPE, (unsigned char)(CONDITIONAL | condition)},
                      2, branch_target(i, at));
}

/* Append I, which is at AT and has the bytes CODE, and which is no branch. Return false if it
 * cannot be moved. */
static bool
move_plain(struct trampoline *w, const struct instruction *i, uint64_t at,
           const unsigned char *code)
{
    int64_t off;
    int32_t narrow;

    memcpy(w->code + w->size_bytes, code, i->decoded.length);
    if (i->address != NULL) {
        off = i->decoded.raw.disp.value + (int64_t)(at - (w->at + w->size_bytes));
        narrow = (int32_t)off;
        if (narrow != off)
            return false;
        memcpy(w->code + w->size_bytes + i->decoded.raw.disp.offset, &narrow, sizeof narrow);
    }
    w->size_bytes += i->decoded.length;
    return true;
}

static bool
ends_flow(const struct instruction *i)
{
    return i->decoded.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
           i->decoded.meta.category == ZYDIS_CATEGORY_RET;
}

/* Write the trampoline of P. Return false if an instruction cannot be moved. */
static bool
make_trampoline(const struct target *t, struct patch *p, unsigned char *code)
{
    unsigned char first[PATCH_CODE_BYTES];
    size_t got = target_read_some(t, p->function, first, sizeof first), at = 0;
    struct trampoline w = {.at = p->trampoline, .code = code};
    bool ended = false;

    if (got < PATCH_JUMP_BYTES)
        return false;
    memcpy(p->original, first, PATCH_JUMP_BYTES);
    p->count = 0;
    while (at < PATCH_JUMP_BYTES) {
        struct instruction i;

        // A function that ends within the jump's bytes may be followed by another one.
        if (ended || p->count == PATCH_MOVED_MAX || !decode(first + at, got - at, &i))
            return false;
        p->from[p->count] = (uint8_t)at;
        p->to[p->count++] = (uint8_t)w.size_bytes;
        if (i.branch != NULL ? !move_branch(&w, &i, p->function + at)
                             : !move_plain(&w, &i, p->function + at, first + at))
            return false;
        ended = ends_flow(&i);
        at += i.decoded.length;
    }
    return ended || add_jump(&w, p->function + at);
}

#else // Without Zydis nothing can be decoded.

static bool
is_jumped_into(const struct target *t, const struct patch *p, uint64_t size_bytes)
{
    (void)t, (void)p, (void)size_bytes;
    return true;
}

static bool
make_trampoline(const struct target *t, struct patch *p, unsigned char *code)
{
    (void)t, (void)p, (void)code;
    return false;
}

#endif

bool
patch_is_available(void)
{
#ifdef HEAPTAP_ZYDIS
    return true;
#else
    return false;
#endif
}

int
patch_prepare(const struct target *t, const char *name, uint64_t function, uint64_t size_bytes,
              uint64_t target, struct patch *p, unsigned char *code, struct err *err)
{
    uint64_t trampoline = p->trampoline;
    int64_t off = (int64_t)(target - (function + PATCH_JUMP_BYTES));

    static_assert(TRAMPOLINE_BYTES >= PATCH_MOVED_MAX * CONDITIONAL_BYTES + INSTRUCTION_BYTES_MAX +
                                          NEAR_BYTES,
                  "a trampoline has room for all moved instructions and the jump");
    *p = (struct patch){.function = function, .target = target, .trampoline = trampoline};
    if (off != (int32_t)off)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "process %u has no free memory near its function %s", t->pid, name);
    if (is_jumped_into(t, p, size_bytes) || !make_trampoline(t, p, code))
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "the first instructions of %s in process %u cannot be moved; start the "
                       "program with heaptap run instead", name, t->pid);
    return 0;
}

/* Return the patch at P whose function is at ADDRESS; NULL if there is none. */
static const struct patch *
patch_of(const struct patch *p, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (p[i].function == address)
            return &p[i];
    return NULL;
}

/* Return true if ADDRESS is among the bytes that the COUNT patches at P overwrite. */
static bool
is_within_jump(const struct patch *p, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (address - p[i].function < PATCH_JUMP_BYTES)
            return true;
    return false;
}

size_t
patch_branches(const struct target *t, uint64_t start, uint64_t end, const struct patch *p,
               size_t count, struct branch *branches, size_t max)
{
    unsigned char *code = xmalloc(end - start);
    size_t got = target_read_some(t, start, code, end - start), found = 0;

    for (size_t at = 0; at + CONDITIONAL_BYTES <= got; at++) {
        size_t off_at = code[at] == CALL_NEAR || code[at] == JUMP_NEAR ? 1
                        : code[at] == ESCAPE && (code[at + 1] & 0xf0) == CONDITIONAL ? 2 : 0;
        const struct patch *to;
        uint64_t next = start + at + off_at + sizeof(int32_t);
        int32_t off;

        if (off_at == 0)
            continue;
        memcpy(&off, code + at + off_at, sizeof off);
        to = patch_of(p, count, next + (uint64_t)(int64_t)off);
        // A branch that a jump overwrites is in a trampoline.
        if (to == NULL || is_within_jump(p, count, start + at))
            continue;
        if (found < max)
            branches[found] = (struct branch){next - sizeof off, off,
                                              (int32_t)((int64_t)to->trampoline - (int64_t)next)};
        found++;
    }
    free(code);
    return found;
}

/* Store the jump of P in BYTES. */
static void
jump_of(const struct patch *p, unsigned char bytes[PATCH_JUMP_BYTES])
{
    int32_t off = (int32_t)((int64_t)p->target - (int64_t)(p->function + PATCH_JUMP_BYTES));

    bytes[0] = JUMP_NEAR;
    memcpy(bytes + 1, &off, sizeof off);
}

/* Replace the bytes OLD at P's function by NEW. */
static bool
replace_bytes(const struct target *t, const struct patch *p, const unsigned char *old,
              const unsigned char *new)
{
    unsigned char present[PATCH_JUMP_BYTES];

    return target_read(t, p->function, present, sizeof present) &&
           memcmp(present, old, sizeof present) == 0 &&
           target_write(t, p->function, new, PATCH_JUMP_BYTES);
}

bool
patch_apply(const struct target *t, const struct patch *p)
{
    unsigned char jump[PATCH_JUMP_BYTES];

    jump_of(p, jump);
    return replace_bytes(t, p, p->original, jump);
}

bool
patch_remove(const struct target *t, const struct patch *p)
{
    unsigned char jump[PATCH_JUMP_BYTES], present[PATCH_JUMP_BYTES];

    jump_of(p, jump);
    return replace_bytes(t, p, jump, p->original) ||
           (target_read(t, p->function, present, sizeof present) &&
            memcmp(present, p->original, sizeof present) == 0);
}
