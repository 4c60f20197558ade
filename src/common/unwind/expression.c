/* expression.c: the DWARF expressions that occur in unwind tables.
 *
 * Where offsets cannot express a row (the PLT, signal frames, functions that realign their stack),
 * the tables hold a small program for a stack machine: push register + offset, dereference, add,
 * compare.
 *
 * Invariants: at most STEPS_MAX operations and STACK_MAX values; branches stay within the
 * expression; memory is read only within the caller's stack bounds; a register that is used must be
 * known. Arithmetic is on 64-bit words and wraps. Errors are sticky, as in the cursor.
 *
 * Not supported: location descriptions (pieces, entry values, calls, address spaces), floating
 * point, typed operations; none of them can occur in call frame information.
 *
 * Needs a third of a KiB of stack. Signal-safe; no state.
 */
#include "unwind/cfi.h"

// DWARF 5, 7.7.1.
enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0a,
    OP_CONST2S = 0x0b,
    OP_CONST4U = 0x0c,
    OP_CONST4S = 0x0d,
    OP_CONST8U = 0x0e,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROT = 0x17,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_REG0 = 0x50,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_REGX = 0x90,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

enum {
    STACK_MAX = 32,
    STEPS_MAX = 1024,
};

struct evaluation {
    struct cursor c;
    const uint8_t *code; // First byte of the expression, the lower bound of backward branches.
    const struct unwind_registers *r;
    const struct unwind_bounds *bounds;
    unsigned depth;
    uint64_t stack[STACK_MAX];
};

static void expression_execute(struct evaluation *e, uint8_t op);

bool
expression_eval(struct cursor code, const struct unwind_registers *r,
                const struct unwind_bounds *bounds, const uint64_t *first, uint64_t *ret_value)
{
    struct evaluation e;

    e.c = code;
    e.code = code.at;
    e.r = r;
    e.bounds = bounds;
    e.depth = 0;
    if (first)
        e.stack[e.depth++] = *first;
    for (int i = 0; cur_left(&e.c) > 0; i++) {
        if (i == STEPS_MAX)
            return false;
        expression_execute(&e, cur_u8(&e.c));
    }
    if (e.c.bad || e.depth == 0)
        return false;
    *ret_value = e.stack[e.depth - 1];
    return true;
}

static void
expression_push(struct evaluation *e, uint64_t value)
{
    if (e->depth == STACK_MAX)
        cur_fail(&e->c);
    else
        e->stack[e->depth++] = value;
}

static uint64_t
expression_pop(struct evaluation *e)
{
    if (e->depth == 0) {
        cur_fail(&e->c);
        return 0;
    }
    return e->stack[--e->depth];
}

/* Push a copy of the value INDEX places below the top. */
static void
expression_pick(struct evaluation *e, unsigned index)
{
    if (index >= e->depth)
        cur_fail(&e->c);
    else
        expression_push(e, e->stack[e->depth - 1 - index]);
}

static void
push_register(struct evaluation *e, uint64_t reg, uint64_t offset)
{
    if (reg >= UNWIND_REGISTERS || !(e->r->valid >> reg & 1))
        cur_fail(&e->c);
    else
        expression_push(e, e->r->r[reg] + offset);
}

static void
deref(struct evaluation *e, uint64_t size)
{
    uint64_t address = expression_pop(e);
    uint64_t word = 0;

    // A read of less than a word may touch the whole word: the stack's bounds are multiples of
    // words.
    if (size < 1 || size > 8 || !unwind_read(e->bounds, address, &word))
        cur_fail(&e->c);
    else if (size < 8)
        word &= (UINT64_C(1) << 8 * size) - 1;
    expression_push(e, word);
}

static void
branch(struct evaluation *e, bool taken)
{
    int64_t distance = cur_signed(&e->c, 2);

    if (!taken)
        return;
    if (e->c.bad || distance < e->code - e->c.at || distance > e->c.end - e->c.at)
        cur_fail(&e->c);
    else
        e->c.at += distance;
}

static void
rotate(struct evaluation *e)
{
    uint64_t top = expression_pop(e);
    uint64_t second = expression_pop(e);
    uint64_t third = expression_pop(e);

    expression_push(e, top);
    expression_push(e, third);
    expression_push(e, second);
}

static void
swap(struct evaluation *e)
{
    uint64_t top = expression_pop(e);
    uint64_t second = expression_pop(e);

    expression_push(e, top);
    expression_push(e, second);
}

static void
unary(struct evaluation *e, uint8_t op)
{
    uint64_t a = expression_pop(e);

    switch (op) {
    case OP_ABS:
        expression_push(e, (int64_t)a < 0 ? -a : a);
        break;
    case OP_NEG:
        expression_push(e, -a);
        break;
    case OP_NOT:
        expression_push(e, ~a);
        break;
    default:
        expression_push(e, a + cur_uleb(&e->c));
    }
}

/* Divide signed numbers. The only overflow, of the least number divided by -1, wraps like all other
 * arithmetic. */
