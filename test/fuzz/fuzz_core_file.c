/* fuzz_core_file.c: read any bytes as a core dump that may be compressed. All mapped bytes must be
 * readable and, unless compressed, equal the input; data that expands too far is refused with a
 * sentence. The corpus has files of either kind: whole, truncated, and with many zeros. */
/* covers: core_file.c */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/elf_core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned char *bytes = NULL;
    struct err err = {""};
    size_t size_bytes = 0, sum = 0;
    int fd = memfd_create("core", MFD_CLOEXEC);
    char path[64];

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (core_file_map(path, &bytes, &size_bytes, &err) == 0) {
        for (size_t i = 0; i < size_bytes; i += 4096)
            sum += bytes[i];
        if (size >= 2 && data[0] != 0x28 && data[0] != 0x1f &&
            (size_bytes != size || memcmp(bytes, data, size) != 0))
            abort();
        munmap((void *)(uintptr_t)bytes, size_bytes);
    } else if (err.text[0] == '\0') {
        abort();
    }
    close(fd);
    return sum == SIZE_MAX ? 1 : 0;
}
