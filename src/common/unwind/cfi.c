/* cfi.c: find and read the record of a function in .eh_frame.
 *
 * The linker sorts all functions into a table in .eh_frame_hdr, so a lookup is a binary search
 * followed by the parse of two records: the function's own (FDE) and the one it shares with its
 * neighbours (CIE).
 *
 *     .eh_frame_hdr | version, 3 encodings | -> .eh_frame | count | {code, FDE address} ... |
 *     .eh_frame     | CIE | FDE | FDE | ... | CIE | FDE | ... | 0 |
 *                      ^-----'  each FDE has the distance to its CIE
 *
 * All linkers in use write the table as pairs of 32-bit offsets from the header. For anything else,
 * or no table, .eh_frame is scanned from its start; the scan is slow, but callers cache its result.
 *
 * Invariant: nothing outside the object's readable segments is read, whatever the bytes are. Every
 * address from the tables passes through cursor_at, every length through cur_slice. The scan
 * consumes at least four bytes per record. Unsigned arithmetic may wrap; the result is checked like
 * any other address.
 *
 * Does not read .debug_frame. A record without the "z" augmentation, from an old compiler, is
 * accepted only if its augmentation string is empty.
 *
 * Signal-safe; no state.
 */
#include "unwind/cfi.h"

#include "unwind/object.h"

// Pointer encodings, from the Linux Standard Base: a format in the low four bits, a base in the
// next three.
enum {
    PE_ABSOLUTE = 0x00,
    PE_ULEB = 0x01,
    PE_U2 = 0x02,
    PE_U4 = 0x03,
    PE_U8 = 0x04,
    PE_SIGNED = 0x08,
    PE_SLEB = 0x09,
    PE_S2 = 0x0a,
    PE_S4 = 0x0b,
    PE_S8 = 0x0c,
    PE_FORMAT = 0x0f,
    PE_FROM_HERE = 0x10,
    PE_FROM_HEADER = 0x30,
    PE_ALIGNED = 0x50,
    PE_BASE = 0x70,
    PE_INDIRECT = 0x80,
    PE_OMITTED = 0xff,
};

// Limit of a scan. A scan that exceeds it reads corrupt data. The largest known programs have about
// 2 million functions.
enum { SCAN_RECORDS_MAX = 1 << 22 };

struct header {
    uint64_t end;        // End of the header's segment.
    uint64_t eh_frame;   // Address of the first record.
    const uint8_t *table;
    size_t table_count;  // 0 if there is no table for a binary search.
};

struct cie {
    struct cursor initial;
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding;    // Encoding of the code addresses in FDEs.
    bool augmented;      // FDEs have augmentation data, preceded by its length.
    bool signal;
};

static bool read_header(const struct unwind_object *o, struct header *ret_header);
static uint64_t search_table(const struct header *h, const struct unwind_object *o,
                             uint64_t lookup);
static enum cfi_result cfi_scan(const struct header *h, uint64_t lookup,
                                const struct unwind_object *o, struct cfi_function *ret_function);
static bool read_fde(const struct unwind_object *o, uint64_t address, uint64_t header_end,
                     struct cfi_function *ret_function);

static inline bool
covers(const struct cfi_function *f, uint64_t lookup)
{
    return lookup - f->begin < f->size;
}

enum cfi_result
cfi_find(uint64_t lookup, const struct unwind_object *object, struct cfi_function *ret_function)
{
    struct header h;
    uint64_t fde;

    if (!object->eh_frame_hdr || !read_header(object, &h))
        return CFI_NONE;
    if (h.table_count == 0)
        return cfi_scan(&h, lookup, object, ret_function);
    fde = search_table(&h, object, lookup);
    if (fde == 0)
        return CFI_NONE;
    if (!read_fde(object, fde, h.end, ret_function))
        return CFI_BAD;
    return covers(ret_function, lookup) ? CFI_FOUND : CFI_NONE;
}

enum cfi_result
cfi_row_at(uint64_t lookup, const struct unwind_object *object, struct cfi_row *ret_row)
{
    struct cfi_function f;
    enum cfi_result found = cfi_find(lookup, object, &f);

    if (found != CFI_FOUND)
        return found;
    return cfi_run(&f, lookup, object, ret_row) ? CFI_FOUND : CFI_BAD;
}

