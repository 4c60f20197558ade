/* give_file.h: pass an open file to a stopped process. */
#ifndef ATTACH_GIVE_FILE_H
#define ATTACH_GIVE_FILE_H

#include "attach/remote.h"

/* Give the process the open file FD, through a pair of sockets. SCRATCH is memory of 4096 bytes in
 * the process. Return the descriptor there. On failure, return a negative error number and store
 * the name of the failed call in *RET_CALL; the process then has no new descriptor. */
int give_file(struct remote *r, int fd, uint64_t scratch, const char **ret_call);

#endif
