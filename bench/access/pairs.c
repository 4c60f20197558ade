/* pairs.c: short-lived blocks of 16 to 255 bytes that are hardly accessed, to measure the cost of
 * allocation and free. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 6400000, SLOTS = 1024 };

int
main(void)
{
    static char *slots[SLOTS];
    uint32_t random = 1;
    uint64_t sum = 0;

    for (int i = 0; i < PAIRS; i++) {
        uint32_t slot, size;

        random = random * 1664525 + 1013904223;
        slot = random >> 12 & (SLOTS - 1);
        size = 16 + (random >> 22) % 240;
        free(slots[slot]);
        slots[slot] = malloc(size);
        slots[slot][0] = 1;
        slots[slot][size - 1] = 2;
        sum += (uint64_t)slots[slot][0];
    }
    for (int i = 0; i < SLOTS; i++)
        free(slots[i]);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
