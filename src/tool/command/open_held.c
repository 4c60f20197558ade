/* open_held.c: from the id of a process to the profile in its memory.
 *
 * `heaptap run --self-contained-core` keeps the profile in private memory, where dumps hold it, so
 * the process maps no file that would lead to it. The file is a copy, which lacks what came since:
 * that may be all of a process that seldom allocates. So the memory is read, without stopping the
 * process, as its file would be.
 *
 * A search for the recorder's record reads a word of each page. Only a process whose environment
 * asked for this is searched; any other would make the user wait for nothing.
 */
#include "command/open_held.h"

#include "format/environment.h"
#include "image/find_record.h"
#include "image/held_profile.h"
#include "image/live_memory.h"
#include "load/load.h"
#include "profile/living.h"
#include "profile/origin.h"

int
open_held(const char *what, struct profile **ret, struct err *err)
{
    struct core_record record;
    struct strbuf file = {0};
    struct memory memory;
    uint64_t missing;
    uint32_t pid;
    int r;

    if (!origin_is_pid(what, &pid) || !living_has_variable(pid, ENVIRONMENT_SELF_CONTAINED))
        return HEAPTAP_NOT_FOUND;
    r = live_memory_open(pid, &memory, err);
    if (r != 0)
        return r;
    r = record_find(&memory, &record, err);
    if (r == 0 && !(record.flags & CORE_SELF_CONTAINED))
        r = HEAPTAP_NOT_FOUND;
    if (r == 0)
        r = held_profile(&memory, &record, &file, &missing, err);
    if (r == 0)
        r = load_held(file.text, file.length, memory.name, pid, ret, err);
    strbuf_release(&file);
    memory_close(&memory);
    return r;
}
