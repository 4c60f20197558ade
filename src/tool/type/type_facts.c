/* type_facts.c: collect facts about the block that a call returns, independent of its size.
 *
 * DWARF has the types of variables but not of expressions. Locations of variables help. When a call
 * returns, its result is in the first return register, by the calling convention. Therefore a
 * variable that is in that register at the instruction after the call has the result. Optimised
 * code has such locations for most variables; unoptimised code has only stack slots. All useful
 * facts are collected, each with its kind of evidence. The caller (types.c) has the requested sizes
 * and decides.
 *
 *     call malloc            a frame inlined here ─┐ level 0
 *     ► mov %rax, %rbx       …and around it       ─┤ level 1
 *       call ctor            the function         ─┘ level 2
 *
 * The facts are: variables in the register at the return address (RESULT), or whose location starts
 * soon after (BEGINS); pointers declared on the line (DECLARED); the type that the next call
 * constructs (CONSTRUCTOR); the function's return type (RETURN); targets of the function's pointer
 * variables (VARIABLE) and of their members (MEMBER); the template parameter of an allocator
 * (TEMPLATE); hints in the text (type_hint.c).
 *
 * No instruction is decoded. Recursion is limited. */
#include "type/type_facts.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "type/type_die.h"
#include "type/type_hint.h"
#include "type/type_scope.h"
#include "util/path.h"

enum {
    DEPTH_MAX = 48,
    LOOKED_AT_MAX = 40000, // Maximum number of DIEs read for one call.
    FACTS_MAX = 400,       // Maximum per call. Functions with more variables are generated code.
    SOON_BYTES = 48,       // Maximum length of the code after a call that stores its result.
    NEXT_CALL_BYTES = 160,
    LEVEL_NONE = 255, // Level of an inlined call that does not contain the examined call.
    WORD_BYTES = 8,
};

struct type_finder {
    struct type_dies dies;
    struct type_scopes *scopes;
};

/* State of the search for one call. */
struct question {
    struct type_finder *f;
    uint64_t pc; // The return address.
    const struct type_statement *statements;
    size_t statement_count;
    Dwarf_Die scopes[SYMBOL_FRAMES_MAX];
    size_t scope_count;
    unsigned left;      // Number of DIEs that may still be read.
    uint64_t next_call; // Return address of the next call in the function; 0 = none known.
    Dwarf_Die next_callee;
    struct type_facts *ret;
};

struct type_finder *
type_finder_new(struct debuginfo *d, struct arena *arena)
{
    struct type_finder *f = xmalloc(sizeof *f);

    *f = (struct type_finder){.dies = {.d = d, .arena = arena}};
    f->scopes = type_scopes_new(&f->dies);
    return f;
}

void
type_finder_free(struct type_finder *f)
{
    if (f == NULL)
        return;
    type_scopes_free(f->scopes);
    type_dies_release(&f->dies);
    free(f);
}

static void
add_fact(struct question *q, struct type_fact fact, enum type_evidence evidence, size_t level)
{
    struct type_facts *r = q->ret;

    fact.evidence = (uint8_t)evidence;
    fact.level = (uint8_t)(level < q->scope_count ? level : 0);
    if (r->count >= FACTS_MAX)
        return;
    for (size_t i = 0; i < r->count; i++)
        if (r->v[i].evidence == fact.evidence && r->v[i].level == fact.level &&
            r->v[i].size == fact.size && strcmp(r->v[i].name, fact.name) == 0)
            return;
    arena_grow(q->f->dies.arena, &r->v, &r->capacity, r->count, sizeof *r->v);
    r->v[r->count++] = fact;
}

static void
add_type(struct question *q, Dwarf_Die *type, enum type_evidence evidence, size_t level)
{
    struct type_fact fact;

    if (type_die_describe(&q->f->dies, type, &fact))
        add_fact(q, fact, evidence, level);
}

