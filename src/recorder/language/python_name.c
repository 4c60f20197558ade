/* python_name.c: assigns recorder ids to instructions of Python functions.
 *
 * An id is looked up for each frame of each allocation, so the lookup must be cheap: two tables of
 * words, without locks.
 *
 *     codes   code object                     ─► its number      word: address, number
 *     ids     number of code, instruction     ─► id of a frame   word: number, instruction, id
 *
 * A word contains key and value, so a reader sees both or neither, whatever other threads write. On
 * a miss, the name is built from the code object and its line table, and passed to the recorder,
 * which returns one id for equal names.
 *
 * Addresses are reused: a program that compiles and discards code gets code objects at old
 * addresses, even with the same name and file. So a number identifies one life of a code object.
 * The hook on frees (python_memory.c) removes the word from `codes`. Numbers are not reused; when
 * they are exhausted, after two million, both tables are cleared.
 *
 * Rejected: comparing names or lines of the object. This costs more than the number and proves
 * less, because `exec` makes many objects with the same name and lines. */
#include "language/python_adapter.h"

#include <string.h>

#include "base/atomics.h"
#include "base/base.h"
#include "heaptap/language.h"

enum {
    CODES = 1 << 14,
    IDS = 1 << 16,
    NUMBER_BITS = 21,
    AT_BITS = 24,
    ID_BITS = 18,
    TEXT_BYTES = 1000,
};

#define NUMBERS      (UINT64_C(1) << NUMBER_BITS)
#define AT_NOT_BEGUN ((UINT64_C(1) << AT_BITS) - 1)

static const struct python_layout *layout;
static const void *code_type;
static uint64_t codes[CODES]; // Atomic, like the variables below.
static uint64_t ids[IDS];
static uint64_t numbers;

void
python_name_begin(const struct python_layout *l, const void *type)
{
    layout = l;
    code_type = type;
}

static uint64_t *
code_word(const void *code)
{
    uint64_t hash = ((uintptr_t)code >> 4) * UINT64_C(0x9e3779b97f4a7c15);

    return &codes[hash >> 50]; // 14 bits
}

static uint64_t *
id_word(uint64_t key)
{
    return &ids[key * UINT64_C(0x9e3779b97f4a7c15) >> 48]; // 16 bits
}

static_assert(CODES == 1 << (64 - 50) && IDS == 1 << (64 - 48), "hashes have as many bits");

void
python_name_freed(const void *p)
{
    uint64_t *word = code_word(p);

    if (likely(load_relaxed(word) >> NUMBER_BITS != (uintptr_t)p >> 4) || p == NULL)
        return;
    store_relaxed(word, UINT64_C(0));
    python_goes();
}

static bool
is_code(const void *p)
{
    return ((uintptr_t)p & 15) == 0 && heaptap_can_read(p, layout->code_lines + 8u) &&
           python_pointer(p, PYTHON_OBJECT_TYPE) == code_type;
}

/* Return the number of this life of CODE; 0 if CODE is not a code object. */
static COLD uint64_t
number_code(const void *code)
{
    uint64_t number;

    if (!is_code(code))
        return 0;
    number = add_relaxed(&numbers, UINT64_C(1)) % NUMBERS;
    if (number == 0) {
        for (size_t i = 0; i < CODES; i++)
            store_relaxed(&codes[i], UINT64_C(0));
        for (size_t i = 0; i < IDS; i++)
            store_relaxed(&ids[i], UINT64_C(0));
        python_goes();
        number = add_relaxed(&numbers, UINT64_C(1)) % NUMBERS;
    }
    // The previous code object of this slot loses its number, so no event would report that it was
    // freed.
    if (load_relaxed(code_word(code)) != 0)
        python_goes();
    store_relaxed(code_word(code), (uint64_t)((uintptr_t)code >> 4) << NUMBER_BITS | number);
    return number;
}

/* Append one character as UTF-8 to TO, which has room for four bytes. */
static size_t
encode(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        to[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    to[0] = (char)(0xf0 | (c >> 18 & 7));
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    to[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* Copy a Python string to TO as UTF-8, truncated to SIZE bytes including the NUL. Copy "" if TEXT
 * is not a string. */
static void
copy_text(char *to, size_t size, const void *text)
{
    size_t length, used = 0;
    unsigned state, width;
    const char *from;

    to[0] = '\0';
    if (!heaptap_can_read(text, layout->wide_bytes))
        return;
    state = (unsigned)python_int(text, PYTHON_TEXT_STATE);
    width = state >> 2 & 7;
    if (!(state >> 5 & 1) || (width != 1 && width != 2 && width != 4))
        return;
    length = python_word(text, PYTHON_SIZE);
    if (length > size)
        length = size;
    from = (const char *)text + (state >> 6 & 1 ? layout->text_bytes : layout->wide_bytes);
    if (!heaptap_can_read(from, length * width))
        return;
    for (size_t i = 0; i < length && used + 4 < size; i++) {
        uint32_t c = 0;

        memcpy(&c, from + i * width, width);
        if (c == 0)
            break;
        used += encode(to + used, c);
    }
    to[used] = '\0';
}

static unsigned
python_name_line_of(const void *code, uint64_t at)
{
    const void *table = python_pointer(code, layout->code_lines);
    unsigned first = (unsigned)python_int(code, layout->code_line);
    size_t bytes;

    if (at == PYTHON_NOT_BEGUN)
        return first;
    if (!heaptap_can_read(table, PYTHON_BYTES))
        return 0;
    bytes = python_word(table, PYTHON_SIZE);
    if (bytes > 1 << 26 || !heaptap_can_read((const char *)table + PYTHON_BYTES, bytes))
        return 0;
    return python_line_of(layout->lines, (const unsigned char *)table + PYTHON_BYTES, bytes, first,
                          at);
}

static COLD unsigned
python_name_frame(const void *code, uint64_t at)
{
    char function[TEXT_BYTES], file[TEXT_BYTES];

    copy_text(function, sizeof function, python_pointer(code, layout->code_function));
    copy_text(file, sizeof file, python_pointer(code, layout->code_file));
    return heaptap_frame_name(function, file, python_name_line_of(code, at), "Python");
}

uint64_t
python_name_code(const void *code)
{
    uint64_t word = load_relaxed(code_word(code));

    if (likely(word >> NUMBER_BITS == (uintptr_t)code >> 4 && word != 0))
        return word & (NUMBERS - 1);
    return number_code(code);
}

unsigned
python_name_of(const void *code, uint64_t number, uint64_t at)
{
    uint64_t index = at == PYTHON_NOT_BEGUN ? AT_NOT_BEGUN : at / 2, key, word, *slot;
    unsigned id;

    if (unlikely(index > AT_NOT_BEGUN))
        return python_name_frame(code, at);
    key = number << AT_BITS | index;
    slot = id_word(key);
    word = load_relaxed(slot);
    if (likely(word >> ID_BITS == key))
        return (unsigned)(word & ((1 << ID_BITS) - 1));
    id = python_name_frame(code, at);
    if (id < 1 << ID_BITS)
        store_relaxed(slot, key << ID_BITS | id);
    return id;
}
