/* write.h: the profile, written by the process that it is of. */
#ifndef ACCOUNT_WRITE_H
#define ACCOUNT_WRITE_H

/* Write the profile to FD as FORMAT, "pprof" or "heaptap", waiting as long as FD takes: 0, or -1.
 * For a thread that is in the recorder. Needs no memory. */
int write_profile(int fd, const char *format);

#endif