/* Return true if the location EXPRESSION is a register, and set *NUMBER. */
static bool
is_register(const Dwarf_Op *expression, size_t length, unsigned *number)
{
    if (length != 1 || expression->atom < DW_OP_reg0 || expression->atom > DW_OP_reg31)
        return false;
    *number = (unsigned)(expression->atom - DW_OP_reg0);
    return true;
}

static bool
is_on_stack(const Dwarf_Op *expression, size_t length)
{
    return length == 1 && expression->atom == DW_OP_fbreg;
}

/* Return the evidence, from VARIABLE's locations, that VARIABLE has the result; or
 * EVIDENCE_NONE. */
static enum type_evidence
place_evidence(const struct question *q, Dwarf_Die *variable)
{
    enum type_evidence best = EVIDENCE_NONE;
    // The variable had a location before the call, so its value may only have moved.
    bool lived_before = false;
    Dwarf_Attribute attribute;
    Dwarf_Addr base;
    Dwarf_Addr start;
    Dwarf_Addr end;
    Dwarf_Op *expression;
    size_t length;
    ptrdiff_t offset = 0;

    if (dwarf_attr(variable, DW_AT_location, &attribute) == NULL)
        return best;
    while ((offset = dwarf_getlocations(&attribute, offset, &base, &start, &end, &expression,
                                        &length)) > 0) {
        unsigned number = 0;
        bool in_register = is_register(expression, length, &number);

        if (start == 0 || start >= end)
            continue;
        if (in_register && number == 0 && start <= q->pc && q->pc < end)
            return EVIDENCE_RESULT;
        lived_before = lived_before || (start < q->pc && q->pc <= end);
        if (start > q->pc && start <= q->pc + SOON_BYTES &&
            (q->next_call == 0 || start < q->next_call) &&
            (in_register || is_on_stack(expression, length)))
            best = EVIDENCE_BEGINS;
    }
    return lived_before ? EVIDENCE_NONE : best;
}

static bool
type_facts_same_file(const char *a, const char *b)
{
    return strcmp(path_basename(a), path_basename(b)) == 0;
}

/* Return true if VARIABLE is declared on the line of the frame LEVEL. */
static bool
is_declared_here(const struct question *q, Dwarf_Die *variable, size_t level)
{
    const struct type_statement *s = level < q->statement_count ? &q->statements[level] : NULL;
    const char *file;
    int line;

    if (s == NULL || s->line == 0 || s->file == NULL || dwarf_tag(variable) != DW_TAG_variable ||
        dwarf_decl_line(variable, &line) != 0 || (uint32_t)line != s->line)
        return false;
    file = debuginfo_file(q->f->dies.d, variable, DW_AT_decl_file);
    return file != NULL && type_facts_same_file(file, s->file);
}

/* Add the targets of the pointers in AGGREGATE. */
static void
type_facts_add_members(struct question *q, Dwarf_Die *aggregate, size_t level)
{
    Dwarf_Die type;
    Dwarf_Die die;

    if (!type_die_peel(aggregate, &type) || dwarf_child(&type, &die) != 0)
        return;
    do {
        Dwarf_Die member;

        if (q->left == 0 || --q->left == 0)
            return;

        if (dwarf_tag(&die) == DW_TAG_member && type_die_of(&die, &member) &&
            type_die_pointee(&member, &member) && type_die_is_aggregate(&member))
            add_type(q, &member, EVIDENCE_MEMBER, level);
    } while (type_die_next(&die));
}

/* Add the facts about the result from VARIABLE in the frame LEVEL. */
static void
look_at_variable(struct question *q, Dwarf_Die *variable, size_t level)
{
    Dwarf_Die type;
    Dwarf_Die pointee;
    enum type_evidence evidence;

    if (!type_die_of(variable, &type))
        return;
    if (!type_die_pointee(&type, &pointee)) {
        if (level != LEVEL_NONE && type_die_is_aggregate(&type))
            type_facts_add_members(q, &type, level);
        return;
    }
    evidence = place_evidence(q, variable);
    if (evidence == EVIDENCE_RESULT || (evidence != EVIDENCE_NONE && level != LEVEL_NONE))
        add_type(q, &pointee, evidence, level);
    if (level == LEVEL_NONE)
        return;
    if (is_declared_here(q, variable, level))
        add_type(q, &pointee, EVIDENCE_DECLARED, level);
    if (type_die_is_aggregate(&pointee)) {
        add_type(q, &pointee, EVIDENCE_VARIABLE, level);
        type_facts_add_members(q, &pointee, level);
    } else if (type_die_pointee(&pointee, &type) && type_die_is_aggregate(&type)) {
        // The call may be *variable = malloc(sizeof(T)), where the variable is a T **.
        add_type(q, &type, EVIDENCE_VARIABLE, level);
    }
}

