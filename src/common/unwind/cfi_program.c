/* cfi_program.c: the interpreter of call frame programs.
 *
 * A program edits one row while it moves through the function's code: "advance 4 bytes; the CFA is
 * now rsp + 16; rbp is saved at CFA - 16; advance ...". The interpreter stops at the first advance
 * beyond the requested address; the row then applies to that address. The CIE's program runs first,
 * and DW_CFA_restore resets a register to the result of that program.
 *
 * Invariant: each instruction consumes at least one byte of a bounded cursor, and the number of
 * instructions is limited, so any input terminates. If a value exceeds our fields (an offset beyond
 * 32 bits, five nested remember_state), the cursor becomes bad and the row is rejected, so no row
 * is ever wrong. Registers beyond the pc's column (vectors, flags) cannot affect the walk and are
 * ignored.
 *
 * Most of a program describes pushes and pops: an advance and a CFA offset in turn. A function that
 * pushes many arguments has hundreds of them. A fast path skips such pairs five at a time, and a
 * short loop executes the few other instructions of ordinary functions.
 *
 * About 1 KiB of stack. Signal-safe; no state. */
#include "unwind/cfi_program.h"

#include <emmintrin.h>

// Opcodes of DWARF 5, 6.4.2. The first three have an operand in their low six bits.
enum {
    OP_ADVANCE_LOC = 0x40,
    OP_OFFSET = 0x80,
    OP_RESTORE = 0xc0,
    OP_PRIMARY = 0xc0, // Mask of the three opcodes with an operand in the low bits.
    OP_NOP = 0x00,
    OP_SET_LOC = 0x01,
    OP_ADVANCE_LOC1 = 0x02,
    OP_ADVANCE_LOC2 = 0x03,
    OP_ADVANCE_LOC4 = 0x04,
    OP_OFFSET_EXTENDED = 0x05,
    OP_RESTORE_EXTENDED = 0x06,
    OP_UNDEFINED = 0x07,
    OP_SAME_VALUE = 0x08,
    OP_REGISTER = 0x09,
    OP_REMEMBER_STATE = 0x0a,
    OP_RESTORE_STATE = 0x0b,
    OP_DEF_CFA = 0x0c,
    OP_DEF_CFA_REGISTER = 0x0d,
    OP_DEF_CFA_OFFSET = 0x0e,
    OP_DEF_CFA_EXPRESSION = 0x0f,
    OP_EXPRESSION = 0x10,
    OP_OFFSET_EXTENDED_SF = 0x11,
    OP_DEF_CFA_SF = 0x12,
    OP_DEF_CFA_OFFSET_SF = 0x13,
    OP_VAL_OFFSET = 0x14,
    OP_VAL_OFFSET_SF = 0x15,
    OP_VAL_EXPRESSION = 0x16,
    OP_GNU_ARGS_SIZE = 0x2e,
    OP_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

// A short advance followed by a small CFA offset, as a little-endian number.
enum { PAIR = OP_ADVANCE_LOC | OP_DEF_CFA_OFFSET << 8, PAIR_MASK = OP_PRIMARY | 0xff00 | 0x800000 };

enum {
    REMEMBERED_MAX = 4,         // Compilers nest one or two levels.
    INSTRUCTIONS_MAX = 1 << 18, // Generated functions with a megabyte of code have fewer than 2^15
                                // instructions.
};

struct machine {
    struct cursor c;
    struct cfi_row row;
    struct cfi_row initial;
    struct cfi_row remembered[REMEMBERED_MAX];
    unsigned remembered_count;
    uint64_t location; // First code address that the row covers.
    uint64_t object_start;
    const struct cfi_function *function;
};

static bool run_common(struct machine *m);
static bool cfi_program_run(struct machine *m, struct cursor program, uint64_t lookup);
static void cfi_program_execute(struct machine *m, uint8_t op);

bool
cfi_run(const struct cfi_function *f, uint64_t lookup, const struct unwind_object *object,
        struct cfi_row *ret_row)
{
    struct machine m;

