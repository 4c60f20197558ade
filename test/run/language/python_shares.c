/* python_shares.c: an independent count of allocations by Python function.
 *
 *     LD_PRELOAD=./libshares.so SHARES_OUT=FILE PYTHONMALLOC=malloc heaptap run -- python3 app.py
 *
 *     program ──► recorder ──► counter ──► allocator
 *
 * The recorder puts itself in front of other preloaded libraries, so both see the same calls of one
 * run. At each call the counter asks Python's C API for the innermost function, and adds the
 * block to it. heaptap reads the frames itself, without this API. The API creates frame objects,
 * whose blocks the recorder sees; the counter adds them to the same function.
 *
 * Frames of Python's import system are skipped, as in heaptap's views. A thread that has released
 * the interpreter's lock takes it for the call.
 *
 * Each successful realloc counts as an allocation of the new size.
 *
 * Rows of the file, which is written when the process ends: calls, bytes, function, path, by
 * tabs. For Python 3.10 and later; it needs no headers of Python. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FUNCTIONS_MAX = 1 << 18, TEXT_MAX = 1 << 26 };

typedef struct object object;

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

/* Python's API, found when it is first needed. */
static int (*check_lock)(void), (*gc_disable)(void), (*gc_enable)(void);
static object *(*unchecked_state)(void), *(*own_state)(void), *(*take_lock)(object *);
static object *(*drop_lock)(void), *(*frame_of_state)(object *), *(*back)(object *);
static object *(*code_of)(object *), *(*attribute)(object *, const char *);
static const char *(*utf8)(object *);
static void (*release)(object *), (*clear_error)(void);

static __thread int inside;
static __thread long inner_calls, inner_bytes; // Made by the API since the program's last call.

/* A function, identified by the address of a code object that is never released. */
static struct row {
    object *code;
    const char *name, *path;
    long calls, bytes;
    int skipped;
} *rows, no_frame = {.name = "no frame", .path = ""};

static char *texts;
static size_t text_bytes;

static void *
mapped(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        _exit(90);
    return p;
}

/* Find Python's functions. Return 0 if the process has none. */
static int
find_api(void)
{
    static int found;

    if (found == 0) {
        *(void **)&check_lock = dlsym(RTLD_DEFAULT, "PyGILState_Check");
        *(void **)&gc_disable = dlsym(RTLD_DEFAULT, "PyGC_Disable");
        *(void **)&gc_enable = dlsym(RTLD_DEFAULT, "PyGC_Enable");
        *(void **)&unchecked_state = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
        if (unchecked_state == NULL)
            *(void **)&unchecked_state = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
        *(void **)&own_state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
        *(void **)&take_lock = dlsym(RTLD_DEFAULT, "PyEval_RestoreThread");
        *(void **)&drop_lock = dlsym(RTLD_DEFAULT, "PyEval_SaveThread");
        *(void **)&frame_of_state = dlsym(RTLD_DEFAULT, "PyThreadState_GetFrame");
        *(void **)&back = dlsym(RTLD_DEFAULT, "PyFrame_GetBack");
        *(void **)&code_of = dlsym(RTLD_DEFAULT, "PyFrame_GetCode");
        *(void **)&attribute = dlsym(RTLD_DEFAULT, "PyObject_GetAttrString");
        *(void **)&utf8 = dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8");
        *(void **)&release = dlsym(RTLD_DEFAULT, "Py_DecRef");
        *(void **)&clear_error = dlsym(RTLD_DEFAULT, "PyErr_Clear");
        found = gc_disable != NULL && unchecked_state != NULL ? 1 : -1;
    }
    return found == 1;
}

static int
ends_in(const char *path, const char *end)
{
    return strlen(path) >= strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0;
}

/* Return true if PATH belongs to Python's import system. */
static int
is_import(const char *path)
{
    return strncmp(path, "<frozen importlib", 17) == 0 || strcmp(path, "<frozen zipimport>") == 0 ||
           ends_in(path, "/importlib/_bootstrap.py") ||
           ends_in(path, "/importlib/_bootstrap_external.py") ||
           ends_in(path, "/importlib/__init__.py");
}

static const char *
copied(object *code, const char *name)
{
    object *value = attribute(code, name);
    const char *text = value != NULL ? utf8(value) : NULL;
    char *copy = texts + text_bytes;

    if (text == NULL) {
        clear_error();
        return NULL;
    }
    text_bytes += strlen(text) + 1;
    if (text_bytes > TEXT_MAX)
        _exit(91);
    strcpy(copy, text);
    release(value);
    return copy;
}