/* Record CALL if it is the next call after the examined one. */
static void
look_at_call(struct question *q, Dwarf_Die *call)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr returns_to;

    if ((dwarf_attr(call, DW_AT_call_return_pc, &attribute) == NULL &&
         dwarf_attr(call, DW_AT_low_pc, &attribute) == NULL) ||
        dwarf_formaddr(&attribute, &returns_to) != 0 || returns_to <= q->pc ||
        (q->next_call != 0 && returns_to >= q->next_call))
        return;
    q->next_call = returns_to;
    q->next_callee = (Dwarf_Die){0};
    if (dwarf_attr(call, DW_AT_call_origin, &attribute) != NULL ||
        dwarf_attr(call, DW_AT_abstract_origin, &attribute) != NULL)
        dwarf_formref_die(&attribute, &q->next_callee);
}

static size_t
level_of(const struct question *q, Dwarf_Die *call)
{
    for (size_t i = 0; i < q->scope_count; i++)
        if (q->scopes[i].addr == call->addr)
            return i;
    return LEVEL_NONE;
}

/* Set *RET to the class of the member function FUNCTION, from the type of "this". */
static bool
class_of(Dwarf_Die *function, Dwarf_Die *ret)
{
    Dwarf_Die die = *function;

    for (unsigned step = 0; step < 4; step++) {
        Dwarf_Attribute attribute;
        Dwarf_Die child;

        if (dwarf_child(&die, &child) == 0) {
            do {
                if (dwarf_tag(&child) == DW_TAG_formal_parameter &&
                    dwarf_hasattr_integrate(&child, DW_AT_artificial))
                    return type_die_of(&child, ret) && type_die_pointee(ret, ret) &&
                           type_die_peel(ret, ret);
            } while (type_die_next(&child));
        }
        if ((dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == NULL &&
             dwarf_attr(&die, DW_AT_specification, &attribute) == NULL) ||
            dwarf_formref_die(&attribute, &die) == NULL)
            return false;
    }
    return false;
}

/* Return true if FUNCTION is a constructor of CLASS: it has the name of CLASS without template
 * arguments. */
static bool
is_constructor(Dwarf_Die *function, Dwarf_Die *class)
{
    const char *name = dwarf_diename(function);
    const char *class_name = dwarf_diename(class);
    size_t length = name != NULL ? strcspn(name, "<") : 0;

    return name != NULL && class_name != NULL && length == strcspn(class_name, "<") &&
           strncmp(name, class_name, length) == 0;
}

/* CALL is inlined and does not contain the examined call. Add the class of CALL if it is the
 * constructor of the result: it begins soon, and before any other call. */
static void
look_at_inlined(struct question *q, Dwarf_Die *call)
{
    Dwarf_Addr entry;
    Dwarf_Die class;

    if (dwarf_entrypc(call, &entry) != 0 || entry < q->pc || entry > q->pc + SOON_BYTES ||
        (q->next_call != 0 && entry >= q->next_call) || !class_of(call, &class) ||
        !is_constructor(call, &class))
        return;
    add_type(q, &class, EVIDENCE_CONSTRUCTOR, 0);
}

