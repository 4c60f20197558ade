/* core_file.c: map a core dump, and expand it first if it is compressed.
 *
 * Systems store core dumps compressed (systemd-coredump by zstd, others by gzip), but reading one
 * needs random access. So a compressed dump is expanded into an unnamed file in TMPDIR, /var/tmp or
 * /tmp. Runs of zeros, which make up most of many dumps, become holes there. Other dumps are mapped
 * directly.
 *
 * A file of a few kilobytes must not fill the disk or keep us busy for hours. A dump may have any
 * number of zeros, which compress to a 30,000th. So the limit is 256 GiB, which expand in a minute
 * and a half, plus 4,096 bytes for each compressed byte. Part of the disk is always left free. */
#include "image/elf_core.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "util/arena.h"
#include "util/bytes.h"

enum { PIECE_BYTES = 1 << 18, GAP_BYTES = 4096 };

/* An expanded dump has at most SIZE_FREE_BYTES, plus RATIO_MAX bytes for each compressed byte. At
 * least DISK_LEFT_BYTES of the disk stay free. */
#define RATIO_MAX ((uint64_t)1 << 12)
#define SIZE_FREE_BYTES ((uint64_t)256 << 30)
#define DISK_LEFT_BYTES ((uint64_t)256 << 20)

enum { LOOK_BYTES = 64 << 20, WINDOW_LOG_MAX = 31 };

enum packing { PACKED_NOT, PACKED_ZSTD, PACKED_GZIP };

struct expansion {
    int from, to;
    uint64_t size_bytes; // Bytes expanded so far.
    uint64_t max_bytes;
    // Bytes on the disk, and the number at which to check the disk again.
    uint64_t kept_bytes, next_look;
    const char *refused;            // Reason for stopping other than errno; NULL = none.
};

static enum packing
packing_of(int fd)
{
    unsigned char b[4] = {0};

    if (pread(fd, b, sizeof b, 0) < (ssize_t)sizeof b)
        return PACKED_NOT;
    if (b[0] == 0x28 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd)
        return PACKED_ZSTD;
    return b[0] == 0x1f && b[1] == 0x8b ? PACKED_GZIP : PACKED_NOT;
}

static int
unsymbolized_file(void)
{
    const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    char path[4096];

    for (size_t i = 0; i < countof(places); i++) {
        int fd;

        if (places[i] == NULL || *places[i] == '\0' ||
            strlen(places[i]) + sizeof "/heaptap.XXXXXX" > sizeof path)
            continue;
        strcpy(path, places[i]);
        strcat(path, "/heaptap.XXXXXX");
        fd = mkstemp(path);
        if (fd < 0)
            continue;
        unlink(path);
        return fd;
    }
    return -1;
}

/* Return true if the disk has room for more. Queries the system once per LOOK_BYTES. */
static bool
core_file_is_room(struct expansion *e)
{
    struct statvfs s;

    if (e->kept_bytes < e->next_look)
        return true;
    e->next_look = e->kept_bytes + LOOK_BYTES;
    if (fstatvfs(e->to, &s) != 0 ||
        (uint64_t)s.f_bavail * s.f_frsize > DISK_LEFT_BYTES + LOOK_BYTES)
        return true;
    e->refused = "there is too little room for it; set TMPDIR to a place with more";
    return false;
}

/* Append expanded bytes; pages of zeros become holes. Return false if they cannot be stored. */
static bool
core_file_put(struct expansion *e, const unsigned char *bytes, size_t size_bytes)
{
    if (e->size_bytes + size_bytes > e->max_bytes) {
        e->refused = "it expands to more than any dump, so it is none";
        return false;
    }
    if (!core_file_is_room(e))
        return false;
    for (size_t i = 0; i < size_bytes; i += GAP_BYTES) {
        size_t some = size_bytes - i < GAP_BYTES ? size_bytes - i : GAP_BYTES;

        if (bytes_are_zero(bytes + i, some))
            continue;
        if (pwrite(e->to, bytes + i, some, (off_t)(e->size_bytes + i)) != (ssize_t)some)
            return false;
        e->kept_bytes += some;
    }
    e->size_bytes += size_bytes;
    return true;
}

/* Expand E's input. expand_zstd and expand_gzip return false if the output cannot be stored;
 * damaged input only ends the expansion. */