/* Return a cursor from ADDRESS to the end of its segment; a bad cursor if ADDRESS is in no segment.
 * HEADER_END is the end of the header's segment, 0 = unknown. It saves a search, because records
 * nearly always follow the header in the same segment. */
static struct cursor
cursor_at(const struct unwind_object *o, uint64_t address, uint64_t header_end)
{
    struct cursor c = {.at = o->eh_frame_hdr, .end = o->eh_frame_hdr, .bad = true};
    uint64_t end = header_end;

    if (address < (uint64_t)(uintptr_t)o->eh_frame_hdr || address >= header_end)
        end = unwind_readable_end(o, address);
    if (end != 0) {
        c.at = (const uint8_t *)(uintptr_t)address;
        c.end = (const uint8_t *)(uintptr_t)end;
        c.bad = false;
    }
    return c;
}

static uint64_t
read_format(struct cursor *c, uint8_t encoding)
{
    switch (encoding & PE_FORMAT) {
    case PE_ABSOLUTE:
    case PE_U8:
    case PE_SIGNED:
    case PE_S8:
        return cur_unsigned(c, 8);
    case PE_ULEB:
        return cur_uleb(c);
    case PE_SLEB:
        return (uint64_t)cur_sleb(c);
    case PE_U2:
        return cur_unsigned(c, 2);
    case PE_U4:
        return cur_unsigned(c, 4);
    case PE_S2:
        return (uint64_t)cur_signed(c, 2);
    case PE_S4:
        return (uint64_t)cur_signed(c, 4);
    default:
        cur_fail(c);
        return 0;
    }
}

/* Read an encoded address of code or of a table. Such addresses have no indirect encodings, which
 * would need a read of relocated data. HEADER is the base of PE_FROM_HEADER; 0 where that encoding
 * has no meaning. */
static uint64_t
read_address(struct cursor *c, uint8_t encoding, uint64_t header)
{
    uint64_t here = cur_address(c);

    switch (encoding & (PE_BASE | PE_INDIRECT)) {
    case PE_ABSOLUTE:
        return read_format(c, encoding);
    case PE_FROM_HERE:
        return here + read_format(c, encoding);
    case PE_FROM_HEADER:
        if (header)
            return header + read_format(c, encoding);
        break;
    case PE_ALIGNED:
        cur_skip(c, round_up(here, 8) - here);
        return cur_unsigned(c, 8);
    default:
        break;
    }
    cur_fail(c);
    return 0;
}

static void
skip_pointer(struct cursor *c, uint8_t encoding)
{
    uint64_t here = cur_address(c);

    if (encoding == PE_OMITTED)
        return;
    if ((encoding & PE_BASE) == PE_ALIGNED)
        cur_skip(c, round_up(here, 8) - here);
    read_format(c, encoding);
}

static bool
read_header(const struct unwind_object *o, struct header *ret_header)
{
    uint64_t base = (uint64_t)(uintptr_t)o->eh_frame_hdr;
    struct cursor c = cursor_at(o, base, 0);
    uint64_t end = (uint64_t)(uintptr_t)c.end;
    uint8_t version = cur_u8(&c);
    uint8_t frame_encoding = cur_u8(&c);
    uint8_t count_encoding = cur_u8(&c);
    uint8_t table_encoding = cur_u8(&c);
    uint64_t count;

    ret_header->end = end;
    ret_header->eh_frame = read_address(&c, frame_encoding, base);
    ret_header->table_count = 0;
    if (c.bad || version != 1)
        return false;
    if (count_encoding == PE_OMITTED || table_encoding != (PE_FROM_HEADER | PE_S4))
        return true;
    count = read_address(&c, count_encoding, base);
    if (c.bad || count > cur_left(&c) / 8)
        return true;
    ret_header->table = c.at;
    ret_header->table_count = (size_t)count;
    return true;
}

static inline int64_t
table_word(const struct header *h, size_t entry, size_t word)
{
    int32_t value;

    memcpy(&value, h->table + 8 * entry + 4 * word, sizeof value);
    return value;
}

/* Return the address of the FDE of the last function that begins at or before LOOKUP; 0 if all
 * begin later. */
