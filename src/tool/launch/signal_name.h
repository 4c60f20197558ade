/* signal_name.h: signals by their names. */
#ifndef LAUNCH_SIGNAL_NAME_H
#define LAUNCH_SIGNAL_NAME_H

/* The signal that TEXT is the name of (USR1, SIGUSR1, usr1, RTMIN+2, 10). 0 if it is none, or one
 * that cannot be handled, that faults raise, or that libc keeps for itself. */
int signal_number(const char *text);

#endif