/* Return the row of CODE. Takes over the reference. */
static struct row *
row_of(object *code)
{
    // The interpreter's lock protects the rows.
    size_t i = ((size_t)code >> 4) * 0x9e3779b97f4a7c15 >> 46;

    while (rows[i].code != NULL && rows[i].code != code)
        i = (i + 1) % FUNCTIONS_MAX;
    if (rows[i].code == code) {
        release(code);
        return &rows[i];
    }
    rows[i].code = code;
    rows[i].name = copied(code, "co_qualname");
    if (rows[i].name == NULL)
        rows[i].name = copied(code, "co_name");
    rows[i].path = copied(code, "co_filename");
    rows[i].skipped = is_import(rows[i].path);
    return &rows[i];
}

/* Return the row of the innermost function in the thread with STATE, which has the interpreter's
 * lock; NULL if there is none. */
static struct row *
innermost_of(object *state)
{
    int collects = gc_disable();
    object *frame = frame_of_state(state), *outer;
    struct row *row = NULL;

    for (; frame != NULL; frame = outer) {
        row = row_of(code_of(frame));
        outer = row->skipped ? back(frame) : NULL;
        release(frame);
    }
    if (collects)
        gc_enable();
    return row != NULL && !row->skipped ? row : NULL;
}

/* Return the row of this thread's innermost function; NULL if there is none. */
static struct row *
innermost(void)
{
    object *state = find_api() ? unchecked_state() : NULL, *own;
    struct row *row;

    if (rows == NULL) {
        texts = mapped(TEXT_MAX);
        rows = mapped(FUNCTIONS_MAX * sizeof *rows);
    }
    if (state != NULL && check_lock())
        return innermost_of(state);
    own = find_api() ? own_state() : NULL;
    if (own == NULL)
        return NULL;
    take_lock(own);
    row = innermost_of(own);
    drop_lock();
    return row;
}

/* Count BYTES, a block of a call that succeeded. */
static void
count(size_t bytes)
{
    int error = errno;
    struct row *row;

    if (inside) {
        inner_calls++;
        inner_bytes += (long)bytes;
        return;
    }
    inside = 1;
    inner_calls = inner_bytes = 0;
    row = innermost();
    if (row == NULL)
        row = &no_frame;
    __atomic_fetch_add(&row->calls, 1 + inner_calls, __ATOMIC_RELAXED);
    __atomic_fetch_add(&row->bytes, (long)bytes + inner_bytes, __ATOMIC_RELAXED);
    inside = 0;
    errno = error;
}

void *
malloc(size_t bytes)
{
    void *p = __libc_malloc(bytes);

    if (p != NULL)
        count(bytes);
    return p;
}

void *
calloc(size_t n, size_t bytes)
{
    void *p = __libc_calloc(n, bytes);

    if (p != NULL)
        count(n * bytes);
    return p;
}

void *
realloc(void *old, size_t bytes)
{
    void *p = __libc_realloc(old, bytes);

    if (p != NULL)
        count(bytes);
    return p;
}

void *
memalign(size_t alignment, size_t bytes)
{
    void *p = __libc_memalign(alignment, bytes);

    if (p != NULL)
        count(bytes);
    return p;
}

void *
aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int
posix_memalign(void **ret, size_t alignment, size_t bytes)
{
    void *p = memalign(alignment, bytes);

    if (p == NULL)
        return ENOMEM;
    *ret = p;
    return 0;
}

void
free(void *p)
{
    __libc_free(p);
}

/* A child has its own rows, and writes none. */
static pid_t first;

__attribute__((constructor)) static void
start(void)
{
    first = getpid();
}

__attribute__((destructor)) static void
finish(void)
{
    const char *path = getenv("SHARES_OUT");
    FILE *f;

    inside = 1;
    if (path == NULL || getpid() != first || !find_api())
        return;
    f = fopen(path, "w");
    if (f == NULL)
        return;
    fprintf(f, "%ld\t%ld\t%s\t%s\n", no_frame.calls, no_frame.bytes, no_frame.name, "");
    for (size_t i = 0; i < FUNCTIONS_MAX; i++)
        if (rows[i].calls > 0)
            fprintf(f, "%ld\t%ld\t%s\t%s\n", rows[i].calls, rows[i].bytes, rows[i].name,
                    rows[i].path);
    fclose(f);
}
