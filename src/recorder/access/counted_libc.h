/* counted_libc.h: the real functions for the names in counted_table.h. */
#ifndef ACCESS_COUNTED_LIBC_H
#define ACCESS_COUNTED_LIBC_H

#include <arpa/inet.h>
#include <dirent.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <wchar.h>

#include "access/counted_objects.h"
#include "access/counted_table.h"
#include "base/base.h"

// Macros in glibc's headers.
#undef fread_unlocked
#undef fwrite_unlocked

#define COUNTED_UNPACK(...) __VA_ARGS__

struct counted_libc {
#define COUNTED_MEMBER(result, name, parameters, ...) result(*name) parameters;
    COUNTED_ROWS(COUNTED_MEMBER)
    COUNTED_OBJECTS(COUNTED_MEMBER)
    COUNTED_BY_HAND(COUNTED_MEMBER)
#define COUNTED_NUMBER_MEMBER(result, name, type) result (*name)(const type *, type **, int);
    COUNTED_NUMBERS(COUNTED_NUMBER_MEMBER)
#define COUNTED_REAL_MEMBER(result, name, type) result (*name)(const type *, type **);
    COUNTED_REALS(COUNTED_REAL_MEMBER)
#define COUNTED_PRINT_MEMBER(name, forward, type, parameters, ...) \
    int (*forward)(COUNTED_UNPACK parameters const type *, va_list);
    COUNTED_PRINTS(COUNTED_PRINT_MEMBER)
#define COUNTED_SCAN_MEMBER(name, forward, parameters, ...) \
    int (*forward)(COUNTED_UNPACK parameters const char *, va_list);
    COUNTED_SCANS(COUNTED_SCAN_MEMBER)
};

/* The real functions. A member is NULL if no library defines the function, or if the search has not
 * run. */
extern struct counted_libc counted_libc;

extern uint32_t counted_libc_found; // Atomic: 1 = the search is complete.

/* Find the real functions. */
void counted_libc_find(void);

/* True if libc's own calls of these functions also reach the replacements here. */
extern const bool counted_libc_comes_here;

/* Return true if libc defines the getline that the program calls. Some programs define a getline
 * with other parameters, because they are older than libc's. */
bool counted_libc_has_lines(void);

#endif