    m.function = f;
    m.object_start = object->start;
    m.location = 0;
    m.remembered_count = 0;
    memset(&m.row, 0, sizeof m.row);
    memset(&m.initial, 0, sizeof m.initial);
    m.row.signal = f->signal;
    if (!run_common(&m))
        return false;
    m.initial = m.row;
    m.location = 0;
    if (!cfi_program_run(&m, f->program, lookup - f->begin))
        return false;
    *ret_row = m.row;
    return true;
}

/* Return the length of the short advance at AT, and its distance in *RET_DELTA; return 0 for any
 * other instruction. Requires two readable bytes at AT. */
static inline size_t
short_advance(const uint8_t *at, uint64_t *ret_delta)
{
    uint32_t low = (uint32_t)at[0] - OP_ADVANCE_LOC;

    if (likely(low <= 0x3f)) {
        *ret_delta = low;
        return 1;
    }
    *ret_delta = at[1];
    return at[0] == OP_ADVANCE_LOC1 ? 2 : 0;
}

/* Execute the instruction at AT if it describes a push or pop, and return the address of the next
 * instruction. Return NULL for any other instruction. Requires three readable bytes at AT. */
static inline const uint8_t *
run_push(struct cfi_row *row, const uint8_t *at)
{
    uint8_t op = at[0], low = op & 0x3f;

    if (op == OP_DEF_CFA_OFFSET && at[1] < 0x80) {
        row->cfa.offset = at[1];
        return at + 2;
    }
    if (op == OP_DEF_CFA_OFFSET && at[2] < 0x80) {
        row->cfa.offset = (at[1] & 0x7f) | at[2] << 7;
        return at + 3;
    }
    if ((op & OP_PRIMARY) == OP_OFFSET && low < UNWIND_REGISTERS && at[1] < 0x80) {
        row->reg[low] = (struct cfi_rule){.offset = -8 * at[1], .how = CFI_AT_OFFSET};
        return at + 2;
    }
    return NULL;
}

/* Skip pairs from AT on, five at a time, then one by one. Stop before a pair that ends beyond END
 * or would advance *LOCATION beyond LOOKUP. Set *OFFSET to the offset of the last skipped pair.
 * Return the address of the next instruction. */
static inline const uint8_t *
skip_pairs(const uint8_t *at, const uint8_t *end, uint64_t lookup, uint64_t *location,
           int32_t *offset)
{
#define FIVE(a, b, c) a, b, c, a, b, c, a, b, c, a, b, c, a, b, c, 0
    static const struct bytes {
        uint8_t byte[16];
    } mask = {{FIVE(PAIR_MASK & 0xff, PAIR_MASK >> 8 & 0xff, PAIR_MASK >> 16)}},
      pairs = {{FIVE(PAIR & 0xff, PAIR >> 8, 0)}}, low = {{FIVE(0x3f, 0, 0)}};
#undef FIVE
    const __m128i masks = _mm_loadu_si128((const __m128i *)(const void *)&mask);
    const __m128i five = _mm_loadu_si128((const __m128i *)(const void *)&pairs);
    const __m128i lows = _mm_loadu_si128((const __m128i *)(const void *)&low);

    while (end - at >= 16) {
        __m128i these = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i sums = _mm_sad_epu8(_mm_and_si128(these, lows), _mm_setzero_si128());
        uint64_t next =
            *location + (uint64_t)_mm_cvtsi128_si64(sums) + (uint64_t)_mm_extract_epi16(sums, 4);

        if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(these, masks), five)) != 0xffff ||
            next > lookup)
            break;
        *location = next;
        *offset = at[14];
        at += 15;
    }
    while (end - at >= 4) {
        uint32_t word;

        memcpy(&word, at, sizeof word);
        if ((word & PAIR_MASK) != PAIR || *location + (word & 0x3f) > lookup)
            break;
        *location += word & 0x3f;
        *offset = word >> 16 & 0x7f;
        at += 3;
    }
    return at;
}

