/* uncounted_dynamic.c: finds code in this process that may access blocks uncounted.
 *
 * "This block was never used" is certain only if no code accesses blocks uncounted. Two kinds of
 * code may do so:
 *
 *     a library, or the program, that was not built with heaptap cc
 *     a function of libc or libm that code built with heaptap cc calls, unless its accesses are
 *     counted (counted_table.h, counted_objects.h) or it gets no pointer to memory of its caller
 *     (`harmless`)
 *
 * The dynamic symbols show which of these exist. libc, libm, the dynamic linker, the unwinder and
 * this library are no users: they get the caller's memory only through calls. A function that is
 * looked up by name has no such symbol, so dlsym counts as a user. So does an environment that
 * differs from the initial one, because libc reads it at any time.
 *
 * Three kinds are not detected: objects linked into the program that heaptap cc has not compiled,
 * except the C++ library with -static-libstdc++, system calls by instructions in the program, and
 * libraries loaded by dlmopen.
 *
 * All loaded objects are examined when the process ends and before each dlclose. If other threads
 * keep unloading when the process ends, that counts as a user. */
#include "access/counted_objects.h"

#include <string.h>

#include "access/access_state.h"
#include "access/counted_libc.h"
#include "account/file.h"
#include "allocator/real.h"
#include "allocator/symbols.h"
#include "base/atomics.h"
#include "base/fmt.h"
#include "platform/process.h"
#include "platform/sys.h"

enum { NAMES_BYTES = 240, NAME_BYTES = 64, SCAN_WAITS = 100 };

/* Functions of libc that access no memory of their caller, or, like mmap and free, not its
 * contents. Their callbacks are instrumented themselves. A name in this list has no pointer
 * parameter, or test/run/access/pointers.py states the reason for it. */
static const char harmless[] =
    " "
    "_Exit _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __assert __assert_fail "
    "__chk_fail __ctype_b_loc __ctype_get_mb_cur_max __ctype_tolower_loc __ctype_toupper_loc "
    "__cxa_at_quick_exit __cxa_atexit __cxa_finalize __cxa_thread_atexit_impl __errno_location "
    "__fdelt_chk __fortify_fail __getpagesize __gmon_start__ __h_errno_location __libc_calloc "
    "__libc_current_sigrtmax __libc_current_sigrtmin __libc_free __libc_init_first "
    "__libc_malloc __libc_memalign __libc_realloc __libc_start_main __overflow "
    "__pthread_register_cancel __pthread_unregister_cancel __pthread_unwind_next "
    "__register_atfork __stack_chk_fail __tls_get_addr __uflow __underflow _dl_find_object "
    "_exit abort abs alarm aligned_alloc arc4random arc4random_uniform at_quick_exit atexit brk "
    "bsearch btowc calloc cfree clearerr clock close close_range closedir div dlclose dlerror "
    "dlopen drand48 dup dup2 dup3 endpwent epoll_create epoll_create1 eventfd exit fallocate "
    "fallocate64 fchdir fchmod fchown fclose fcloseall fdatasync feof ferror fflush fgetc "
    "fgetwc fileno flock flockfile fork fputc fputwc free free_sized fseek fseeko fseeko64 "
    "fsync ftell ftello ftello64 ftruncate ftruncate64 funlockfile fwide getc getc_unlocked "
    "getchar getchar_unlocked getegid geteuid getgid getpagesize getpgid getpgrp getpid getppid "
    "getpriority getsid gettid getuid getwc getwchar gnu_get_libc_release gnu_get_libc_version "
    "htonl htons inet_ntoa inotify_init inotify_init1 inotify_rm_watch isalnum isalpha isascii "
    "isatty isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper iswalnum "
    "iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper "
    "iswxdigit isxdigit kill killpg labs ldiv listen llabs lldiv lockf lrand48 lseek lseek64 "
    "madvise malloc malloc_trim malloc_usable_size mallopt memalign mlock mlockall mmap mmap64 "
    "mprotect mrand48 mremap msync munlock munlockall munmap nice ntohl ntohs on_exit pause "
    "pclose posix_fadvise posix_fadvise64 posix_fallocate posix_fallocate64 posix_memalign "
    "pthread_atfork pthread_cancel pthread_detach pthread_equal pthread_exit "
    "pthread_getspecific pthread_key_delete pthread_kill pthread_self pthread_setspecific "
    "pthread_testcancel pthread_yield putc putc_unlocked putchar putchar_unlocked putwc "
    "putwchar pvalloc quick_exit raise rand random realloc reallocarray rewind sbrk "
    "sched_getcpu sched_yield setegid seteuid setgid setpgid setpriority setsid setuid shutdown "
    "signal sleep socket srand srand48 srandom strerror strsignal sync syncfs sysconf "
    "thrd_yield timerfd_create tmpfile tmpfile64 toascii tolower toupper towlower towupper "
    "ualarm umask ungetc ungetwc usleep valloc vfork wctob ";

