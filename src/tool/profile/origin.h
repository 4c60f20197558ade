/* origin.h: read the profile that a user's argument names. */
#ifndef PROFILE_ORIGIN_H
#define PROFILE_ORIGIN_H

#include "profile/raw.h"

/* `heaptap run` leaves NAME.heaptap for its first process and NAME.processes/ for the others. */
#define ORIGIN_OTHERS_SUFFIX ".processes"

/* Read the profile file PATH whole into ARENA. Returns 0 or HEAPTAP_BAD_INPUT. */
int origin_read(const char *path, struct arena *arena, void **ret_data, size_t *ret_bytes,
                struct err *err);

/* The bytes of a profile file. */
struct origin_file {
    void *data; // NULL = owned by another process now.
    size_t size_bytes;
    struct file_owner owner;
    int fd; // Descriptor of a file without a writer, whose bytes are mapped privately; else -1.
    struct arena arena;
};

/* Open the profile file PATH: mapped if its process has ended and it has few holes, else copied,
 * since it must not change while it is read. Returns 0, and the caller closes *RET, or
 * HEAPTAP_BAD_INPUT. */
int origin_open(const char *path, struct origin_file *ret, struct err *err);
void origin_close(struct origin_file *f);

/* Read the header of the profile file PATH, or of a link's target, into *RET; false if it is not
 * one. */
bool origin_header(const char *path, struct disk_header *ret);

/* True if WHAT is a process id and not a file of that name. */
bool origin_is_pid(const char *what, uint32_t *ret_pid);

/* Set *RET_PATH to a path, from ARENA, that opens the profile being written by process PID. Returns
 * 0, or HEAPTAP_BAD_INPUT with ERR set. */
int origin_of_pid(uint32_t pid, struct arena *arena, const char **ret_path, struct err *err);

#endif
