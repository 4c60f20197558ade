/* append_notes.c: add notes to the file of a process that has ended.
 *
 * Some facts are visible only from outside the program, after it has ended and its profile exists.
 * A packed profile could be rewritten, but an unpacked one may have gigabytes with a reserve.
 * Appending works for both, because a table may have several segments:
 *
 *     … what is there … | texts | records |        two entries of the directory, written last
 *
 * The texts continue the table of strings, and the records refer to their offsets in it. A segment
 * is valid only when its directory entry exists, so a tool that is killed in between leaves a
 * profile without the notes. Errors of the existing directory are not reported here; the file's
 * reader reports them.
 *
 * A packed file has a checksum, announced by a flag (DISK_COMPATIBLE_CHECK). Both are removed while
 * the file changes. Afterwards a new checksum is stored, unless the old one was wrong. */
#include "profile/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/format.h"
#include "profile/raw.h"
#include "util/strbuf.h"

/* An open profile file, the target of the notes. */
struct target {
    const char *path;
    int fd;
    uint64_t end;          // End of the file, where the next segment goes.
    uint64_t strings, notes; // Sizes of these tables.
    uint32_t free[2];      // Unused entries of the directory.
    size_t free_count;
    bool checked; // The file had a checksum, which was right.
    uint64_t compatible; // Feature flags of the header.
};

static bool
write_at(int fd, const void *bytes, size_t size_bytes, uint64_t off)
{
    const char *next = bytes;

    while (size_bytes > 0) {
        ssize_t n = pwrite(fd, next, size_bytes, (off_t)off);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        next += n;
        off += (uint64_t)n;
        size_bytes -= (size_t)n;
    }
    return true;
}

static bool
write_word(int fd, uint64_t word, uint64_t off)
{
    return write_at(fd, &word, sizeof word, off);
}

/* Remove the file's checksum. The flag is cleared first, because a file with the flag and no
 * checksum is damaged. Return false if that fails. */
static bool
drop_check(const struct target *t)
{
    return write_word(t->fd, t->compatible & ~(uint64_t)DISK_COMPATIBLE_CHECK,
                      offsetof(struct disk_header, compatible)) &&
           write_word(t->fd, 0, offsetof(struct disk_header, check));
}

/* Return the checksum of the file FD of SIZE_BYTES; 0 if it cannot be read. */
static uint64_t
append_notes_check_of(int fd, size_t size_bytes)
{
    unsigned char *data = xmalloc(size_bytes);
    size_t got = 0;
    uint64_t check;

    while (got < size_bytes) {
        ssize_t n = pread(fd, data + got, size_bytes - got, (off_t)got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    check = got == size_bytes ? raw_check(data, size_bytes) : 0;
    free(data);
    return check;
}

/* Set the flag and store a new checksum, which covers the flag. Return false if that fails. */
static bool
renew_check(const struct target *t)
{
    struct stat st;

    return write_word(t->fd, t->compatible, offsetof(struct disk_header, compatible)) &&
           fstat(t->fd, &st) == 0 &&
           write_word(t->fd, append_notes_check_of(t->fd, (size_t)st.st_size),
                      offsetof(struct disk_header, check));
}

/* Find the end of the tables, and unused entries of the directory. */
static int
append_notes_look_around(struct target *t, struct err *err)
{
    struct disk_segment segments[DISK_SEGMENT_MAX];
    struct disk_header h;
    struct stat st;

    if (pread(t->fd, &h, sizeof h, 0) != sizeof h || h.magic != DISK_MAGIC ||
        h.version != DISK_VERSION ||
        pread(t->fd, segments, sizeof segments, DISK_DIRECTORY_OFF) != sizeof segments ||
        fstat(t->fd, &st) != 0)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s is not a heaptap profile", t->path);
    t->checked = h.check != 0 && h.check == append_notes_check_of(t->fd, (size_t)st.st_size);
    t->compatible = h.compatible;
    t->end = round_up((uint64_t)st.st_size, DISK_PAGE_BYTES);
    for (uint32_t i = 0; i < DISK_SEGMENT_MAX; i++) {
        const struct disk_segment *s = &segments[i];
        uint64_t end = s->table_off + s->bytes; // A damaged file may hold any value.

        if (s->kind == DISK_UNUSED && t->free_count < countof(t->free))
            t->free[t->free_count++] = i;
        if (s->kind == DISK_STRINGS && end > t->strings)
            t->strings = end;
        if (s->kind == DISK_NOTES && end > t->notes)
            t->notes = end;
    }
    if (t->free_count < countof(t->free) || t->strings > UINT32_MAX / 2 ||
        t->notes > UINT32_MAX / 2)
        return err_set(err, HEAPTAP_BAD_INPUT, "%s has no room for a note", t->path);
    return 0;
}

/* Write BYTES at the end of T's file, and their segment S into the unused directory entry
 * T->free[NUMBER]. Return false if that fails. */
static bool
add_segment(struct target *t, size_t number, struct disk_segment s, const void *bytes)
{
    uint64_t entry = DISK_DIRECTORY_OFF + sizeof s * (uint64_t)t->free[number];

    s.off = t->end;
    s.stored_bytes = s.bytes;
    t->end = round_up(t->end + s.bytes, DISK_PAGE_BYTES);
    return write_at(t->fd, bytes, s.bytes, s.off) && write_at(t->fd, &s, sizeof s, entry);
}

static struct disk_string
append_notes_put_text(const struct target *t, struct strbuf *texts, const char *text)
{
    struct disk_string s = {(uint32_t)(t->strings + texts->length), (uint32_t)strlen(text)};

    strbuf_str(texts, text);
    return s;
}

static bool
add_notes(struct target *t, const struct profile_note *notes, size_t count)
{
    struct strbuf texts = {0}, records = {0};
    bool ok;

    for (size_t i = 0; i < count; i++) {
        struct disk_note d = {.kind = notes[i].kind,
                              .processes = (uint32_t)notes[i].processes,
                              .text = append_notes_put_text(t, &texts, notes[i].text),
                              .advice = append_notes_put_text(t, &texts, notes[i].advice),
                              .process = append_notes_put_text(t, &texts, notes[i].process),
                              .anonymous_bytes = notes[i].anonymous_bytes,
                              .recorded_bytes = notes[i].recorded_bytes};

        strbuf_add(&records, &d, sizeof d);
    }
    ok = (!t->checked || drop_check(t)) &&
         add_segment(t, 0,
                     (struct disk_segment){.kind = DISK_STRINGS,
                                           .bytes = texts.length,
                                           .table_off = t->strings,
                                           .record_bytes = 1},
                     texts.text) &&
         add_segment(t, 1,
                     (struct disk_segment){.kind = DISK_NOTES,
                                           .bytes = records.length,
                                           .table_off = t->notes,
                                           .record_bytes = sizeof(struct disk_note)},
                     records.text);
    if (ok && t->checked)
        ok = renew_check(t);
    strbuf_release(&texts);
    strbuf_release(&records);
    return ok;
}

int
append_notes(const char *path, const struct profile_note *notes, size_t count, struct err *err)
{
    struct target t = {.path = path, .fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
    int rc;

    if (t.fd < 0)
        return err_errno(err, HEAPTAP_BAD_INPUT, "cannot write a note into %s", path);
    rc = append_notes_look_around(&t, err);
    if (rc == 0 && count > 0 && !add_notes(&t, notes, count))
        rc = err_errno(err, HEAPTAP_BAD_INPUT, "cannot write a note into %s", path);
    close(t.fd);
    return rc;
}