/* Functions of libm that access their caller's memory. */
static const char not_harmless_in_libm[] =
    " "
    "__gamma_r_finite __gammaf128_r_finite __gammaf_r_finite __gammal_r_finite "
    "__lgamma_r_finite __lgammaf128_r_finite __lgammaf_r_finite __lgammal_r_finite canonicalize "
    "canonicalizef canonicalizef128 canonicalizef32 canonicalizef32x canonicalizef64 "
    "canonicalizef64x canonicalizel fegetenv fegetexceptflag fegetmode feholdexcept fesetenv "
    "fesetexceptflag fesetmode fetestexceptflag feupdateenv frexp frexpf frexpf128 frexpf32 "
    "frexpf32x frexpf64 frexpf64x frexpl getpayload getpayloadf getpayloadf128 getpayloadf32 "
    "getpayloadf32x getpayloadf64 getpayloadf64x getpayloadl lgamma_r lgammaf128_r lgammaf32_r "
    "lgammaf32x_r lgammaf64_r lgammaf64x_r lgammaf_r lgammal_r modf modff modff128 modff32 "
    "modff32x modff64 modff64x modfl nan nanf nanf128 nanf32 nanf32x nanf64 nanf64x nanl remquo "
    "remquof remquof128 remquof32 remquof32x remquof64 remquof64x remquol setpayload "
    "setpayloadf setpayloadf128 setpayloadf32 setpayloadf32x setpayloadf64 setpayloadf64x "
    "setpayloadl setpayloadsig setpayloadsigf setpayloadsigf128 setpayloadsigf32 "
    "setpayloadsigf32x setpayloadsigf64 setpayloadsigf64x setpayloadsigl sincos sincosf "
    "sincosf128 sincosf32 sincosf32x sincosf64 sincosf64x sincosl totalorder totalorderf "
    "totalorderf128 totalorderf32 totalorderf32x totalorderf64 totalorderf64x totalorderl "
    "totalordermag totalordermagf totalordermagf128 totalordermagf32 totalordermagf32x "
    "totalordermagf64 totalordermagf64x totalordermagl ";

/* Objects that access the program's memory only while the program calls their functions. */
static const char no_users[] =
    " libc.so.6 libm.so.6 ld-linux-x86-64.so.2 libpthread.so.0 libdl.so.2 librt.so.1 libgcc_s.so.1 "
    "linux-vdso.so.1 libheaptap-access.so libheaptap.so libheaptap_lua.so libheaptap_python.so ";

static const char counted[] =
    " "
#define NAME(result, name, ...) #name " "
    COUNTED_ROWS(NAME) COUNTED_OBJECTS(NAME) COUNTED_BY_HAND(NAME) COUNTED_NUMBERS(NAME)
        COUNTED_REALS(NAME)
#define BOTH(name, forward, ...) #name " " #forward " "
        COUNTED_PRINTS(BOTH) COUNTED_SCANS(BOTH);

/* The names found, as one string: "libz.so.1, iconv". */
static struct {
    uint32_t busy; // Atomic.
    char names[NAMES_BYTES];
    size_t length;
    uint32_t more; // Number of names that did not fit into the string.
} found;

static uint32_t noted; // Atomic: enum uncounted.

static const struct {
    uint32_t what; // enum uncounted.
    const char *name;
} notes[] = {
    {UNCOUNTED_LOOKUP, "dlsym"},
    {UNCOUNTED_FORMAT, "a format of printf or scanf"},
    {UNCOUNTED_BY_VALUE, "structures by value"},
    {UNCOUNTED_ATOMIC, "atomic operations"},
    {UNCOUNTED_ASSEMBLER, "assembler code"},
    {UNCOUNTED_UNLOADED, "dlclose"},
    {UNCOUNTED_ARCHIVE, "the static C++ library"},
};

/* Return true if NAME is a word of LIST, in which each word has a blank on both sides. Return false
 * if NAME is empty. */
static bool
uncounted_is_in(const char *list, const char *name)
{
    size_t n = strlen(name);

    if (n == 0)
        return false;
    for (const char *p = list; *p != '\0'; p++)
        if (*p == ' ' && strncmp(p + 1, name, n) == 0 && p[1 + n] == ' ')
            return true;
    return false;
}

static bool
has_found(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i + n <= found.length; i++)
        if ((i == 0 || found.names[i - 1] == ' ') && memcmp(found.names + i, name, n) == 0 &&
            (i + n == found.length || found.names[i + n] == ','))
            return true;
    return false;
}

static void
uncounted_add(const char *name)
{
    size_t n = strlen(name);

    if (n == 0 || has_found(name))
        return;
    if (n > NAME_BYTES || found.length + n + 2 > sizeof found.names - 16) {
        found.more++;
        return;
    }
    if (found.length > 0) {
        memcpy(found.names + found.length, ", ", 2);
        found.length += 2;
    }
    memcpy(found.names + found.length, name, n);
    found.length += n;
}

