/* fuzz_type_hint.c: read any bytes as source text; the first two bytes select the line. Clues must
 * be in the text and have words. */
/* covers: type_hint.c type_template.c */
#include <stdlib.h>
#include <string.h>

#include "type/type_hint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_clues(const char *source, size_t size, uint32_t line, const char *callee)
{
    struct type_hint hints[HINTS_MAX];
    struct arena arena = {0};
    size_t count = type_hints(source, size, line, callee, &arena, hints);

    if (count > HINTS_MAX)
        abort();
    for (size_t i = 0; i < count; i++) {
        if (hints[i].count == 0)
            abort();
        for (size_t k = 0; k < hints[i].count; k++) {
            const struct hint_token *t = &hints[i].tokens[k];

            if (t->text < source || t->length == 0 || t->text + t->length > source + size)
                abort();
        }
    }
    arena_release(&arena);
}

/* The same bytes as the name of a function. */
static void
type_hint_check_name(const char *source, size_t size)
{
    struct arena arena = {0};
    const char *name = arena_strndup(&arena, source, size);
    const char *type = type_of_allocator(name, &arena);

    if (type != NULL && strlen(type) > strlen(name) + strlen("char"))
        abort();
    arena_release(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *source;

    if (size < 2)
        return 0;
    // The block is exactly as large as the text, so that a sanitizer reports reads past its end.
    source = malloc(size - 1);
    if (source == NULL)
        return 0;
    memcpy(source, data + 2, size - 2);
    check_clues(source, size - 2, data[0] + 256u * (data[1] & 1u), NULL);
    check_clues(source, size - 2, data[0] & 15u, "xmalloc");
    type_hint_check_name(source, size - 2);
    free(source);
    return 0;
}
