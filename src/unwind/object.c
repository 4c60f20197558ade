/* object.c: which loaded object covers an address.
 *
 * glibc's _dl_find_object keeps a sorted array of all loaded objects that is read without a lock
 * and may be asked from a signal handler or while the loader's lock is held by somebody else. The
 * older way, dl_iterate_phdr, takes that lock: inside malloc, which the loader itself calls, it can
 * deadlock.
 *
 * Holds: [start, end) is the address range the loader reserved for the object; eh_frame_hdr, when
 * there is one, lies inside. The range may have unreadable holes between segments. The unwind
 * tables of an intact object never lead there, and the parser takes no address outside the range.
 *
 * Does not know about code without an object: JIT code, the stack, hand-made trampolines.
 *
 * Signal-safe.
 */
#include "unwind/unwind.h"

#include <dlfcn.h>

bool
unwind_find_object(uint64_t address, struct unwind_object *ret_object)
{
    struct dl_find_object found;

    if (_dl_find_object((void *)(uintptr_t)address, &found) != 0)
        return false;
    *ret_object = (struct unwind_object){
        .start = (uint64_t)(uintptr_t)found.dlfo_map_start,
        .end = (uint64_t)(uintptr_t)found.dlfo_map_end,
        .eh_frame_hdr = found.dlfo_eh_frame,
        .link_map = found.dlfo_link_map,
    };
    return true;
}