static void
add_noted(void)
{
    for (size_t i = 0; i < countof(notes); i++)
        if (load_relaxed(&noted) & notes[i].what)
            uncounted_add(notes[i].name);
}

/* Return true if O was built with heaptap cc, i.e. refers to a function __heaptap_granule_*. */
static bool
counts(const struct symbols *o)
{
    static const char mark[] = "__heaptap_granule_";
    uint32_t end = symbols_references_end(o);

    for (uint32_t i = 1; i < end; i++)
        if (strncmp(o->names + o->table[i].st_name, mark, sizeof mark - 1) == 0)
            return true;
    return false;
}

static bool
defines(const struct symbols *o, const char *name)
{
    struct symbols_name n = symbols_name(name, NULL);

    return symbols_find(o, &n) != 0;
}

/* Add to the names the functions of LIBC and LIBM that O calls and that access memory uncounted. */
static void
add_called(const struct symbols *o, const struct symbols *libc, const struct symbols *libm)
{
    uint32_t end = symbols_references_end(o);

    for (uint32_t i = 1; i < end; i++) {
        const Elf64_Sym *s = &o->table[i];
        const char *name = o->names + s->st_name;
        uint32_t type = ELF64_ST_TYPE(s->st_info);

        if (s->st_shndx != SHN_UNDEF || (type != STT_FUNC && type != STT_NOTYPE))
            continue;
        if (libm->table != NULL && uncounted_is_in(not_harmless_in_libm, name) &&
            defines(libm, name))
            uncounted_add(name);
        else if (!uncounted_is_in(harmless, name) && !uncounted_is_in(counted, name) &&
                 defines(libc, name))
            uncounted_add(name);
    }
}

static const char *
uncounted_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Return true if the environment has strings, or a table, that did not exist at the start. Initial
 * strings follow the initial table, at the end of the stack. */
static bool
has_new_environment(void)
{
    char **first = process_first_environment(), **e = process_environment();

    if (e != first || first == NULL)
        return e != NULL;
    for (; *e != NULL; e++)
        if ((uintptr_t)*e < (uintptr_t)first)
            return true;
    return false;
}

static void
uncounted_scan_objects(void)
{
    struct symbols libc, libm = {0}, o;

    add_noted();
    if (has_new_environment())
        uncounted_add("environ");
    if (real_libc() == NULL || !symbols_read(real_libc(), &libc)) {
        uncounted_add("libc");
        return;
    }
    for (const struct link_map *map = symbols_first(); map != NULL; map = map->l_next)
        if (strcmp(uncounted_base_name(map->l_name), "libm.so.6") == 0 && !symbols_read(map, &libm))
            libm = (struct symbols){0};
    for (const struct link_map *map = symbols_first(); map != NULL; map = map->l_next) {
        const char *name = uncounted_base_name(map->l_name);

        // Both the kernel's page and the program have an empty name. The program is the first
        // object.
        if (uncounted_is_in(no_users, name) || (*name == '\0' && map != symbols_first()))
            continue;
        if (symbols_read(map, &o) && (map == symbols_own() || counts(&o)))
            add_called(&o, &libc, &libm);
        else
            uncounted_add(*name != '\0' ? name : "the program");
    }
}

void
uncounted_note(enum uncounted what)
{
    or_relaxed(&noted, (uint32_t)what);
}

/* Examine all loaded objects. Give up if another thread examines them and takes too long. */
static void
uncounted_scan_now(void)
{
    for (uint32_t i = 0; i < SCAN_WAITS; i++) {
        uint32_t nobody = 0;

        if (cas_acq_rel(&found.busy, &nobody, 1u)) {
            uncounted_scan_objects();
            store_release(&found.busy, 0u);
            return;
        }
        sys_wait(i);
    }
    uncounted_note(UNCOUNTED_UNLOADED);
}

COLD void
uncounted_scan(void)
{
    if (symbols_acquire())
        uncounted_scan_now();
    else
        uncounted_note(UNCOUNTED_UNLOADED);
    symbols_release();
}

COLD void
uncounted_scan_before_unload(void)
{
    symbols_run_locked(real_libc(), uncounted_scan_now);
}

/* `heaptap cc` defines this symbol when it links the program with -static-libstdc++. */
extern const char __heaptap_static_cxx[] __attribute__((weak, visibility("hidden")));

COLD void
uncounted_publish(void)
{
    struct disk_counting *c = access_counting();
    struct fmt f;

    if (__heaptap_static_cxx != NULL)
        uncounted_note(UNCOUNTED_ARCHIVE);
    add_noted();
    f = fmt_init(found.names + found.length, sizeof found.names - found.length);
    if (found.more > 0) {
        fmt_str(&f, " and ");
        fmt_uint(&f, found.more);
        fmt_str(&f, " more");
    }
    if (found.length + f.length > 0)
        c->uncounted = file_string(found.names, found.length + f.length);
    if (found.length == 0 || c->uncounted.bytes > 0)
        store_release(&c->flags, c->flags | DISK_COUNTING_LOOKED);
}