static bool
expand_zstd(struct expansion *e)
{
    ZSTD_DCtx *z = ZSTD_createDCtx();
    unsigned char *in = xmalloc(PIECE_BYTES), *out = xmalloc(PIECE_BYTES);
    bool ok = z != NULL, more = true;
    ssize_t n;

    if (z != NULL) // Dumps compressed with --long need this.
        ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    while (ok && more && (n = read(e->from, in, PIECE_BYTES)) > 0) {
        ZSTD_inBuffer src = {in, (size_t)n, 0};

        while (ok && more && src.pos < src.size) {
            ZSTD_outBuffer dst = {out, PIECE_BYTES, 0};

            more = !ZSTD_isError(ZSTD_decompressStream(z, &dst, &src));
            ok = core_file_put(e, out, dst.pos);
        }
    }
    free(in);
    free(out);
    ZSTD_freeDCtx(z);
    return ok;
}

static bool
expand_gzip(struct expansion *e)
{
    int fd = dup(e->from);
    gzFile z = fd >= 0 ? gzdopen(fd, "rb") : NULL;
    unsigned char *out = xmalloc(PIECE_BYTES);
    bool ok = z != NULL;
    int n;

    if (z == NULL && fd >= 0)
        close(fd);
    while (ok && (n = gzread(z, out, PIECE_BYTES)) > 0)
        ok = core_file_put(e, out, (size_t)n);
    if (z != NULL)
        gzclose_r(z);
    free(out);
    return ok;
}

/* Expand the file PATH, open as FD, if it is compressed. Return FD, or close FD and return the
 * expanded file. On failure return a negative heaptap_errc and leave FD open. */
static int
core_file_expand(int fd, const char *path, struct err *err)
{
    enum packing packing = packing_of(fd);
    struct expansion e = {.from = fd};
    struct stat st;
    bool ok;

    if (packing == PACKED_NOT || fstat(fd, &st) != 0)
        return fd;
    e.max_bytes = SIZE_FREE_BYTES + (uint64_t)st.st_size * RATIO_MAX;
    e.to = unsymbolized_file();
    if (e.to < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "%s: no place to expand it; set TMPDIR", path);
    ok = packing == PACKED_ZSTD ? expand_zstd(&e) : expand_gzip(&e);
    if (ok)
        ok = ftruncate(e.to, (off_t)e.size_bytes) == 0;
    if (!ok && e.refused != NULL) {
        err_set(err, HEAPTAP_BAD_INPUT, "%s: %s", path, e.refused);
        close(e.to);
        return HEAPTAP_BAD_INPUT;
    }
    if (!ok) {
        err_errno(err, HEAPTAP_BAD_INPUT,
                  "%s: cannot be expanded; set TMPDIR to a place with more room", path);
        close(e.to);
        return HEAPTAP_BAD_INPUT;
    }
    close(fd);
    return e.to;
}

/* Set ERR to the reason why PATH cannot be opened, from errno. */
static int
refuse_unopened(const char *path, struct err *err)
{
    if (errno == ENOENT)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "there is no file %s; /proc/sys/kernel/core_pattern shows where the kernel "
                       "writes dumps, and coredumpctl lists those of systemd", path);
    if (errno == EACCES)
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s may not be read: permission denied; run heaptap as the owner of the "
                       "dump or as root", path);
    return err_errno(err, HEAPTAP_BAD_INPUT, "cannot read %s", path);
}

int
core_file_map(const char *path, const unsigned char **ret_bytes, size_t *ret_size_bytes,
              struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), to;
    struct stat st;
    void *p;

    if (fd < 0 || fstat(fd, &st) != 0) {
        refuse_unopened(path, err);
        if (fd >= 0)
            close(fd);
        return HEAPTAP_BAD_INPUT;
    }
    to = S_ISREG(st.st_mode) ? core_file_expand(fd, path, err)
                             : err_set(err, HEAPTAP_BAD_INPUT,
                                       "%s is %s; name the file of a core dump", path,
                                       S_ISDIR(st.st_mode) ? "a directory" : "no regular file");
    if (to < 0) {
        close(fd);
        return HEAPTAP_BAD_INPUT;
    }
    if (fstat(to, &st) != 0 || st.st_size == 0) {
        close(to);
        return err_set(err, HEAPTAP_BAD_INPUT,
                       "%s is empty; a limit (ulimit -c) or a full disk may have stopped the dump",
                       path);
    }
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, to, 0);
    if (p == MAP_FAILED)
        err_errno(err, HEAPTAP_BAD_INPUT, "cannot map %s", path);
    close(to);
    if (p == MAP_FAILED)
        return HEAPTAP_BAD_INPUT;
    *ret_bytes = p;
    *ret_size_bytes = (size_t)st.st_size;
    return 0;
}