/* Execute short advances and the CFA changes of pushes and pops up to the first advance beyond
 * LOOKUP. This is the fast path. Stop at any instruction that needs a check, which `execute`
 * handles. Return the number of executed instructions, at most LIMIT. */
static int
run_plain(struct machine *m, uint64_t lookup, int limit)
{
    const uint8_t *at = m->c.at, *next;
    // An instruction has at least one byte; an advance and its successor have at most five.
    const uint8_t *last = at + (cur_left(&m->c) < (size_t)limit ? cur_left(&m->c) : (size_t)limit);
    uint64_t location = m->location, delta;
    int32_t offset;
    int count = 0;

    // A location below 2^63 cannot overflow.
    if (lookup > INT64_MAX || m->function->code_align != 1 || m->function->data_align != -8 ||
        m->row.cfa.how != CFI_IN_REGISTER)
        return 0;
    offset = m->row.cfa.offset;
    while (last - at >= 5) {
        size_t bytes;

        next = skip_pairs(at, last, lookup, &location, &offset);
        count += (int)(next - at) / 3 * 2;
        at = next;
        if (last - at < 5)
            break;
        bytes = short_advance(at, &delta);
        if (bytes != 0) {
            at += bytes;
            location += delta;
            count++;
            if (location > lookup)
                break;
        }
        m->row.cfa.offset = offset;
        next = run_push(&m->row, at);
        offset = m->row.cfa.offset;
        if (next != NULL) {
            at = next;
            count++;
        } else if (bytes == 0) {
            break;
        }
    }
    m->row.cfa.offset = offset;
    m->c.at = at;
    m->location = location;
    return count;
}

/* Run PROGRAM up to LOOKUP. LOOKUP and the location are relative to the function's start, so code
 * at the very end of the address space (vsyscall) cannot overflow them. */
static bool
cfi_program_run(struct machine *m, struct cursor program, uint64_t lookup)
{
    m->c = program;
    for (int i = 0; cur_left(&m->c) > 0; i++) {
        i += run_plain(m, lookup, INSTRUCTIONS_MAX - i);
        if (m->location > lookup || cur_left(&m->c) == 0)
            break;
        if (i == INSTRUCTIONS_MAX)
            return false;
        cfi_program_execute(m, cur_u8(&m->c));
        if (m->location > lookup)
            break;
    }
    return !m->c.bad;
}

/* Run the common program. For ordinary functions all compilers emit the same one: the CFA is rsp +
 * 8, and the return address is in the word below it. */
static bool
run_common(struct machine *m)
{
    static const uint8_t ordinary[] = {OP_DEF_CFA, UNWIND_RSP, 8, OP_OFFSET | UNWIND_PC, 1, 0, 0};
    const struct cursor *c = &m->function->initial;

    if (likely(cur_left(c) == sizeof ordinary && m->function->data_align == -8 &&
               memcmp(c->at, ordinary, sizeof ordinary) == 0)) {
        m->row.cfa = (struct cfi_rule){.offset = 8, .how = CFI_IN_REGISTER, .reg = UNWIND_RSP};
        m->row.reg[UNWIND_PC] = (struct cfi_rule){.offset = -8, .how = CFI_AT_OFFSET};
        return true;
    }
    // The program applies to no address, so it cannot advance past any.
    return cfi_program_run(m, *c, UINT64_MAX);
}

static void
advance(struct machine *m, uint64_t delta)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(delta, m->function->code_align, &bytes) ||
        __builtin_add_overflow(m->location, bytes, &m->location))
        cur_fail(&m->c);
}

static int32_t
offset32(struct machine *m, int64_t offset)
{
    if (offset != (int32_t)offset)
        cur_fail(&m->c);
    return (int32_t)offset;
}