/* Examine every variable below SCOPE, or, if CALLS, every call. */
static void
// NOLINTNEXTLINE(misc-no-recursion): no deeper than DEPTH_MAX.
scan(struct question *q, Dwarf_Die *scope, size_t level, bool calls, unsigned depth)
{
    Dwarf_Die die;

    if (depth > DEPTH_MAX || dwarf_child(scope, &die) != 0)
        return;
    do {
        if (q->left == 0 || --q->left == 0)
            return;
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
            if (!calls)
                look_at_variable(q, &die, level);
            break;
        case DW_TAG_call_site:
        case DW_TAG_GNU_call_site:
            if (calls)
                look_at_call(q, &die);
            break;
        case DW_TAG_inlined_subroutine:
            if (!calls && level_of(q, &die) == LEVEL_NONE)
                look_at_inlined(q, &die);
            scan(q, &die, level_of(q, &die), calls, depth + 1);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
            scan(q, &die, level, calls, depth + 1);
            break;
        default:
            break;
        }
    } while (type_die_next(&die));
}

static void
add_constructor(struct question *q)
{
    Dwarf_Die class;

    if (q->next_call == 0 || q->next_call > q->pc + NEXT_CALL_BYTES ||
        q->next_callee.addr == NULL || !class_of(&q->next_callee, &class) ||
        !is_constructor(&q->next_callee, &class))
        return;
    add_type(q, &class, EVIDENCE_CONSTRUCTOR, 0);
}

/* Set *RET to the first type parameter with a size of HOLDER, a function or class. */
static bool
template_parameter(Dwarf_Die *holder, Dwarf_Die *ret)
{
    Dwarf_Die die;

    if (dwarf_child(holder, &die) != 0)
        return false;
    do {
        if (dwarf_tag(&die) == DW_TAG_template_type_parameter && type_die_of(&die, ret) &&
            type_die_size(ret) != 0)
            return true;
    } while (type_die_next(&die));
    return false;
}

/* Return true if the function NAME (with scopes) allocates for the type of its template: C++
 * allocators, Rust's boxes and vectors. */
static bool
is_typed_allocator(const char *name)
{
    static const char *const rust[] = {"alloc::raw_vec::", "alloc::boxed::"};
    const char *last = name;
    size_t end;

    for (size_t i = 0; i < countof(rust); i++)
        if (strncmp(name, rust[i], strlen(rust[i])) == 0)
            return true;
    // Find the last part of a name whose scopes may have template arguments.
    for (const char *s = name; (s = strstr(s, "::")) != NULL; s += 2)
        last = s + 2;
    end = strcspn(last, "<(");
    return end == strlen("allocate") && strncmp(last, "allocate", end) == 0 &&
           strstr(name, "alloc") < last;
}

static void
add_template(struct question *q, size_t level)
{
    Dwarf_Die die = q->scopes[level];
    const char *name = debuginfo_name(q->f->dies.d, &die);
    Dwarf_Die type;
    Dwarf_Die class;

    if (name == NULL || !is_typed_allocator(name))
        return;
    for (unsigned step = 0; step < 4; step++) {
        Dwarf_Attribute attribute;

        if (template_parameter(&die, &type)) {
            add_type(q, &type, EVIDENCE_TEMPLATE, level);
            return;
        }
        if ((dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == NULL &&
             dwarf_attr(&die, DW_AT_specification, &attribute) == NULL) ||
            dwarf_formref_die(&attribute, &die) == NULL)
            break;
    }
    if (class_of(&q->scopes[level], &class) && template_parameter(&class, &type))
        add_type(q, &type, EVIDENCE_TEMPLATE, level);
}

/* Return true if FUNCTION has a parameter that may be a size. */
static bool
takes_size(Dwarf_Die *function)
{
    Dwarf_Die die;

    if (dwarf_child(function, &die) != 0)
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word encoding;
        Dwarf_Word size;
        Dwarf_Die type;

        if (dwarf_tag(&die) == DW_TAG_formal_parameter && type_die_of(&die, &type) &&
            type_die_peel(&type, &type) && dwarf_tag(&type) == DW_TAG_base_type &&
            dwarf_formudata(dwarf_attr(&type, DW_AT_encoding, &attribute), &encoding) == 0 &&
            encoding == DW_ATE_unsigned &&
            dwarf_formudata(dwarf_attr(&type, DW_AT_byte_size, &attribute), &size) == 0 &&
            size == WORD_BYTES)
            return true;
    } while (type_die_next(&die));
    return false;
}

