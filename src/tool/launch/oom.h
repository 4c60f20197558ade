/* oom.h: kills by the kernel when memory ran out. */
#ifndef LAUNCH_OOM_H
#define LAUNCH_OOM_H

#include "base/base.h"

/* Return the number of processes that the kernel has killed because memory ran out: in this
 * process's control group, or if that cannot be read, on this machine. 0 if neither is known. Two
 * calls show whether it rose. */
uint64_t oom_kills(void);

/* Return the number after "oom_kill" at the start of a line of TEXT, the format of memory.events,
 * memory.oom_control and /proc/vmstat; UINT64_MAX if there is none. */
uint64_t oom_kills_in(const char *text);

/* Store the directory of this process's memory control group in RET_PATH of SIZE bytes, by the
 * contents TEXT of /proc/self/cgroup. Version 1 is preferred if its controller "memory" is in use.
 * *RET_FILE is the file with the number. Return false if there is no such group or too little
 * room. */
bool oom_group(const char *text, char *ret_path, size_t size, const char **ret_file);

#endif
