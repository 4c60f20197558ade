/* firmware_config.h: the configuration of the embedded allocator for test/embedded/firmware.c, as
 * in a port. */
#ifndef FIRMWARE_CONFIG_H
#define FIRMWARE_CONFIG_H

#include <stdint.h>

#define HEAPTAP_EMBEDDED_POOL_BYTES (48 * 1024)
#define HEAPTAP_EMBEDDED_FRAMES 6

#if defined(__arm__)
#define HEAPTAP_EMBEDDED_UNWIND 1 // gcc's frame pointers are unusable on Thumb.
#else
extern void *firmware_stack_end;
#define HEAPTAP_EMBEDDED_STACK_END firmware_stack_end
#endif

// With this clock, a dump has known times.
extern uintptr_t firmware_ticks;
#define HEAPTAP_EMBEDDED_CLOCK() (++firmware_ticks)

#endif
