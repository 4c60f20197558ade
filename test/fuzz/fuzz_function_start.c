/* fuzz_function_start.c: read any bytes as an ELF file and search its unwind tables for the starts
 * of functions. An answer is at or before the given address; nothing outside the bytes is read. */
/* covers: function_start.c cfi.c */
#include <stdlib.h>
#include <string.h>

#include "symbol/function_start.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 512, STEP = 24 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct function_starts starts;
    char *copy = malloc(size + 1);
    Elf *elf;

    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    elf_version(EV_CURRENT);
    elf = elf_memory(copy, size);
    function_starts_open(elf, &starts);
    for (uint64_t i = 0; i < ADDRESSES; i++) {
        uint64_t start = function_start(&starts, i * STEP);

        if (start > i * STEP)
            abort();
    }
    elf_end(elf);
    free(copy);
    return 0;
}
