/* fuzz_uncounted_code.c: read any bytes as clang's intermediate code, and as a compiler's
 * arguments. Code that clang does not count must be found, whatever surrounds it. The command line
 * that prints the intermediate code must not make the compiler write another file. */
/* covers: uncounted_code.c compiler_arguments.c */
#include "launch/uncounted_code.c"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARGUMENTS_MAX = 32 };

/* Lines of uncounted code. Any text may come between BEGIN and END, and around them. */
static const struct {
    unsigned found;
    bool is_first; // No text may precede this line.
    const char *begin, *end;
} known[] = {
    {UNCOUNTED_STRUCTURES, false, " call void @f(", " byval(%struct.s) align 8 %1)"},
    {UNCOUNTED_STRUCTURES, false, " invoke void @f(", " byval(%struct.s) align 8 %1)"},
    {UNCOUNTED_ATOMICS, false, " %1 = atomicrmw add ", " seq_cst"},
    {UNCOUNTED_ATOMICS, false, " %1 = cmpxchg ptr ", " seq_cst seq_cst"},
    {UNCOUNTED_ASSEMBLER, false, " call void asm sideeffect \"x", "\", \"~{memory}\"()"},
    {UNCOUNTED_ASSEMBLER, false, " call void asm \"x", "\", \"r\"(ptr %1)"},
    {UNCOUNTED_ASSEMBLER, false, " call void asm \"x", "\", \"r\"(i32* %1)"},
    {UNCOUNTED_ASSEMBLER, false, " callbr void asm \"x", "\", \"=*m\"(i32 %1)"},
    {UNCOUNTED_ASSEMBLER, false, " call void @llvm.masked.scatter.v4i32(", ")"},
    {UNCOUNTED_ASSEMBLER, false, " call i32 @llvm.x86.avx2.gather(", " ptr %1)"},
    {UNCOUNTED_ASSEMBLER, true, "module asm \"", "\""},
};

/* Search TEXT as one line, alone and around code that is known to be uncounted. */
static void
check_line(const char *text, size_t length)
{
    unsigned alone = uncounted_code_of_line(text);
    char *line = malloc(3 * length + 100);

    if (line == NULL)
        return;
    if ((alone & ~(unsigned)EVERYTHING) != 0)
        abort();
    for (size_t i = 0; i < countof(known); i++) {
        sprintf(line, "%s%s%s%s%s", known[i].is_first ? "" : text, known[i].begin, text,
                known[i].end, text);
        if ((uncounted_code_of_line(line) & known[i].found) != known[i].found &&
            strncmp(line, "module asm", 10) != 0)
            abort();
    }
    free(line);
}

/* Compile the input at index SOURCE of ARGUMENTS: a reported line must belong to that input. */
static void
check_command(char **arguments, int count, int source)
{
    struct arena arena = {0};
    char **line = uncounted_code_line_of("clang", count, arguments, source, &arena);
    size_t n = 0;

    for (; line[n] != NULL; n++)
        if (n > 0 && writes_files(line[n]) && !argument_takes_value(line[n - 1]))
            abort();
    if (n < 11 || strcmp(line[0], "clang") != 0 || strcmp(line[n - 1], "-") != 0)
        abort();
    for (size_t i = 1;; i++) {
        if (i >= n - 1)
            abort();
        if (line[i] == arguments[source])
            break;
    }
    arena_release(&arena);
}

/* The arguments are the strings of TEXT, which ends at END. */
static void
check_arguments(char *text, const char *end)
{
    char *arguments[ARGUMENTS_MAX + 1] = {0};
    int count = 0;

    for (; text < end && count < ARGUMENTS_MAX; text += strlen(text) + 1)
        arguments[count++] = text;
    for (int i = 0; i < count; i++) {
        if (argument_takes_value(arguments[i]))
            i++;
        else if (arguments[i][0] != '-' && !argument_is_for_linker(arguments[i]))
            check_command(arguments, count, i);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL)
        return 0;
    if (size != 0)
        memcpy(text, data, size);
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n')
            text[i] = '\0';
    text[size] = '\0';
    for (const char *line = text; line < text + size; line += strlen(line) + 1) {
        // The block is exactly as large as the text, so that the sanitizer reports reads beyond its
        // end.
        char *copy = strdup(line);

        if (copy != NULL)
            check_line(copy, strlen(copy));
        free(copy);
    }
    check_arguments(text, text + size);
    free(text);
    return 0;
}
