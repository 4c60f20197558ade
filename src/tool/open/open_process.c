/* open_process.c: find the profile in the memory of a process, by its id.
 *
 * Under `heaptap run --self-contained-core` the profile is in private memory, which dumps include,
 * so no mapped file leads to it. The profile on disk is a copy without the latest events; it may
 * lack all events of a process that rarely allocates. Therefore the memory is read instead, like a
 * file and without stopping the process.
 *
 * The search for the recorder's record reads one word per page. It takes time, so only a process
 * whose environment requests self-contained cores is searched. */
#include "open/open_set.h"

#include "format/environment.h"
#include "image/live_memory.h"
#include "image/memory_profile.h"
#include "load/load.h"
#include "profile/origin.h"
#include "profile/processes.h"

int
open_process(const char *what, struct profile **ret, struct err *err)
{
    struct core_record record;
    struct strbuf file = {0};
    struct memory memory;
    uint64_t missing;
    uint32_t pid;
    int r;

    if (!origin_is_pid(what, &pid) || !processes_has_variable(pid, ENVIRONMENT_SELF_CONTAINED))
        return HEAPTAP_NOT_FOUND;
    r = live_memory_open(pid, &memory, err);
    if (r != 0)
        return r;
    r = record_find(&memory, &record, err);
    if (r == 0 && !(record.flags & CORE_SELF_CONTAINED))
        r = HEAPTAP_NOT_FOUND;
    if (r == 0)
        r = memory_profile(&memory, &record, &file, &missing, err);
    if (r == 0)
        r = load_from_memory(file.text, file.length, memory.name, pid, ret, err);
    strbuf_release(&file);
    memory_close(&memory);
    return r;
}

int
open_one(const char *what, struct profile **ret, struct err *err)
{
    int r = open_process(what, ret, err);

    return r == HEAPTAP_NOT_FOUND ? profile_open(what, ret, err) : r;
}