static int32_t
factored(struct machine *m, int64_t value)
{
    int64_t offset;

    if (__builtin_mul_overflow(value, m->function->data_align, &offset))
        cur_fail(&m->c);
    return offset32(m, offset);
}

/* Read an unsigned operand. The next two functions read an unsigned and a signed operand and
 * multiply it by the data factor. An unsigned number of 2^63 or more becomes negative, and a later
 * 32-bit check rejects it. */
static int64_t
operand(struct machine *m)
{
    return (int64_t)cur_uleb(&m->c);
}

static int32_t
operand_factored(struct machine *m)
{
    return factored(m, operand(m));
}

static int32_t
operand_signed_factored(struct machine *m)
{
    return factored(m, cur_sleb(&m->c));
}

static void
set_rule(struct machine *m, uint64_t reg, struct cfi_rule rule)
{
    if (reg < UNWIND_REGISTERS && !m->c.bad)
        m->row.reg[reg] = rule;
}

static void
set_offset(struct machine *m, uint64_t reg, enum cfi_how how, int32_t offset)
{
    set_rule(m, reg, (struct cfi_rule){.offset = offset, .how = (uint8_t)how});
}

static void
restore(struct machine *m, uint64_t reg)
{
    if (reg < UNWIND_REGISTERS)
        m->row.reg[reg] = m->initial.reg[reg];
}

static void
set_in_register(struct machine *m, uint64_t reg)
{
    uint64_t source = cur_uleb(&m->c);

    if (source < UNWIND_REGISTERS)
        set_rule(m, reg, (struct cfi_rule){.how = CFI_IN_REGISTER, .reg = (uint8_t)source});
    else
        set_rule(m, reg, (struct cfi_rule){.how = CFI_UNDEFINED});
}

static struct cfi_rule
read_expression(struct machine *m, enum cfi_how how)
{
    struct cursor code = cur_slice(&m->c, cur_uleb(&m->c));
    uint64_t from_start = cur_address(&code) - m->object_start;

    if (cur_left(&code) > UINT16_MAX || from_start > UINT32_MAX)
        cur_fail(&m->c);
    return (struct cfi_rule){
        .expression = (uint32_t)from_start,
        .length = (uint16_t)cur_left(&code),
        .how = (uint8_t)how,
    };
}

static void
set_expression(struct machine *m, enum cfi_how how)
{
    uint64_t reg = cur_uleb(&m->c);

    set_rule(m, reg, read_expression(m, how));
}

static void
set_cfa_register(struct machine *m)
{
    uint64_t reg = cur_uleb(&m->c);

    if (reg >= UNWIND_REGISTERS)
        cur_fail(&m->c);
    m->row.cfa.how = CFI_IN_REGISTER;
    m->row.cfa.reg = (uint8_t)reg;
}

/* Fail unless the CFA is register + offset. An instruction that changes one half of the CFA needs
 * the other; an expression has no halves. */
static void
need_register_cfa(struct machine *m)
{
    if (m->row.cfa.how != CFI_IN_REGISTER)
        cur_fail(&m->c);
}

static void
cfi_program_remember(struct machine *m)
{
    if (m->remembered_count == REMEMBERED_MAX)
        cur_fail(&m->c);
    else
        m->remembered[m->remembered_count++] = m->row;
}

static void
recall(struct machine *m)
{
    if (m->remembered_count == 0)
        cur_fail(&m->c);
    else
        m->row = m->remembered[--m->remembered_count];
}

static void
set_location(struct machine *m)
{
    // Only assemblers without advance_loc emit this instruction, always with an absolute address.
    uint64_t location = cur_unsigned(&m->c, 8) - m->function->begin;

    if (location < m->location)
        cur_fail(&m->c);
    m->location = location;
}

static void
execute_primary(struct machine *m, uint8_t op)
{
    uint8_t low = op & 0x3f;

    if ((op & OP_PRIMARY) == OP_ADVANCE_LOC)
        advance(m, low);
    else if ((op & OP_PRIMARY) == OP_OFFSET)
        set_offset(m, low, CFI_AT_OFFSET, operand_factored(m));
    else
        restore(m, low);
}

