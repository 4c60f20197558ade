/* jitdump.h: names of code that a runtime compiled while it ran, from jit-PID.dump, which some
 * runtimes write for perf.
 */
#ifndef SYMBOL_JITDUMP_H
#define SYMBOL_JITDUMP_H

#include "symbol/perfmap.h"

/* Add the functions of PROCESS's file to M; they override earlier ones. The file is searched in the
 * process's working directory, its /tmp and our current directory. With SYSROOT, only /tmp below
 * SYSROOT is searched. The file is trusted on the same conditions as a perf map. */
void jitdump_load(struct perfmap *m, const struct profile_process *process, const char *sysroot);

/* Add the records in the SIZE bytes at DATA, up to the first invalid one. Return false if DATA is
 * not a jitdump file of x86-64 and of process PID. */
bool jitdump_parse(struct perfmap *m, const uint8_t *data, size_t size, uint32_t pid);

#endif
