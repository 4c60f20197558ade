/* firmware_linux.c: the firmware as a Linux program, for processors whose emulator runs Linux
 * programs. It writes its data, including the heap, to the named file as a raw image, and prints
 * the image's address. Without a name, it ends by a signal that leaves a core dump. */
#include <stdio.h>
#include <stdlib.h>

#include "firmware.h"

extern char __data_start[], _end[];

void *firmware_stack_end;

int
main(int argc, char **argv)
{
    FILE *f;

    firmware_stack_end = (char *)__builtin_frame_address(0) + 256;
    firmware_run();
    if (argc < 2)
        abort();
    f = fopen(argv[1], "wb");
    if (f == NULL || fwrite(__data_start, 1, (size_t)(_end - __data_start), f) == 0)
        return 1;
    printf("0x%lx\n", (unsigned long)__data_start);
    return fclose(f) != 0;
}
