/* write.h: writes the profile from within its own process. */
#ifndef ACCOUNT_WRITE_H
#define ACCOUNT_WRITE_H

/* Write the profile to FD as FORMAT, "pprof" or "heaptap"; blocks as long as FD does. Return 0, or
 * -1. For a thread that is in the recorder. Allocates nothing. */
int write_profile(int fd, const char *format);

#endif
