/* patch.c: redirect functions of another process.
 *
 * A jump takes five bytes. The instructions that it overwrites are copied to a trampoline: branches
 * and addresses relative to the instruction are adjusted, and everything else is copied.
 *
 *     function   endbr64 | jmp library | rest ◄─────────┐
 *                                                       │
 *     trampoline endbr64 | first instructions | jmp ────┘
 *
 * A function that begins with endbr64 keeps it, because an indirect call must find it where the
 * processor enforces it (IBT). The trampoline has one too, since the recorder calls it indirectly.
 *
 * A call cannot be copied as it is: its return address would be in the trampoline when we remove
 * it. The trampoline pushes the address behind the original call instead, and jumps. Where the
 * processor compares return addresses (shadow stacks), such a function is refused.
 *
 * If a branch in the function leads into the overwritten bytes, the whole function is copied: the
 * branch then leads into the copy. Such a function must be short and may call nothing.
 *
 * A function that ends within the five bytes can be patched if padding follows it.
 *
 * The bytes are written while all threads are stopped, so no thread sees half of a jump. */
#include "attach/patch.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_BYTES = 4096,
    CALL_NEAR = 0xe8,
    JUMP_NEAR = 0xe9,
    NEAR_BYTES = 5,
    ESCAPE = 0x0f, // First byte of conditional branches with four bytes of offset, 0x80 to 0x8f.
    CONDITIONAL = 0x80,
    CONDITIONAL_BYTES = 6,
};

#define ENDBR64 "\xf3\x0f\x1e\xfa"
#define ENDBR64_BYTES (sizeof ENDBR64 - 1)

/* Why a function cannot be patched; NULL = it can. */
typedef const char *refusal;

#ifdef HEAPTAP_ZYDIS
#include <Zydis/Zydis.h>

enum {
    FUNCTION_BYTES_MAX = 1 << 16,
    UNKNOWN_BYTES = 256, // Searched for branches in a function of unknown size.
    WHOLE_BYTES_MAX = 96, // Size of a function that is copied as a whole.
    INSTRUCTION_BYTES_MAX = 15,
    PUSHED_CALL_BYTES = 13 + INSTRUCTION_BYTES_MAX + 1,
    SHORT_CONDITION = 0x70, // First byte of conditional branches with one byte of offset.
    CALL_INDIRECT = 2, // In the register field of the group of opcode 0xff.
    JUMP_INDIRECT = 4,
    GROUP_FF = 0xff,
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
    return address > p->at && address < p->at + PATCH_JUMP_BYTES;
}

/* Return true if an instruction of P's function branches into the bytes that the jump overwrites.
 * CODE has its SIZE_BYTES. */
static bool
is_jumped_into(const struct patch *p, const unsigned char *code, size_t size_bytes)
{
    struct instruction i;

    for (size_t at = 0; at < size_bytes;) {
        if (!decode(code + at, size_bytes - at, &i)) {
            at++;
            continue;
        }
        if (i.branch != NULL && is_overwritten(p, branch_target(&i, p->function + at)))
            return true;
        at += i.decoded.length;
    }
    return false;
}

/* Code that is being written for a trampoline. */
struct trampoline {
    const struct target *target;
    struct patch *patch;
    uint64_t at; // Its address in the process.
    unsigned char *code;
    size_t size_bytes;
    // The copy of a whole function: the branches in it that lead to a moved instruction.
    size_t whole_bytes; // 0 = only the first instructions are moved.
    struct {
        size_t off_at; // Offset of the branch's offset in CODE.
        uint64_t to;
    } inner[PATCH_MOVED_MAX];
    size_t inner_count;
    bool ends; // The last instruction does not continue behind itself.
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
    if (to - w->patch->function < w->whole_bytes) {
        w->inner[w->inner_count].off_at = w->size_bytes + count;
        w->inner[w->inner_count++].to = to;
    }
    w->size_bytes += count + sizeof narrow;
    return narrow == off;
}