static uint64_t
search_table(const struct header *h, const struct unwind_object *o, uint64_t lookup)
{
    uint64_t base = (uint64_t)(uintptr_t)o->eh_frame_hdr;
    int64_t key = (int64_t)(lookup - base);
    size_t first = 0, count = h->table_count;

    while (count > 0) {
        size_t half = count / 2;

        if (table_word(h, first + half, 0) <= key) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first == 0 ? 0 : base + (uint64_t)table_word(h, first - 1, 1);
}

/* Return the body of the record at C, and advance C to the next record. Return an empty body for
 * the terminator. */
static struct cursor
read_record(struct cursor *c)
{
    uint64_t length = cur_u32(c);

    if (length == UINT32_MAX)
        length = cur_unsigned(c, 8);
    return cur_slice(c, length);
}

/* Read the augmentation data: the letters of TEXT describe DATA, in order. An unknown letter may
 * hide the rest, so it makes the record invalid. */
static bool
read_augmentation(const char *text, struct cursor data, struct cie *cie)
{
    for (; *text; text++) {
        switch (*text) {
        case 'R':
            cie->encoding = cur_u8(&data);
            break;
        case 'P':
            skip_pointer(&data, cur_u8(&data));
            break;
        case 'L':
            cur_u8(&data);
            break;
        case 'S':
            cie->signal = true;
            break;
        case 'B':
            break;
        default:
            return false;
        }
    }
    return !data.bad;
}

static const char *
read_string(struct cursor *c)
{
    const char *text = (const char *)c->at;

    while (cur_u8(c) != 0) {
    }
    return text;
}

static bool
read_cie(const struct unwind_object *o, uint64_t address, uint64_t header_end, struct cie *ret_cie)
{
    struct cursor rest = cursor_at(o, address, header_end);
    struct cursor c = read_record(&rest);
    uint32_t id = cur_u32(&c);
    uint8_t version = cur_u8(&c);
    const char *augmentation = read_string(&c);
    uint64_t return_column;

    if (c.bad || id != 0 || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4)
        cur_skip(&c, 2); // Sizes of an address and of a segment selector.
    *ret_cie = (struct cie){.encoding = PE_ABSOLUTE};
    ret_cie->code_align = cur_uleb(&c);
    ret_cie->data_align = cur_sleb(&c);
    return_column = version == 1 ? cur_u8(&c) : cur_uleb(&c);
    if (c.bad || return_column != UNWIND_PC)
        return false;
    if (*augmentation == 'z') {
        struct cursor data = cur_slice(&c, cur_uleb(&c));

        ret_cie->augmented = true;
        if (!read_augmentation(augmentation + 1, data, ret_cie))
            return false;
    } else if (*augmentation) {
        return false;
    }
    ret_cie->initial = c;
    return !c.bad;
}

/* Read the FDE at ADDRESS and its CIE. */
static bool
read_fde(const struct unwind_object *o, uint64_t address, uint64_t header_end,
         struct cfi_function *ret_function)
{
    struct cursor rest = cursor_at(o, address, header_end);
    struct cursor c = read_record(&rest);
    uint64_t here = cur_address(&c);
    uint32_t back = cur_u32(&c);
    struct cie cie;

    if (c.bad || back == 0 || !read_cie(o, here - back, header_end, &cie))
        return false;
    ret_function->begin = read_address(&c, cie.encoding, 0);
    ret_function->size = read_format(&c, cie.encoding);
    if (cie.augmented)
        cur_skip(&c, cur_uleb(&c));
    ret_function->initial = cie.initial;
    ret_function->program = c;
    ret_function->code_align = cie.code_align;
    ret_function->data_align = cie.data_align;
    ret_function->signal = cie.signal;
    return !c.bad;
}

/* Search all records in turn. Skip a malformed record, because its length still leads to the next
 * record. */
static enum cfi_result
cfi_scan(const struct header *h, uint64_t lookup, const struct unwind_object *o,
         struct cfi_function *ret_function)
{
    struct cursor c = cursor_at(o, h->eh_frame, h->end);

    for (int i = 0; i < SCAN_RECORDS_MAX && !c.bad && cur_left(&c) > 0; i++) {
        uint64_t address = cur_address(&c);
        struct cursor body = read_record(&c);

        if (cur_left(&body) < 4)
            break;
        if (cur_u32(&body) == 0)
            continue;
        if (read_fde(o, address, h->end, ret_function) && covers(ret_function, lookup))
            return CFI_FOUND;
    }
    return CFI_NONE;
}
