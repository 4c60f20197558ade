/* write.h: writes the profile from within its own process. */
#ifndef ACCOUNT_WRITE_H
#define ACCOUNT_WRITE_H

/* Write the profile to FD in FORMAT, "pprof" or "heaptap". Blocks as long as writing to FD does.
 * Return 0, or -1. Call in a thread that is in the recorder. Does not allocate. */
int write_profile(int fd, const char *format);

#endif