static bool
add_jump(struct trampoline *w, uint64_t to)
{
    return add_branch(w, (const unsigned char[]){JUMP_NEAR}, 1, to);
}

/* Append I, which is at AT and has the bytes CODE, with its address adjusted. Return false if it
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

/* Append instructions that push ADDRESS: push imm32; mov dword [rsp+4], imm32. */
static void
add_push(struct trampoline *w, uint64_t address)
{
    unsigned char push[] = "\x68....\xc7\x44\x24\x04....";

    memcpy(push + 1, &address, sizeof(int32_t));
    memcpy(push + 9, (const char *)&address + sizeof(int32_t), sizeof(int32_t));
    memcpy(w->code + w->size_bytes, push, sizeof push - 1);
    w->size_bytes += sizeof push - 1;
}

/* Append call I, which is at AT and has the bytes CODE, such that it returns to the original
 * function. Return false if it cannot be moved. */
static bool
move_call(struct trampoline *w, const struct instruction *i, uint64_t at,
          const unsigned char *code)
{
    const ZydisDecodedOperand *o = &i->operands[0];
    uint64_t back = at + i->decoded.length;
    size_t jump_at;

    if (w->target->has_shadow_stack || w->whole_bytes != 0 || is_overwritten(w->patch, back))
        return false;
    if (i->branch != NULL) {
        add_push(w, back);
        w->ends = true;
        return add_jump(w, branch_target(i, at));
    }
    // The push moves the stack pointer, so an operand relative to it would be another.
    if (i->decoded.opcode != GROUP_FF || i->decoded.raw.modrm.reg != CALL_INDIRECT ||
        (o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->reg.value == ZYDIS_REGISTER_RSP) ||
        (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RSP))
        return false;
    add_push(w, back);
    jump_at = w->size_bytes;
    w->ends = true;
    if (!move_plain(w, i, at, code))
        return false;
    w->code[jump_at + i->decoded.raw.modrm.offset] ^= (CALL_INDIRECT ^ JUMP_INDIRECT) << 3;
    return true;
}

