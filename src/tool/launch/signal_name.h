/* signal_name.h: signals by their names. */
#ifndef LAUNCH_SIGNAL_NAME_H
#define LAUNCH_SIGNAL_NAME_H

/* Return the signal named TEXT (USR1, SIGUSR1, usr1, RTMIN+2, 10). Returns 0 if there is none, or
 * if it cannot be handled, is raised by faults, or is reserved by libc. */
int signal_number(const char *text);

#endif
