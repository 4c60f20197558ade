/* ruby.c: an adapter for Ruby, which shows the program's methods in heaptap's stacks.
 *
 *     heaptap run --adapter build/adapters/libheaptap_ruby.so -- ruby report.rb
 *
 * It uses Ruby's functions for profilers (ruby/debug.h), which work inside a signal handler and
 * allocate nothing. These return methods, classes' bodies and the main program. A block counts as
 * the method that contains it, at the line of the block. A method in C has no line; if it
 * passes a block in C to another method, as sort_by does, the block is one more frame of it.
 *
 * They may only be called in Ruby's threads, after Ruby has started. The command ruby calls
 * ruby_options then, and the adapter puts its own in front. Programs that embed Ruby without this
 * function are not supported.
 *
 * The layout of strings differs between versions of Ruby, so the adapter is built where Ruby's
 * headers are, and shows nothing in another version (3.1, 3.2, ...). */
#include <ruby.h>
#include <ruby/debug.h>
#include <ruby/version.h>

#include <dlfcn.h>
#include <link.h>

#include "heaptap/language.h"

/* Absent in a process that is not Ruby. */
#pragma weak rb_profile_frames
#pragma weak rb_profile_frame_base_label
#pragma weak rb_profile_frame_method_name
#pragma weak rb_profile_frame_path
#pragma weak ruby_api_version
#pragma weak ruby_native_thread_p
#pragma weak rb_debug_rstring_null_ptr

int ruby_native_thread_p(void);

enum { NAME_BYTES = 256, FRAMES_READ = 64, FRAMES_MAX = 100000 };

static __thread struct heaptap_name_cache names;
static int is_started;
static unsigned long code, code_end; /* Machine code of Ruby. */

/* Copy TEXT, a string or nil, to TO, cut to NAME_BYTES. Return 0 if it is no string. */
static int
copy_text(char to[NAME_BYTES], VALUE text)
{
    size_t bytes;

    if (!RB_TYPE_P(text, T_STRING))
        return 0;
    bytes = (size_t)RSTRING_LEN(text);
    if (bytes >= NAME_BYTES)
        bytes = NAME_BYTES - 1;
    memcpy(to, RSTRING_PTR(text), bytes);
    to[bytes] = '\0';
    return 1;
}

/* Return the id of FRAME, which executes LINE. */
static unsigned
name_of(VALUE frame, int line)
{
    char name[NAME_BYTES], path[NAME_BYTES];

    if (copy_text(path, rb_profile_frame_path(frame)) &&
        copy_text(name, rb_profile_frame_base_label(frame)))
        return heaptap_frame_name_cached(&names, name, path, line > 0 ? (unsigned)line : 0, "Ruby");
    if (!copy_text(name, rb_profile_frame_method_name(frame)))
        return 0;
    return heaptap_frame_name_cached(&names, name, "[C]", 0, "Ruby");
}

/* Return true if FRAME has a file, unlike a method in C. */
static int
is_in_ruby(VALUE frame)
{
    return RB_TYPE_P(rb_profile_frame_path(frame), T_STRING);
}

static size_t
frames(struct heaptap_frame *to, size_t max)
{
    VALUE read[FRAMES_READ];
    int lines[FRAMES_READ], some, seen = 0;
    size_t count = 0;

    if (!__atomic_load_n(&is_started, __ATOMIC_ACQUIRE) || !ruby_native_thread_p())
        return 0;
    do {
        int wanted = max - count < FRAMES_READ ? (int)(max - count) : FRAMES_READ;

        some = wanted > 0 ? rb_profile_frames(seen, wanted, read, lines) : 0;
        for (int i = 0; i < some; i++, seen++)
            if (lines[i] > 0 || !is_in_ruby(read[i])) // The outermost frame is Ruby's own.
                to[count++] = (struct heaptap_frame){.at = 0, .id = name_of(read[i], lines[i])};
    } while (some == FRAMES_READ && seen < FRAMES_MAX);
    return count;
}

/* Ruby interprets nested calls in one C function, so all frames get its innermost C frame. */
static void
place(struct heaptap_frame *f, size_t count, const struct heaptap_native *n, size_t natives)
{
    for (size_t i = 0; i < natives && count > 0; i++)
        if (n[i].slot != 0 && n[i].pc > code && n[i].pc <= code_end) {
            f[0].at = n[i].slot + 1;
            return;
        }
}

/* Store the bounds of the machine code around the address INSIDE. */
static int
find_code(struct dl_phdr_info *object, size_t size, void *inside)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        unsigned long start = object->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && (unsigned long)inside >= start &&
            (unsigned long)inside < start + p->p_memsz) {
            code = start;
            code_end = start + p->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* Return true if the running Ruby has the layouts of the headers. */
static int
is_my_version(void)
{
    return &ruby_api_version != NULL && ruby_api_version[0] == RUBY_API_VERSION_MAJOR &&
           ruby_api_version[1] == RUBY_API_VERSION_MINOR;
}

static void
begin(void)
{
    static const struct heaptap_language ruby = {
        .size = sizeof ruby, .name = "Ruby", .frames = frames, .place = place};

    if (code_end == 0 && rb_profile_frames != NULL && is_my_version() &&
        dl_iterate_phdr(find_code, (void *)(uintptr_t)rb_profile_frames)) {
        heaptap_runtime_code((void *)code, (void *)code_end);
        heaptap_language_add(&ruby);
        __atomic_store_n(&is_started, 1, __ATOMIC_RELEASE);
    }
}

/* The command calls this between Ruby's start and the first line of the program. */
__attribute__((visibility("default"))) void *
ruby_options(int count, char **arguments)
{
    void *(*real)(int, char **) = (void *(*)(int, char **))dlsym(RTLD_NEXT, "ruby_options");

    begin();
    return real(count, arguments);
}