/* Append branch I, which is at AT. Return false if it cannot be moved. */
static bool
move_branch(struct trampoline *w, const struct instruction *i, uint64_t at)
{
    unsigned char condition = i->decoded.opcode & 0x0f;

    if (i->decoded.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
        return add_jump(w, branch_target(i, at));
    // A loop or jrcxz has no form with a long offset.
    if (i->decoded.meta.category != ZYDIS_CATEGORY_COND_BR ||
        (i->decoded.opcode & 0xf0) != (i->decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT
                                           ? SHORT_CONDITION
                                           : CONDITIONAL))
        return false;
    return add_branch(w, (const unsigned char[]){ESCAPE, (unsigned char)(CONDITIONAL | condition)},
                      2, branch_target(i, at));
}

static bool
move_instruction(struct trampoline *w, const struct instruction *i, uint64_t at,
                 const unsigned char *code)
{
    w->ends = i->decoded.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
              i->decoded.meta.category == ZYDIS_CATEGORY_RET;
    if (i->decoded.meta.category == ZYDIS_CATEGORY_CALL)
        return move_call(w, i, at, code);
    // A table of branches leads back into the original function.
    if (w->whole_bytes != 0 && i->branch == NULL &&
        i->decoded.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
        return false;
    return i->branch != NULL ? move_branch(w, i, at) : move_plain(w, i, at, code);
}

/* Return true if the COUNT bytes at CODE are padding between functions. */
static bool
is_padding(const unsigned char *code, size_t count, size_t readable_bytes)
{
    enum { TRAP = 0xcc };
    struct instruction i;

    for (size_t at = 0; at < count;) {
        if (code[at] == TRAP) {
            at++;
            continue;
        }
        if (!decode(code + at, readable_bytes - at, &i) ||
            i.decoded.mnemonic != ZYDIS_MNEMONIC_NOP)
            return false;
        at += i.decoded.length;
    }
    return true;
}

/* Append the instructions in [0, END) of the function at CODE, where READABLE_BYTES can be read.
 * END may be within an instruction. Set *RET_END to the end of the last one. */
static refusal
move_all(struct trampoline *w, const unsigned char *code, size_t end, size_t readable_bytes,
         size_t *ret_end)
{
    struct patch *p = w->patch;
    size_t at = 0;

    while (at < end) {
        struct instruction i;

        if (w->ends && w->whole_bytes == 0) {
            if (!is_padding(code + at, end - at, readable_bytes - at))
                return "it is too short for a jump";
            break;
        }
        if (p->count == PATCH_MOVED_MAX || at > UINT8_MAX || w->size_bytes > UINT8_MAX ||
            w->size_bytes + PUSHED_CALL_BYTES + NEAR_BYTES > TRAMPOLINE_BYTES)
            return "it has too many instructions to be moved";
        if (!decode(code + at, readable_bytes - at, &i))
            return "its first bytes are no instructions";
        p->from[p->count] = (uint8_t)at;
        p->to[p->count++] = (uint8_t)w->size_bytes;
        if (!move_instruction(w, &i, p->function + at, code + at))
            return w->whole_bytes != 0 ? "it branches into its first five bytes"
                                       : "its first instructions cannot be moved";
        at += i.decoded.length;
    }
    *ret_end = at;
    return NULL;
}

/* Let the inner branches of a copied function lead into the copy. Return false if one leads into an
 * instruction. */
static bool
bind_inner(struct trampoline *w)
{
    const struct patch *p = w->patch;

    for (size_t i = 0; i < w->inner_count; i++) {
        int32_t off;
        uint8_t k = 0;

        while (k < p->count && p->function + p->from[k] != w->inner[i].to)
            k++;
        if (k == p->count)
            return false;
        off = p->to[k] - (int32_t)(w->inner[i].off_at + sizeof off);
        memcpy(w->code + w->inner[i].off_at, &off, sizeof off);
    }
    return true;
}

/* Write the trampoline of P to CODE. BYTES has the READABLE_BYTES of the function, which ends after
 * SIZE_BYTES; 0 = unknown. */
static refusal
make_trampoline(const struct target *t, struct patch *p, const unsigned char *bytes,
                size_t readable_bytes, size_t size_bytes, unsigned char *code)
{
    struct trampoline w = {.target = t, .patch = p, .at = p->trampoline, .code = code};
    size_t jump_off = p->at - p->function, searched = size_bytes != 0 ? size_bytes : UNKNOWN_BYTES;
    bool is_whole = is_jumped_into(p, bytes, searched < readable_bytes ? searched : readable_bytes);
    refusal why;
    size_t end;

    if (readable_bytes < jump_off + PATCH_JUMP_BYTES)
        return "it is too short for a jump";
    memcpy(p->original, bytes + jump_off, PATCH_JUMP_BYTES);
    if (is_whole && (size_bytes == 0 || size_bytes > WHOLE_BYTES_MAX))
        return "it branches into its first five bytes";
    w.whole_bytes = is_whole ? size_bytes : 0;
    why = move_all(&w, bytes, is_whole ? size_bytes : jump_off + PATCH_JUMP_BYTES, readable_bytes,
                   &end);
    if (why != NULL)
        return why;
    p->left_bytes = (uint8_t)(is_whole ? size_bytes : jump_off + PATCH_JUMP_BYTES);
    if (!bind_inner(&w))
        return "it branches into an instruction";
    return w.ends || add_jump(&w, p->function + end) ? NULL : "it is too far away";
}

#else // Without Zydis nothing can be decoded.

static refusal
make_trampoline(const struct target *t, struct patch *p, const unsigned char *bytes,
                size_t readable_bytes, size_t size_bytes, unsigned char *code)
{
    (void)t, (void)p, (void)bytes, (void)readable_bytes, (void)size_bytes, (void)code;
    return "there is no decoder";
}

enum { FUNCTION_BYTES_MAX = 0 };

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

bool
patch_reaches(uint64_t from, uint64_t low, uint64_t high)
{
    int64_t down = (int64_t)(low - from), up = (int64_t)(high - from);

    return down == (int32_t)down && up == (int32_t)up;
}

void
patch_relay(unsigned char *code, uint64_t target)
{
    static const char jump[] = "\xff\x25\x02\x00\x00\x00\xcc\xcc"; // jmp [rip+2]

    memcpy(code, jump, sizeof jump - 1);
    memcpy(code + sizeof jump - 1, &target, sizeof target);
}

int
patch_prepare(const struct target *t, const char *name, uint64_t function, uint64_t size_bytes,
              uint64_t target, struct patch *p, unsigned char *code, struct err *err)
{
    // Instructions behind a function of unknown size are decoded too, to find branches.
    size_t known = size_bytes < FUNCTION_BYTES_MAX ? size_bytes : FUNCTION_BYTES_MAX;
    size_t wanted = known + PAGE_BYTES;
    unsigned char *bytes = xmalloc(wanted);
    size_t got = target_read_some(t, function, bytes, wanted);
    bool has_endbr = got >= ENDBR64_BYTES && memcmp(bytes, ENDBR64, ENDBR64_BYTES) == 0;
    uint64_t at = has_endbr ? function + ENDBR64_BYTES : function;
    refusal why = "there is no free memory near it";

    *p = (struct patch){.function = function, .at = at, .target = target,
                        .trampoline = p->trampoline};
    if (patch_reaches(at + PATCH_JUMP_BYTES, target, target))
        why = make_trampoline(t, p, bytes, got, size_bytes, code);
    free(bytes);
    return why == NULL ? 0
                       : err_set(err, HEAPTAP_BAD_INPUT,
                                 "%.200s in process %u cannot be patched: %s; start the program "
                                 "with heaptap run instead", name, t->pid, why);
}

/* Return the patch at P whose function is at ADDRESS; NULL if there is none. */
static const struct patch *
patch_of(const struct patch *p, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (p[i].function == address || p[i].at == address)
            return &p[i];
    return NULL;
}

/* Return true if ADDRESS is among the bytes that the COUNT patches at P overwrite. */
static bool
is_within_jump(const struct patch *p, size_t count, uint64_t address)
{
    for (size_t i = 0; i < count; i++)
        if (address - p[i].at < PATCH_JUMP_BYTES)
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
    int32_t off = (int32_t)((int64_t)p->target - (int64_t)(p->at + PATCH_JUMP_BYTES));

    bytes[0] = JUMP_NEAR;
    memcpy(bytes + 1, &off, sizeof off);
}

/* Replace the bytes OLD at P's jump by NEW. */
static bool
replace_bytes(const struct target *t, const struct patch *p, const unsigned char *old,
              const unsigned char *new)
{
    unsigned char present[PATCH_JUMP_BYTES];

    return target_read(t, p->at, present, sizeof present) &&
           memcmp(present, old, sizeof present) == 0 &&
           target_write(t, p->at, new, PATCH_JUMP_BYTES);
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
    // The program may have unloaded the library of a hooked function.
    return !target_read(t, p->at, present, sizeof present) ||
           memcmp(present, p->original, sizeof present) == 0 ||
           replace_bytes(t, p, jump, p->original);
}

uint64_t
patch_moves(const struct patch *p, uint64_t pc, bool into)
{
    for (uint32_t k = 0; k < p->count; k++) {
        uint64_t inside = p->function + p->from[k], outside = p->trampoline + p->to[k];

        // At or before the jump, the jump takes the thread itself.
        if (pc == (into ? inside : outside) && !(into && inside <= p->at))
            return into ? outside : inside;
    }
    return 0;
}