static uint64_t
expression_divide(struct evaluation *e, uint64_t a, uint64_t b)
{
    if (b == 0) {
        cur_fail(&e->c);
        return 0;
    }
    return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t
modulo(struct evaluation *e, uint64_t a, uint64_t b)
{
    if (b == 0) {
        cur_fail(&e->c);
        return 0;
    }
    return a % b;
}

static uint64_t
shift(uint8_t op, uint64_t a, uint64_t b)
{
    if (op == OP_SHRA)
        return (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
    if (b > 63)
        return 0;
    return op == OP_SHL ? a << b : a >> b;
}

static bool
expression_compare(uint8_t op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_EQ:
        return a == b;
    case OP_GE:
        return a >= b;
    case OP_GT:
        return a > b;
    case OP_LE:
        return a <= b;
    case OP_LT:
        return a < b;
    default:
        return a != b;
    }
}

static uint64_t
combine(struct evaluation *e, uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_AND:
        return a & b;
    case OP_DIV:
        return expression_divide(e, a, b);
    case OP_MINUS:
        return a - b;
    case OP_MOD:
        return modulo(e, a, b);
    case OP_MUL:
        return a * b;
    case OP_OR:
        return a | b;
    case OP_PLUS:
        return a + b;
    case OP_SHL:
    case OP_SHR:
    case OP_SHRA:
        return shift(op, a, b);
    case OP_XOR:
        return a ^ b;
    default:
        return expression_compare(op, (int64_t)a, (int64_t)b);
    }
}

static void
binary(struct evaluation *e, uint8_t op)
{
    uint64_t b = expression_pop(e);
    uint64_t a = expression_pop(e);

    expression_push(e, combine(e, op, a, b));
}

/* Execute an opcode that contains its operand: a small number or a register. */
static void
execute_ranged(struct evaluation *e, uint8_t op)
{
    if (op < OP_REG0)
        expression_push(e, (uint64_t)(op - OP_LIT0));
    else if (op < OP_BREG0)
        push_register(e, (uint64_t)(op - OP_REG0), 0);
    else
        push_register(e, (uint64_t)(op - OP_BREG0), (uint64_t)cur_sleb(&e->c));
}

static void
execute_breg(struct evaluation *e)
{
    uint64_t reg = cur_uleb(&e->c);

    push_register(e, reg, (uint64_t)cur_sleb(&e->c));
}

static void
execute_constant(struct evaluation *e, uint8_t op)
{
    switch (op) {
    case OP_CONST1S:
        expression_push(e, (uint64_t)cur_signed(&e->c, 1));
        break;
    case OP_CONST2S:
        expression_push(e, (uint64_t)cur_signed(&e->c, 2));
        break;
    case OP_CONST4S:
        expression_push(e, (uint64_t)cur_signed(&e->c, 4));
        break;
    case OP_CONST1U:
        expression_push(e, cur_unsigned(&e->c, 1));
        break;
    case OP_CONST2U:
        expression_push(e, cur_unsigned(&e->c, 2));
        break;
    case OP_CONST4U:
        expression_push(e, cur_unsigned(&e->c, 4));
        break;
    case OP_CONSTU:
        expression_push(e, cur_uleb(&e->c));
        break;
    case OP_CONSTS:
        expression_push(e, (uint64_t)cur_sleb(&e->c));
        break;
    default: // const8u, const8s, addr
        expression_push(e, cur_unsigned(&e->c, 8));
    }
}

static void
execute_stack(struct evaluation *e, uint8_t op)
{
    switch (op) {
    case OP_DUP:
        expression_pick(e, 0);
        break;
    case OP_DROP:
        expression_pop(e);
        break;
    case OP_OVER:
        expression_pick(e, 1);
        break;
    case OP_PICK:
        expression_pick(e, cur_u8(&e->c));
        break;
    case OP_SWAP:
        swap(e);
        break;
    default:
        rotate(e);
    }
}

static void
expression_execute(struct evaluation *e, uint8_t op)
{
    switch (op) {
    case OP_NOP:
        break;
    case OP_ADDR:
    case OP_CONST1U ... OP_CONSTS:
        execute_constant(e, op);
        break;
    case OP_DUP ... OP_ROT:
        execute_stack(e, op);
        break;
    case OP_ABS:
    case OP_NEG:
    case OP_NOT:
    case OP_PLUS_UCONST:
        unary(e, op);
        break;
    case OP_AND ... OP_MUL:
    case OP_OR:
    case OP_PLUS:
    case OP_SHL ... OP_XOR:
    case OP_EQ ... OP_NE:
        binary(e, op);
        break;
    case OP_DEREF:
        deref(e, 8);
        break;
    case OP_DEREF_SIZE:
        deref(e, cur_u8(&e->c));
        break;
    case OP_SKIP:
        branch(e, true);
        break;
    case OP_BRA:
        branch(e, expression_pop(e) != 0);
        break;
    case OP_LIT0 ... OP_BREG31:
        execute_ranged(e, op);
        break;
    case OP_REGX:
        push_register(e, cur_uleb(&e->c), 0);
        break;
    case OP_BREGX:
        execute_breg(e);
        break;
    default:
        cur_fail(&e->c);
    }
}