/* Return true if FUNCTION has a void ** parameter, through which it may return memory. */
static bool
gives_back(Dwarf_Die *function)
{
    Dwarf_Die die;

    if (dwarf_child(function, &die) != 0)
        return false;
    do {
        Dwarf_Die type;

        if (dwarf_tag(&die) == DW_TAG_formal_parameter && type_die_of(&die, &type) &&
            type_die_pointee(&type, &type) && type_die_is_void_pointer(&type))
            return true;
    } while (type_die_next(&die));
    return false;
}

/* Return the function of SCOPE as in the source. An inlined call only has the parameters that the
 * compiler kept; the function has all. */
static Dwarf_Die
written_function(Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;

    return dwarf_attr(scope, DW_AT_abstract_origin, &attribute) != NULL &&
                   dwarf_formref_die(&attribute, &origin) != NULL
               ? origin
               : *scope;
}

/* Record two properties of the function of frame LEVEL, derived from its parameters and return
 * type: it takes a size, and it passes memory on. Add the return type. */
static void
look_at_return(struct question *q, size_t level)
{
    Dwarf_Die function = written_function(&q->scopes[level]);
    Dwarf_Die type;
    Dwarf_Die pointee;

    q->ret->takes_size[level] = takes_size(&function);
    if (gives_back(&function))
        q->ret->passes_on[level] = true;
    if (!type_die_of(&q->scopes[level], &type))
        return;
    if (type_die_is_void_pointer(&type)) {
        q->ret->passes_on[level] = true;
        return;
    }
    if (!type_die_pointee(&type, &pointee))
        return;
    if (q->ret->takes_size[level])
        q->ret->passes_on[level] = true;
    add_type(q, &pointee, EVIDENCE_RETURN, level);
}

static void
add_hints(struct question *q, size_t level)
{
    static const enum type_evidence evidence[] = {
        [HINT_NEW] = EVIDENCE_NEW,       [HINT_CAST] = EVIDENCE_CAST,
        [HINT_SIZEOF] = EVIDENCE_SIZEOF, [HINT_TARGET] = EVIDENCE_TARGET,
        [HINT_NAME] = EVIDENCE_NAME,
    };
    const struct type_statement *s = level < q->statement_count ? &q->statements[level] : NULL;
    struct type_hint hints[HINTS_MAX];
    struct arena scratch = {0};
    size_t count;

    if (s == NULL || s->source == NULL || s->line == 0)
        return;
    count = type_hints(s->source, s->size_bytes, s->line, s->callee, &scratch, hints);
    for (size_t i = 0; i < count; i++) {
        struct type_fact fact;

        if (!type_scope_hint(q->f->scopes, &q->scopes[level], &hints[i], &fact))
            continue;
        fact.is_head = hints[i].in_sum;
        add_fact(q, fact, evidence[hints[i].kind], level);
    }
    arena_release(&scratch);
}

void
type_facts_find(struct type_finder *f, uint64_t return_address,
                const struct type_statement *statements, size_t count, struct type_facts *ret)
{
    struct question q = {.f = f,
                         .pc = return_address,
                         .statements = statements,
                         .statement_count = count,
                         .left = LOOKED_AT_MAX,
                         .ret = ret};

    *ret = (struct type_facts){0};
    q.scope_count = debuginfo_scopes(f->dies.d, return_address - 1, q.scopes);
    ret->level_count = q.scope_count;
    if (q.scope_count == 0)
        return;
    scan(&q, &q.scopes[q.scope_count - 1], q.scope_count - 1, true, 0);
    scan(&q, &q.scopes[q.scope_count - 1], q.scope_count - 1, false, 0);
    add_constructor(&q);
    for (size_t level = 0; level < q.scope_count; level++) {
        add_template(&q, level);
        add_hints(&q, level);
        look_at_return(&q, level);
    }
}