/* Execute an instruction that sets a register's rule. `execute` handles all other instructions. */
static void
execute_register(struct machine *m, uint8_t op)
{
    uint64_t reg = cur_uleb(&m->c);

    switch (op) {
    case OP_OFFSET_EXTENDED:
        set_offset(m, reg, CFI_AT_OFFSET, operand_factored(m));
        break;
    case OP_OFFSET_EXTENDED_SF:
        set_offset(m, reg, CFI_AT_OFFSET, operand_signed_factored(m));
        break;
    case OP_GNU_NEGATIVE_OFFSET_EXTENDED:
        set_offset(m, reg, CFI_AT_OFFSET, factored(m, -(operand(m) & INT64_MAX)));
        break;
    case OP_VAL_OFFSET:
        set_offset(m, reg, CFI_IS_OFFSET, operand_factored(m));
        break;
    case OP_VAL_OFFSET_SF:
        set_offset(m, reg, CFI_IS_OFFSET, operand_signed_factored(m));
        break;
    case OP_UNDEFINED:
        set_offset(m, reg, CFI_UNDEFINED, 0);
        break;
    case OP_SAME_VALUE:
        set_offset(m, reg, CFI_SAME, 0);
        break;
    case OP_REGISTER:
        set_in_register(m, reg);
        break;
    case OP_RESTORE_EXTENDED:
        restore(m, reg);
        break;
    default:
        cur_fail(&m->c);
    }
}

static void
execute_cfa(struct machine *m, uint8_t op)
{
    switch (op) {
    case OP_DEF_CFA:
        set_cfa_register(m);
        m->row.cfa.offset = offset32(m, operand(m));
        break;
    case OP_DEF_CFA_SF:
        set_cfa_register(m);
        m->row.cfa.offset = operand_signed_factored(m);
        break;
    case OP_DEF_CFA_REGISTER:
        need_register_cfa(m);
        set_cfa_register(m);
        break;
    case OP_DEF_CFA_OFFSET:
        need_register_cfa(m);
        m->row.cfa.offset = offset32(m, operand(m));
        break;
    case OP_DEF_CFA_OFFSET_SF:
        need_register_cfa(m);
        m->row.cfa.offset = operand_signed_factored(m);
        break;
    default:
        m->row.cfa = read_expression(m, CFI_IS_EXPRESSION);
    }
}

static void
cfi_program_execute(struct machine *m, uint8_t op)
{
    if (op & OP_PRIMARY) {
        execute_primary(m, op);
        return;
    }
    switch (op) {
    case OP_NOP:
        break;
    case OP_SET_LOC:
        set_location(m);
        break;
    case OP_ADVANCE_LOC1:
        advance(m, cur_unsigned(&m->c, 1));
        break;
    case OP_ADVANCE_LOC2:
        advance(m, cur_unsigned(&m->c, 2));
        break;
    case OP_ADVANCE_LOC4:
        advance(m, cur_unsigned(&m->c, 4));
        break;
    case OP_REMEMBER_STATE:
        cfi_program_remember(m);
        break;
    case OP_RESTORE_STATE:
        recall(m);
        break;
    case OP_DEF_CFA:
    case OP_DEF_CFA_SF:
    case OP_DEF_CFA_REGISTER:
    case OP_DEF_CFA_OFFSET:
    case OP_DEF_CFA_OFFSET_SF:
    case OP_DEF_CFA_EXPRESSION:
        execute_cfa(m, op);
        break;
    case OP_EXPRESSION:
        set_expression(m, CFI_AT_EXPRESSION);
        break;
    case OP_VAL_EXPRESSION:
        set_expression(m, CFI_IS_EXPRESSION);
        break;
    case OP_GNU_ARGS_SIZE:
        cur_uleb(&m->c); // Only landing pads need this register.
        break;
    default:
        execute_register(m, op);
    }
}
