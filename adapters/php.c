/* php.c: an adapter for PHP 8, which shows the program's functions in heaptap's stacks.
 *
 *     USE_ZEND_ALLOC=0 heaptap run --adapter build/adapters/libheaptap_php.so -- php report.php
 *
 * It uses only PHP's headers for extensions, so it is built where these are, and shows functions
 * only in a PHP of the same version. PHP links its running functions from one exported variable,
 * EG(current_execute_data). A thread-safe build of PHP has no such variable and is not supported.
 * The command php has one thread with functions, the first one; other threads belong to
 * extensions.
 *
 * PHP pushes a function by one store, after the function's fields, and saves the line's
 * instruction before it may allocate. So a frame is whole at each allocation. */
#include <php.h>
#include <zend_generators.h>

#include <link.h>

#include "heaptap/language.h"

#ifdef ZTS
#error "the adapter reads a variable that thread-safe builds of PHP lack"
#endif

/* Absent in a process that is not PHP. */
#pragma weak executor_globals
#pragma weak get_zend_version
#pragma weak zend_ce_generator

enum { NAME_BYTES = 256, FRAMES_MAX = 1000000, DELEGATES_MAX = 256 };

static __thread struct heaptap_name_cache names;
static __thread int is_first_thread;
static unsigned long code, code_end; /* Machine code of PHP. */

/* Append TEXT to the COUNT bytes in TO, cut at NAME_BYTES. Return the new count. */
static size_t
append(char to[NAME_BYTES], size_t count, const char *text)
{
    while (*text != '\0' && count < NAME_BYTES - 1)
        to[count++] = *text++;
    to[count] = '\0';
    return count;
}

/* Return the line that FRAME executes; 0 if its instruction is outside the function. */
static unsigned
line_of(const zend_execute_data *frame)
{
    const zend_op_array *f = &frame->func->op_array;

    return frame->opline >= f->opcodes && frame->opline < f->opcodes + f->last
               ? frame->opline->lineno
               : 0;
}

/* Return the id of FRAME, which has a function. */
static unsigned
name_of(const zend_execute_data *frame)
{
    const zend_function *f = frame->func;
    const zend_class_entry *scope = f->common.scope;
    char name[NAME_BYTES];
    size_t count = 0;

    if (f->common.function_name == NULL) {
        append(name, 0, "{main}");
    } else {
        if (scope != NULL && scope->name != NULL)
            count = append(name, append(name, 0, ZSTR_VAL(scope->name)), "::");
        append(name, count, ZSTR_VAL(f->common.function_name));
    }
    if (!ZEND_USER_CODE(f->type) || f->op_array.filename == NULL)
        return heaptap_frame_name_cached(&names, name, "[C]", 0, "PHP");
    return heaptap_frame_name_cached(&names, name, ZSTR_VAL(f->op_array.filename), line_of(frame),
                                     "PHP");
}

/* Return true if the running PHP has the version of the headers: "Zend Engine v4.2.30, …". PHP
 * stores its version when it starts. */
static int
is_my_version(void)
{
    static const char prefix[] = "Zend Engine v" ZEND_VERSION ",";
    static int known; /* 0 = not yet, 1 = equal, 2 = different */
    const char *version = known == 0 ? get_zend_version() : NULL;

    if (version != NULL)
        known = strncmp(version, prefix, sizeof prefix - 1) == 0 ? 1 : 2;
    return known == 1;
}

/* Return true if FRAME is a function. A fiber begins with an internal frame without a name. */
static int
is_function(const zend_execute_data *frame)
{
    const zend_function *f = frame->func;

    return f != NULL && (f->common.function_name != NULL || ZEND_USER_CODE(f->type));
}

/* FRAME is the caller of a generator's function. If other generators delegate to this one ("yield
 * from"), FRAME is a placeholder for their functions. Store these in TO, innermost first, MAX at
 * most, and return their number. PHP's own function for this also links the frames, which is not
 * allowed here. */
static size_t
delegating(const zend_execute_data *frame, struct heaptap_frame *to, size_t max)
{
    const zend_generator *g, *chain[DELEGATES_MAX];
    size_t length = 0, count = 0;

    if (frame->func != NULL || Z_TYPE(frame->This) != IS_OBJECT || &zend_ce_generator == NULL ||
        Z_OBJCE(frame->This) != zend_ce_generator)
        return 0;
    // From the outermost generator towards the running one, which is in its own frame.
    for (g = (const zend_generator *)Z_OBJ(frame->This);
         g->node.parent != NULL && length < DELEGATES_MAX; g = g->node.parent)
        chain[length++] = g;
    while (length > 0 && count < max) {
        const zend_execute_data *f = chain[--length]->execute_data;

        if (f != NULL && is_function(f))
            to[count++] = (struct heaptap_frame){.at = 0, .id = name_of(f)};
    }
    return count;
}

static size_t
frames(struct heaptap_frame *to, size_t max)
{
    const zend_execute_data *frame = is_first_thread ? EG(current_execute_data) : NULL;
    size_t count = 0;

    if (frame == NULL || !is_my_version())
        return 0;

    for (int i = 0; frame != NULL && count < max && i < FRAMES_MAX; i++) {
        if (is_function(frame))
            to[count++] = (struct heaptap_frame){.at = 0, .id = name_of(frame)};
        else
            count += delegating(frame, to + count, max - count);
        frame = frame->prev_execute_data;
    }
    return count;
}

/* PHP interprets nested calls in one C function, so all frames get its innermost C frame. */
static void
place(struct heaptap_frame *f, size_t count, const struct heaptap_native *n, size_t natives)
{
    for (size_t i = 0; i < natives && count > 0; i++)
        if (n[i].slot != 0 && n[i].pc > code && n[i].pc <= code_end) {
            f[0].at = n[i].slot + 1;
            return;
        }
}

/* Store the bounds of the machine code around the address INSIDE. */
static int
find_code(struct dl_phdr_info *object, size_t size, void *inside)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        unsigned long start = object->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && (unsigned long)inside >= start &&
            (unsigned long)inside < start + p->p_memsz) {
            code = start;
            code_end = start + p->p_memsz;
            return 1;
        }
    }
    return 0;
}

__attribute__((constructor)) static void
begin(void)
{
    static const struct heaptap_language php = {
        .size = sizeof php, .name = "PHP", .frames = frames, .place = place};

    is_first_thread = 1;
    if (&executor_globals != NULL && get_zend_version != NULL &&
        dl_iterate_phdr(find_code, (void *)(uintptr_t)get_zend_version)) {
        heaptap_runtime_code((void *)code, (void *)code_end);
        heaptap_language_add(&php);
    }
}
