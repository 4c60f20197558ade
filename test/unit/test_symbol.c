/* test_symbol.c: the symboliser, applied to programs that the test compiles and whose names and
 * lines are known from their sources in test/symbol. Run it from the top of the source tree. If a
 * compiler is missing, its part is skipped with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_profile.h"
#include "shell.h"
#include "symbol/elf_names.h"
#include "symbol/perfmap.h"
#include "symbol/ranges.h"
#include "symbol/symbol.h"
#include "symbol/symcache.h"

#define BIAS UINT64_C(0x7f1200000000)

static char directory[] = "/tmp/heaptap-symbol-XXXXXX";

/* --- Helpers ------------------------------------------------------------------------------------
 */

static const char *
in_directory(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % countof(paths)];

    snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return path;
}

/* Compile test/symbol/SOURCE to OUTPUT in the directory. */
static void
compile(const char *compiler, const char *flags, const char *source, const char *output)
{
    assert_true(shell("%s %s -o %s \"$PWD/test/symbol/%s\"", compiler, flags, in_directory(output),
                      source));
}

/* Return the line of test/symbol/SOURCE that contains MARK. */
static uint32_t
line_of(const char *source, const char *mark)
{
    char path[PATH_MAX];
    char line[512];
    uint32_t number = 0;
    FILE *f;

    snprintf(path, sizeof path, "test/symbol/%s", source);
    f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) {
        const char *found = strstr(line, mark);

        number++;
        if (found != NULL && strchr(" \n", found[strlen(mark)]) != NULL)
            break;
    }
    assert_false(feof(f));
    fclose(f);
    return number;
}

/* Return the first word that COMMAND prints, read as a hexadecimal number. */
static uint64_t PRINTF(1, 2)
hex_output(const char *format, ...)
{
    char command[4096];
    char text[64] = "";
    va_list ap;
    FILE *f;

    va_start(ap, format);
    vsnprintf(command, sizeof command, format, ap);
    va_end(ap);
    f = popen(command, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    assert_int_equal(pclose(f), 0);
    return strtoull(text, NULL, 16);
}

static uint64_t
symbol_address_of(const char *file, const char *symbol)
{
    return hex_output("nm %s | awk '$3 == \"%s\" { print $1 }'", in_directory(file), symbol);
}

/* Set M's build id to that in FILE of the directory. */
static void
symbol_read_build_id(struct profile_module *m, const char *file)
{
    char command[PATH_MAX + 64];
    char hex[2 * PROFILE_BUILD_ID_MAX + 2] = "";
    FILE *f;

    snprintf(command, sizeof command, "readelf -n %s | sed -n 's/.*Build ID: //p'",
             in_directory(file));
    f = popen(command, "r");
    assert_non_null(f);
    assert_non_null(fgets(hex, sizeof hex, f));
    pclose(f);
    for (m->build_id_bytes = 0; hex[2 * m->build_id_bytes] > ' '; m->build_id_bytes++) {
        unsigned byte;

        assert_int_equal(sscanf(hex + 2 * m->build_id_bytes, "%2x", &byte), 1);
        m->build_id[m->build_id_bytes] = (uint8_t)byte;
    }
}

/* Return a profile with one module, FILE in the directory, loaded at BIAS. */
static struct profile *
new_profile(const char *file)
{
    struct profile *p = build_profile_new();

    p->symbolised = false;
    p->process.pid = 0; // Without a process id, no map of JIT code is looked up.
    p->process.start_unix_ns = UINT64_C(1) << 62; // The files were built before the recording.
    p->modules = arena_array(&p->arena, 2, sizeof *p->modules);
    p->module_count = 2;
    p->modules[0].path = "";
    p->modules[1].path = file[0] == '[' ? file : arena_strdup(&p->arena, in_directory(file));
    p->modules[1].bias = BIAS;
    p->locations = arena_array(&p->arena, 8, sizeof *p->locations);
    p->location_count = 1;
    return p;
}

/* Add the location of the instruction at ADDRESS of the file; return its id. */
static uint32_t
add_location(struct profile *p, uint64_t address)
{
    p->locations[p->location_count] = (struct profile_location){
        .address = address + BIAS,
        .module = 1,
        .exact = true,
    };
    return (uint32_t)p->location_count++;
}

static void
test_symbol_resolve(struct profile *p, bool no_cache)
{
    struct symbol_options options = { .no_cache = no_cache };
    struct err err = {0};

    assert_int_equal(symbol_resolve(p, &options, &err), 0);
    assert_true(p->symbolised);
    for (size_t i = 1; i < p->location_count; i++) {
        assert_true(p->locations[i].frame_count > 0);
        assert_true(p->locations[i].first_frame + p->locations[i].frame_count <= p->frame_count);
    }
}

static const struct profile_frame *
frame(const struct profile *p, uint32_t location, uint32_t index)
{
    assert_true(index < p->locations[location].frame_count);
    return &p->frames[p->locations[location].first_frame + index];
}

static const char *
symbol_function(const struct profile *p, uint32_t location, uint32_t index)
{
    return profile_string(p, frame(p, location, index)->function);
}

static void
assert_ends_with(const char *s, const char *end)
{
    size_t length = strlen(s);

    if (length < strlen(end) || strcmp(s + length - strlen(end), end) != 0)
        fail_msg("\"%s\" does not end with \"%s\"", s, end);
}

/* Assert that the text about the missing symbols of P's module contains TEXT. */
static void
assert_lacks(const struct profile *p, const char *text)
{
    struct arena arena = {0};
    const char *lack = symbol_lack(p, 1, &arena);

    assert_non_null(lack);
    if (strstr(lack, text) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", lack, text);
    arena_release(&arena);
}

static void
assert_lacks_nothing(const struct profile *p)
{
    struct arena arena = {0};
    const char *lack = symbol_lack(p, 1, &arena);

    if (lack != NULL)
        fail_msg("unexpected: %s", lack);
    arena_release(&arena);
}

/* --- Debug information --------------------------------------------------------------------------
 */

static void
check_inline_chain(const char *file)
{
    static const char *const functions[] = { "inner", "middle", "wrapper", "outer" };
    static const char *const marks[] = { "LINE:mark", "LINE:inner", "LINE:middle", "LINE:wrapper" };
    struct profile *p = new_profile(file);
    uint32_t exact = add_location(p, symbol_address_of(file, "mark"));
    uint32_t after = add_location(p, symbol_address_of(file, "mark") + 1);

    p->locations[after].exact = false;
    test_symbol_resolve(p, true);
    assert_int_equal(p->locations[exact].frame_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct profile_frame *f = frame(p, exact, i);

        assert_string_equal(profile_string(p, f->function), functions[i]);
        assert_string_equal(profile_string(p, f->linkage), functions[i]);
        assert_ends_with(profile_string(p, f->file), "/test/symbol/inline_chain.c");
        assert_int_equal(profile_string(p, f->file)[0], '/');
        assert_int_equal(f->line, line_of("inline_chain.c", marks[i]));
        assert_int_equal(f->inlined, i < 3);
        assert_int_equal(f->module, 1);
    }
    assert_int_equal(p->locations[after].first_frame, p->locations[exact].first_frame);
    assert_lacks_nothing(p);
    profile_free(p);
}

static const char *const debug_flags[] = {
    "-O2 -g -gdwarf-5",
    "-O2 -g -gdwarf-4",
    "-O2 -g -gsplit-dwarf",
};

/* If this fails, reports blame the wrong function or line for inlined code. */
static void
inlined_calls_are_frames(void **state)
{
    static const char *const compilers[] = { "gcc", "clang" };
    size_t used = 0;

    (void)state;
    for (size_t i = 0; i < countof(compilers); i++) {
        if (!have(compilers[i]))
            continue;
        for (size_t k = 0; k < countof(debug_flags); k++) {
            char flags[64];

            // Link in a separate step, because the split file is named after the object.
            snprintf(flags, sizeof flags, "%s -c", debug_flags[k]);
            compile(compilers[i], flags, "inline_chain.c", "chain.o");
            assert_true(shell("cd %s && %s chain.o -o chain", directory, compilers[i]));
            check_inline_chain("chain");
        }
        used++;
    }
    if (used == 0)
        skip();
}

static void
check_scopes(const char *file)
{
    struct profile *p = new_profile(file);
    uint32_t feed = add_location(p, symbol_address_of(file, "mark_feed"));
    uint32_t knock = add_location(p, symbol_address_of(file, "mark_knock"));

    test_symbol_resolve(p, true);
    assert_int_equal(p->locations[feed].frame_count, 1);
    assert_string_equal(symbol_function(p, feed, 0),
                        "unsigned long zoo::feed<long>(zoo::Cage<long> const&, long)");
    assert_string_equal(profile_string(p, frame(p, feed, 0)->linkage),
                        "_ZN3zoo4feedIlEEmRKNS_4CageIT_EES2_");
    assert_int_equal(frame(p, feed, 0)->line, line_of("scopes.cc", "LINE:feed"));
    assert_int_equal(p->locations[knock].frame_count, 2);
    // Where gcc writes no linkage name, a function without an out-of-line copy has no parameters.
    assert_true(strncmp(symbol_function(p, knock, 0), "zoo::(anonymous namespace)::knock", 33) ==
                0);
    assert_true(frame(p, knock, 0)->inlined);
    assert_int_equal(frame(p, knock, 0)->line, line_of("scopes.cc", "LINE:knock"));
    assert_string_equal(symbol_function(p, knock, 1),
                        "zoo::(anonymous namespace)::Keeper::open(int)");
    assert_int_equal(frame(p, knock, 1)->line, line_of("scopes.cc", "LINE:open"));
    profile_free(p);
}

/* If this fails, functions in namespaces or templates, or local to a file, have wrong names. */
static void
cplusplus_names_have_their_scopes(void **state)
{
    static const char *const compilers[] = { "g++", "clang++" };
    size_t used = 0;

    (void)state;
    for (size_t i = 0; i < countof(compilers); i++) {
        if (!have(compilers[i]))
            continue;
        for (size_t k = 0; k < 2; k++) {
            compile(compilers[i], debug_flags[k], "scopes.cc", "scopes");
            check_scopes("scopes");
        }
        used++;
    }
    if (used == 0)
        skip();
}

/* If this fails, debug information in separate files (every distribution's) is not found. */
static void
separate_debug_files_are_found(void **state)
{
    (void)state;
    if (!have("gcc") || !have("objcopy"))
        skip();
    compile("gcc", "-O2 -g -Wl,--build-id=none", "inline_chain.c", "linked");
    {
        uint64_t mark = symbol_address_of("linked", "mark");
        struct profile *p = new_profile("linked");
        uint32_t l = add_location(p, mark);

        assert_true(shell("cd %s && objcopy --only-keep-debug linked linked.debug && strip linked"
                          " && objcopy --add-gnu-debuglink=linked.debug linked", directory));
        test_symbol_resolve(p, true);
        assert_int_equal(p->locations[l].frame_count, 4);
        assert_string_equal(symbol_function(p, l, 0), "inner");
        assert_int_equal(frame(p, l, 3)->line, line_of("inline_chain.c", "LINE:wrapper"));
        assert_lacks_nothing(p);
        profile_free(p);
    }
}

/* Return true if the recorded FILE gets names with the prefix "root" in the directory. */
static void
check_prefix(const char *file, uint64_t address, bool with_build_id, bool expected)
{
    struct profile *p = new_profile(file);
    uint32_t l = add_location(p, address);

    if (with_build_id)
        symbol_read_build_id(&p->modules[1], "named");
    p->modules[1].path = file;
    p->sysroot = arena_strdup(&p->arena, in_directory("root"));
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, l, 0), expected ? "inner" : "");
    profile_free(p);
}

/* If this fails, code that runs in a container or came from another machine has no names, or the
 * names of the local file at the same path. */
static void
files_are_looked_for_below_the_prefix(void **state)
{
    static char own[PATH_MAX];
    uint64_t mark;

    (void)state;
    if (!have("gcc"))
        skip();
    assert_true(shell("mkdir -p %s/root/opt", directory));
    compile("gcc", "-O2 -g -Wl,--build-id", "inline_chain.c", "named");
    mark = symbol_address_of("named", "mark");
    snprintf(own, sizeof own, "%s", in_directory("named"));
    // The file exists only outside. It is accepted if the build id matches; otherwise, it may be
    // any file.
    check_prefix(own, mark, true, true);
    check_prefix(own, mark, false, false);
    // A link is resolved inside the container.
    assert_true(shell("cd %s/root && cp ../named opt/real && ln -s /opt/real opt/link", directory));
    check_prefix("/opt/link", mark, true, true);
    check_prefix("/opt/link", mark, false, true);
    assert_true(shell("cd %s && objcopy --only-keep-debug named n.debug && strip root/opt/real"
                      " && rm named && mkdir -p root/usr/lib/debug/opt && mv n.debug"
                      " root/usr/lib/debug/opt/ && cp root/opt/real root/opt/plain && objcopy"
                      " --add-gnu-debuglink=root/usr/lib/debug/opt/n.debug root/opt/real",
                      directory));
    check_prefix("/opt/real", mark, false, true);
    check_prefix("/opt/plain", mark, false, false);
}

/* --- Symbols ------------------------------------------------------------------------------------
 */

/* If this fails, stripped libraries lose names, or hidden functions get a neighbour's. */
static void
a_stripped_library_has_its_exports(void **state)
{
    struct profile *p;
    uint32_t exported;
    uint32_t hidden;

    (void)state;
    if (!have("gcc") || !have("strip"))
        skip();
    compile("gcc", "-O2 -shared -fPIC", "exports.c", "libexports.so");
    p = new_profile("libexports.so");
    exported = add_location(p, symbol_address_of("libexports.so", "mark_exported"));
    hidden = add_location(p, symbol_address_of("libexports.so", "mark_hidden"));
    assert_true(shell("strip %s", in_directory("libexports.so")));
    test_symbol_resolve(p, true);
    assert_int_equal(p->locations[exported].frame_count, 1);
    assert_string_equal(symbol_function(p, exported, 0), "exported_work");
    assert_int_equal(frame(p, exported, 0)->line, 0);
    assert_int_equal(p->locations[hidden].frame_count, 1);
    assert_int_equal(frame(p, hidden, 0)->function, 0);
    assert_int_equal(frame(p, hidden, 0)->module, 1);
    assert_lacks(p, "is stripped");
    profile_free(p);
}

/* If this fails, an address that no symbol covers gets the name of the symbol before it. */
static void
a_symbol_covers_only_its_size(void **state)
{
    struct profile *p;
    uint64_t sized;
    uint32_t in_sized, in_gap, in_first, in_second;

    (void)state;
    if (!have("gcc"))
        skip();
    compile("gcc", "-nostdlib -shared", "labels.s", "liblabels.so");
    sized = symbol_address_of("liblabels.so", "sized");
    p = new_profile("liblabels.so");
    in_sized = add_location(p, sized + 3);
    in_gap = add_location(p, sized + 5);
    in_first = add_location(p, sized + 10);
    in_second = add_location(p, sized + 13);
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, in_sized, 0), "sized");
    assert_string_equal(symbol_function(p, in_gap, 0), "");
    assert_string_equal(symbol_function(p, in_first, 0), "first_label");
    assert_string_equal(symbol_function(p, in_second, 0), "second_label");
    assert_lacks(p, "no debug information");
    profile_free(p);
}

/* If this fails, a program rebuilt since the recording is shown with plausible, wrong names. */
static void
a_changed_file_gives_no_names(void **state)
{
    struct profile *p;
    uint32_t l;

    (void)state;
    if (!have("gcc"))
        skip();
    compile("gcc", "-O2 -g -Wl,--build-id=0x00112233445566778899aabb", "inline_chain.c", "changed");
    p = new_profile("changed");
    symbol_read_build_id(&p->modules[1], "changed");
    assert_int_equal(p->modules[1].build_id_bytes, 12);
    l = add_location(p, symbol_address_of("changed", "mark"));
    compile("gcc", "-O2 -g -Wl,--build-id=0xffeeddccbbaa998877665544", "inline_chain.c", "changed");
    test_symbol_resolve(p, true);
    assert_int_equal(p->locations[l].frame_count, 1);
    assert_int_equal(frame(p, l, 0)->function, 0);
    assert_lacks(p, "has changed since the recording (build id ffeeddccbbaa998877665544, recorded "
                    "00112233445566778899aabb)");
    profile_free(p);
}

/* Return M's name for the variable 8 bytes into "table" of FILE. */
static const char *
variable_at(const struct profile_module *m, const char *file, struct arena *arena)
{
    struct profile *p = new_profile(file);
    uint64_t off = 0;
    const char *name = variable_name(p, m, symbol_address_of(file, "table") + 8, arena, &off);

    assert_int_equal(off, name != NULL ? 8 : 0);
    profile_free(p);
    return name;
}

/* If this fails, the referrers of a block in a dump are named by a program rebuilt since. */
static void
variables_are_those_of_the_recorded_file(void **state)
{
    struct arena arena = {0};
    struct profile_module m = {.path = arena_strdup(&arena, in_directory("libtable.so"))};

    (void)state;
    if (!have("gcc")) {
        arena_release(&arena);
        skip();
    }
    compile("gcc", "-shared -fPIC -Wl,--build-id=0x00112233445566778899aacc", "variables.c",
            "libtable.so");
    // No build id was recorded.
    assert_string_equal(variable_at(&m, "libtable.so", &arena), "table");
    symbol_read_build_id(&m, "libtable.so");
    assert_string_equal(variable_at(&m, "libtable.so", &arena), "table");
    compile("gcc", "-shared -fPIC -Wl,--build-id=0xffeeddccbbaa998877665566", "variables.c",
            "libtable.so");
    assert_null(variable_at(&m, "libtable.so", &arena));
    arena_release(&arena);
}

/* If this fails, the user does not learn why names are missing, or a FIFO hangs the report. */
static void
unusable_files_are_told_in_hints(void **state)
{
    static const struct {
        const char *file, *hint;
    } cases[] = {
        { "no-such-file", "is missing" },
        { "fifo", "cannot be read (not a regular file)" },
        { "text", "cannot be read (not an ELF file)" },
    };

    (void)state;
    assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
    assert_true(shell("echo hello >%s", in_directory("text")));
    for (size_t i = 0; i < countof(cases); i++) {
        struct profile *p = new_profile(cases[i].file);
        uint32_t l = add_location(p, 0x1234);

        test_symbol_resolve(p, true);
        assert_int_equal(p->locations[l].frame_count, 1);
        assert_int_equal(frame(p, l, 0)->function, 0);
        assert_int_equal(frame(p, l, 0)->module, 1);
        assert_lacks(p, cases[i].hint);
        profile_free(p);
    }
}

/* If this fails, users get hints that they cannot follow. */
static void
what_needs_no_file_gives_no_hint(void **state)
{
    struct profile *p = new_profile("[vdso]");
    uint32_t l = add_location(p, 0x900);

    (void)state;
    test_symbol_resolve(p, true);
    assert_int_equal(frame(p, l, 0)->function, 0);
    assert_lacks_nothing(p);
    profile_free(p);

    p = new_profile("missing-but-without-location");
    test_symbol_resolve(p, true);
    assert_lacks_nothing(p);
    profile_free(p);
}

/* If this fails, a packed profile opened on another machine loses the names it contains. */
static void
names_that_came_with_a_profile_stay(void **state)
{
    struct profile *p = new_profile("no-such-file");
    struct err err = {0};
    uint32_t l = add_location(p, 0x10);

    (void)state;
    profile_add_frame(
        p, &(struct profile_frame){.function = strtab_id(&p->strings, "known"), .module = 1});
    p->locations[l].frame_count = 1;
    p->modules[1].build_id_bytes = 4;
    p->symbolised = true;
    assert_int_equal(symbol_resolve(p, NULL, &err), 0);
    assert_string_equal(symbol_function(p, l, 0), "known");
    assert_lacks(p, "is missing here");
    profile_free(p);
}

/* If this fails, a debug package that is installed after a profile was packed gives it no names, or
 * names come from a file other than the recorded one. */
static void
a_packed_profile_gets_what_it_lacks(void **state)
{
    struct profile *p;
    uint64_t mark;
    uint32_t l;

    (void)state;
    if (!have("gcc") || !have("objcopy"))
        skip();
    compile("gcc", "-O2 -g -Wl,--build-id=0x1234567890abcdef12345678", "inline_chain.c", "packed");
    p = new_profile("packed");
    symbol_read_build_id(&p->modules[1], "packed");
    mark = symbol_address_of("packed", "mark");
    l = add_location(p, mark);
    assert_true(shell("cd %s && objcopy --only-keep-debug packed p.debug && strip packed && "
                      "objcopy --add-gnu-debuglink=p.debug packed && mv p.debug p.hidden && "
                      "cp packed packed.right",
                      directory));
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, l, 0), "");
    assert_int_equal(p->modules[1].symbols, SYMBOLS_EXPORTS);
    assert_lacks(p, "is stripped");

    // The profile is as read from a file. The debug file exists, but the module is another one.
    assert_true(shell("cd %s && mv p.hidden p.debug && gcc -Wl,--build-id=0x12345678 -o packed "
                      "\"$OLDPWD/test/symbol/inline_chain.c\"",
                      directory));
    p->sought = false;
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, l, 0), "");
    assert_lacks(p, "has changed since the recording (build id 12345678, recorded "
                    "1234567890abcdef12345678)");

    // Both files exist.
    assert_true(shell("cd %s && cp packed.right packed", directory));
    p->sought = false;
    p->typed = true;
    test_symbol_resolve(p, true);
    assert_int_equal(p->locations[l].frame_count, 4);
    assert_string_equal(symbol_function(p, l, 0), "inner");
    assert_int_equal(p->locations[l].function_start, 0);
    assert_int_equal(p->modules[1].symbols, SYMBOLS_DEBUG);
    assert_true(p->types_outdated);
    assert_lacks_nothing(p);

    // Known names stay when the files are gone, and are not looked up again.
    assert_true(shell("cd %s && rm packed p.debug", directory));
    p->sought = false;
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, l, 0), "inner");
    assert_lacks_nothing(p);
    profile_free(p);
}

/* If this fails, a packed profile takes names from a file that merely has the recorded path. */
static void
without_a_build_id_a_packed_profile_stays_as_it_is(void **state)
{
    struct profile *p;
    uint32_t l;

    (void)state;
    if (!have("gcc"))
        skip();
    compile("gcc", "-O2 -g -Wl,--build-id=none", "inline_chain.c", "anonymous");
    p = new_profile("anonymous");
    l = add_location(p, symbol_address_of("anonymous", "mark"));
    profile_add_frame(p, &(struct profile_frame){.module = 1});
    p->locations[l].frame_count = 1;
    p->symbolised = true;
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, l, 0), "");
    profile_free(p);
}

/* If this fails, a stripped function has a row for each call in it, or several functions share
 * one. */
static void
a_nameless_function_is_known_by_its_beginning(void **state)
{
    struct profile_module id = {0};
    uint64_t mark, outer, start;
    struct profile *p;

    (void)state;
    if (!have("gcc") || !have("strip"))
        skip();
    compile("gcc", "-O2 -Wl,--build-id=0x4455667788990011", "inline_chain.c", "nameless");
    symbol_read_build_id(&id, "nameless");
    mark = symbol_address_of("nameless", "mark");
    outer = symbol_address_of("nameless", "outer");
    start = symbol_address_of("nameless", "_start");
    assert_true(shell("strip %s", in_directory("nameless")));
    // In the second round, the names come from the cache, and the file is gone.
    for (int i = 0; i < 2; i++) {
        p = new_profile("nameless");
        p->modules[1].build_id_bytes = id.build_id_bytes;
        memcpy(p->modules[1].build_id, id.build_id, sizeof id.build_id);
        add_location(p, start + 4);
        add_location(p, mark);
        add_location(p, mark + 1);
        p->locations[3].exact = false;
        add_location(p, outer);
        add_location(p, 8);
        test_symbol_resolve(p, false);
        assert_int_equal(p->locations[1].function_start, start + BIAS);
        assert_int_equal(p->locations[1].same, 1);
        for (uint32_t l = 2; l <= 4; l++) {
            assert_string_equal(symbol_function(p, l, 0), "");
            assert_int_equal(p->locations[l].function_start, outer + BIAS);
            assert_int_equal(p->locations[l].same, 2);
        }
        assert_int_equal(p->locations[5].function_start, 0);
        assert_int_equal(p->locations[5].same, 0);

        // A packed profile of an older version lacks both.
        for (uint32_t l = 1; l <= 5; l++)
            p->locations[l].function_start = p->locations[l].same = 0;
        p->modules[1].symbols = SYMBOLS_UNKNOWN;
        p->sought = false;
        test_symbol_resolve(p, false);
        assert_int_equal(p->locations[3].function_start, outer + BIAS);
        assert_int_equal(p->locations[3].same, 2);
        profile_free(p);
        assert_true(shell("rm -f %s", in_directory("nameless")));
    }
}

/* --- Progress with several modules ------------------------------------------------------------ */

static void
note_progress(void *arg, size_t done, size_t total)
{
    size_t *last = arg;

    assert_true(done > *last && done <= total);
    *last = done;
}

/* If this fails, progress stops short, or a library loaded twice gets the wrong module. */
static void
progress_reaches_the_end(void **state)
{
    struct profile *p = new_profile("no-such-file");
    struct profile_module *modules = arena_array(&p->arena, 3, sizeof *modules);
    size_t last = 0;
    struct symbol_options options = {
        .no_cache = true, .progress = note_progress, .progress_arg = &last,
    };
    struct err err = {0};

    (void)state;
    modules[0] = p->modules[0];
    modules[1] = modules[2] = p->modules[1];
    modules[2].bias = 2 * BIAS;
    p->modules = modules;
    p->module_count = 3;
    add_location(p, 0x10);
    add_location(p, 0x10);
    add_location(p, 0x10 + BIAS);
    p->locations[3].module = 2;
    assert_int_equal(symbol_resolve(p, &options, &err), 0);
    assert_int_equal(last, 3);
    assert_int_equal(p->locations[1].first_frame, p->locations[2].first_frame);
    assert_int_equal(frame(p, 1, 0)->module, 1);
    assert_int_equal(frame(p, 3, 0)->module, 2);
    assert_lacks(p, "is missing");
    profile_free(p);
}

/* --- The cache ----------------------------------------------------------------------------------
 */

/* Return the location of a profile with one location, at "mark" of FILE, resolved with the
 * cache. */
static struct profile *
resolve_cached(const char *file, const struct profile_module *like, uint64_t mark)
{
    struct profile *p = new_profile(file);

    p->modules[1].build_id_bytes = like->build_id_bytes;
    memcpy(p->modules[1].build_id, like->build_id, sizeof like->build_id);
    add_location(p, mark);
    test_symbol_resolve(p, false);
    return p;
}

static void
assert_same_frames(const struct profile *a, const struct profile *b)
{
    assert_int_equal(a->frame_count, b->frame_count);
    for (uint32_t i = 0; i < a->frame_count; i++) {
        const struct profile_frame *x = &a->frames[i];
        const struct profile_frame *y = &b->frames[i];

        assert_string_equal(profile_string(a, x->function), profile_string(b, y->function));
        assert_string_equal(profile_string(a, x->linkage), profile_string(b, y->linkage));
        assert_string_equal(profile_string(a, x->file), profile_string(b, y->file));
        assert_int_equal(x->line, y->line);
        assert_int_equal(x->inlined, y->inlined);
        assert_int_equal(x->module, y->module);
    }
}

/* If this fails, the second report differs from the first, reads damaged caches, or leaves a cache
 * that others may read. */
static void
the_cache_gives_the_same_frames(void **state)
{
    char cache[512];
    struct profile_module id = {0};
    struct profile *cold, *warm;
    struct stat st;
    uint64_t mark;

    (void)state;
    if (!have("gcc"))
        skip();
    snprintf(cache, sizeof cache, "cache/heaptap/0102030405060708090a0b0c%s/cached", directory);
    for (char *slash = strchr(cache + 14, '/'); slash != NULL; slash = strchr(slash, '/'))
        *slash = '+';
    compile("gcc", "-O2 -g -Wl,--build-id=0x0102030405060708090a0b0c", "inline_chain.c", "cached");
    symbol_read_build_id(&id, "cached");
    mark = symbol_address_of("cached", "mark");
    cold = resolve_cached("cached", &id, mark);
    assert_int_equal(cold->frame_count, 4);
    assert_int_equal(stat(in_directory(cache), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(in_directory("cache/heaptap"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);

    assert_int_equal(rename(in_directory("cached"), in_directory("cached.away")), 0);
    warm = resolve_cached("cached", &id, mark);
    assert_same_frames(cold, warm);
    assert_lacks_nothing(warm);
    profile_free(warm);

    // A flipped bit in the last string makes the cache invalid, so the names are looked up in the
    // missing file.
    assert_true(shell("cd %s && size=$(stat -c %%s %s) && printf X | dd of=%s bs=1 "
                      "seek=$((size - 3)) conv=notrunc status=none", directory, cache, cache));
    warm = resolve_cached("cached", &id, mark);
    assert_int_equal(warm->frame_count, 1);
    assert_lacks(warm, "is missing");
    profile_free(warm);

    assert_int_equal(rename(in_directory("cached.away"), in_directory("cached")), 0);
    profile_free(resolve_cached("cached", &id, mark));
    assert_int_equal(rename(in_directory("cached"), in_directory("cached.away")), 0);
    warm = resolve_cached("cached", &id, mark);
    assert_same_frames(cold, warm);
    profile_free(warm);
    profile_free(cold);
}

/* If this fails, installing a debug package changes nothing until the cache is deleted by hand. */
static void
the_cache_learns_of_new_debug_information(void **state)
{
    struct profile_module id = {0};
    struct profile *p;
    uint64_t mark;

    (void)state;
    if (!have("gcc") || !have("objcopy"))
        skip();
    compile("gcc", "-O2 -g -Wl,--build-id=0x77770405060708090a0b0c0d", "inline_chain.c", "later");
    symbol_read_build_id(&id, "later");
    mark = symbol_address_of("later", "mark");
    assert_true(shell("cd %s && objcopy --only-keep-debug later later.debug && strip -g later"
                      " && mv later.debug away && objcopy --add-gnu-debuglink=away later 2>&1"
                      " && mv away hidden", directory));
    p = resolve_cached("later", &id, mark);
    assert_int_equal(p->frame_count, 1);
    assert_string_equal(symbol_function(p, 1, 0), "outer");
    assert_lacks(p, "has no debug information");
    profile_free(p);

    p = resolve_cached("later", &id, mark);
    assert_lacks(p, "has no debug information");
    profile_free(p);

    assert_int_equal(rename(in_directory("hidden"), in_directory("away")), 0);
    p = resolve_cached("later", &id, mark);
    assert_int_equal(p->frame_count, 4);
    assert_lacks_nothing(p);
    profile_free(p);
}

/* If this fails, setting a debuginfod server, or installing a debug package for a rebuilt program,
 * removes the names from old profiles. */
static void
the_cache_is_kept_if_the_file_cannot_be_had(void **state)
{
    struct profile_module id = {0};
    struct profile *p;
    uint64_t mark;

    (void)state;
    if (!have("gcc"))
        skip();
    compile("gcc", "-O2 -Wl,--build-id=0x66660405060708090a0b0c0d", "inline_chain.c", "gone");
    symbol_read_build_id(&id, "gone");
    mark = symbol_address_of("gone", "mark");
    p = resolve_cached("gone", &id, mark);
    assert_string_equal(symbol_function(p, 1, 0), "outer");
    profile_free(p);

    compile("gcc", "-O2 -Wl,--build-id=0x66660405060708090a0b0cff", "inline_chain.c", "gone");
    // The server is asked for the debug information of existing files.
    setenv("DEBUGINFOD_URLS", "file:///nowhere", 1);
    p = resolve_cached("gone", &id, mark);
    unsetenv("DEBUGINFOD_URLS");
    assert_string_equal(symbol_function(p, 1, 0), "outer");
    assert_int_equal(p->modules[1].file, FILE_CHANGED);
    profile_free(p);
}

static void
fill_cache(struct symcache *c)
{
    static const struct symbol_frame two[] = {
        { .function = "f(int)", .linkage = "_Z1fi", .file = "/a.c", .line = 7, .inlined = true },
        { .function = "g", .linkage = "g", .file = "/a.c", .line = 9, .local = true },
    };
    static const struct symbol_frame none;

    c->detail = DETAIL_DEBUG;
    c->asked_server = true;
    symcache_add(c, 0x2000, two, 2, 0);
    symcache_add(c, 0x1000, &none, 1, 0x21);
}

/* If this fails, a damaged cache file is trusted, or read out of bounds. */
static void
the_cache_refuses_every_damage(void **state)
{
    const uint8_t id[4] = { 1, 2, 3, 4 };
    const uint8_t other_id[4] = { 1, 2, 3, 5 };
    struct symcache c = {0}, back = {0};
    struct strbuf good = {0};
    const struct symcache_entry *e;
    const struct symbol_frame *f;

    (void)state;
    fill_cache(&c);
    symcache_format(&c, id, sizeof id, &good);
    assert_true(symcache_parse(&back, id, sizeof id, good.text, good.length));
    e = symcache_find(&back, 0x2000);
    assert_int_equal(e->frame_count, 2);
    f = &back.frames[e->first_frame];
    assert_string_equal(f[0].function, "f(int)");
    assert_true(f[0].inlined && !f[1].inlined);
    assert_true(!f[0].local && f[1].local);
    assert_int_equal(f[1].line, 9);
    e = symcache_find(&back, 0x1000);
    assert_null(back.frames[e->first_frame].function);
    assert_int_equal(e->into, 0x21);
    assert_null(symcache_find(&back, 0x1fff));
    assert_true(back.detail == DETAIL_DEBUG && back.asked_server && !back.changed);
    symcache_release(&back);

    assert_false(symcache_parse(&back, other_id, sizeof other_id, good.text, good.length));
    for (size_t length = 0; length < good.length; length++)
        assert_false(symcache_parse(&back, id, sizeof id, good.text, length));
    for (size_t bit = 0; bit < good.length * 8; bit++) {
        good.text[bit / 8] ^= (char)(1 << bit % 8);
        assert_false(symcache_parse(&back, id, sizeof id, good.text, good.length));
        good.text[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_int_equal(back.entry_count, 0);
    strbuf_release(&good);
    symcache_release(&c);
}

/* If this fails, a read-only home directory breaks reports. */
static void
an_unwritable_cache_is_silent(void **state)
{
    struct profile_module id = { .build_id = { 9, 9, 9 }, .build_id_bytes = 3 };
    struct profile *p;

    (void)state;
    setenv("XDG_CACHE_HOME", "/dev/null/cache", 1);
    p = resolve_cached("no-such-file", &id, 0x10);
    setenv("XDG_CACHE_HOME", in_directory("cache"), 1);
    assert_lacks(p, "is missing");
    profile_free(p);
}

/* --- JIT code -----------------------------------------------------------------------------------
 */

/* Check that the perf map at PATH, which covers 0x1010, is rejected; remove it. */
static void
assert_no_jit_name(const char *path)
{
    struct profile *p = new_profile("[vdso]");
    uint32_t location = add_location(p, 0x1010 - BIAS);

    p->process.pid = (uint32_t)getpid();
    p->locations[location].module = 0;
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, location, 0), "");
    profile_free(p);
    assert_int_equal(unlink(path), 0);
}

/* If this fails, code from a program's first milliseconds has no names, or another process's. */
static void
a_map_written_at_once_is_its_process_s(void **state)
{
    static const struct {
        uint64_t late_ms;
        const char *name;
    } tries[] = {{5, "first"}, {50, ""}};
    char path[64];
    struct stat st;

    (void)state;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    assert_true(shell("echo 1000 200 first >%s", path));
    assert_int_equal(stat(path, &st), 0);
    for (size_t i = 0; i < countof(tries); i++) {
        struct profile *p = new_profile("[vdso]");
        uint32_t at = add_location(p, 0x1010 - BIAS);

        p->process.pid = (uint32_t)getpid();
        p->process.start_unix_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
                                   (uint64_t)st.st_mtim.tv_nsec + tries[i].late_ms * 1000000;
        p->locations[at].module = 0;
        test_symbol_resolve(p, true);
        assert_string_equal(symbol_function(p, at, 0), tries[i].name);
        profile_free(p);
    }
    unlink(path);
}

/* If this fails, code generated at run time has no names, another process's, or escape sequences in
 * names. */
static void
jit_code_is_named_by_its_own_map(void **state)
{
    struct profile *p = new_profile("[vdso]");
    char path[64];
    uint32_t old, replaced, outside;
    FILE *f;

    (void)state;
    p->process.pid = (uint32_t)getpid();
    p->process.start_unix_ns = 1; // The map is newer.
    old = add_location(p, 0x1010 - BIAS);
    replaced = add_location(p, 0x1110 - BIAS);
    outside = add_location(p, 0x3000 - BIAS);
    for (uint32_t i = 1; i < p->location_count; i++)
        p->locations[i].module = 0;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "1000 200 LazyCompile:~run\033[31m app.js:3\nnonsense\n"
               "0x1100 80 later\n3000 zz x\n");
    fclose(f);
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, old, 0), "LazyCompile:~run?[31m app.js:3");
    assert_string_equal(symbol_function(p, replaced, 0), "later");
    assert_string_equal(symbol_function(p, outside, 0), "");
    assert_lacks_nothing(p);
    profile_free(p);

    // The process has another root.
    p = new_profile("[vdso]");
    p->process.pid = (uint32_t)getpid();
    p->process.start_unix_ns = 1; // The map is newer.
    p->sysroot = arena_strdup(&p->arena, in_directory("jail"));
    old = add_location(p, 0x1010 - BIAS);
    p->locations[old].module = 0;
    assert_true(shell("mkdir -p %s/tmp && echo 1000 200 jailed >%s/tmp/perf-%d.map", p->sysroot,
                      p->sysroot, (int)getpid()));
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, old, 0), "jailed");
    profile_free(p);

    // This map was written before the process started, so it belongs to an earlier process with the
    // same id.
    p = new_profile("[vdso]");
    p->process.pid = (uint32_t)getpid();
    p->process.start_unix_ns = UINT64_C(1) << 62;
    old = add_location(p, 0x1010 - BIAS);
    p->locations[old].module = 0;
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, old, 0), "");
    profile_free(p);

    // The map is a link, or (as root, which can create one) another user's.
    assert_int_equal(rename(path, in_directory("perf.map")), 0);
    assert_int_equal(symlink(in_directory("perf.map"), path), 0);
    assert_no_jit_name(path);
    if (geteuid() == 0) {
        f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "1000 200 foreign\n");
        fclose(f);
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_no_jit_name(path);
    }
}

/* If this fails, a bad address in a damaged stack is shown as a function of a script. */
static void
a_named_frame_gives_its_name_to_no_address(void **state)
{
    struct profile *p = new_profile("[vdso]");
    uint32_t named = add_location(p, 4 - BIAS), address = add_location(p, 4 - BIAS);
    struct profile_frame f = {.function = strtab_id(&p->strings, "fill"),
                              .language = strtab_id(&p->strings, "Lua")};

    (void)state;
    p->process.pid = (uint32_t)getpid();
    p->locations[named].module = p->locations[address].module = 0;
    p->locations[named].first_frame = (uint32_t)p->frame_count;
    p->locations[named].frame_count = 1;
    profile_add_frame(p, &f);
    test_symbol_resolve(p, true);
    assert_string_equal(symbol_function(p, named, 0), "fill");
    assert_string_equal(symbol_function(p, address, 0), "");
    profile_free(p);
}

/* If this fails, overlapping functions are missed, or the outer is found before the inner. */
static void
the_innermost_range_comes_first(void **state)
{
    static const struct {
        uint64_t low, high;
    } ranges[] = { { 40, 50 }, { 10, 100 }, { 20, 30 }, { 20, 90 }, { 60, 60 }, { 70, 65 } };
    static const uint32_t at_45[] = { 0, 3, 1 };
    struct arena arena = {0};
    struct ranges r = {0};
    const struct range *x;
    size_t cursor;
    size_t found = 0;

    (void)state;
    for (uint32_t i = 0; i < countof(ranges); i++)
        ranges_add(&r, &arena, ranges[i].low, ranges[i].high, i);
    ranges_sort(&r, &arena);
    assert_int_equal(r.count, 4);
    cursor = ranges_start(&r, 45);
    while ((x = ranges_next(&r, 45, &cursor)) != NULL)
        assert_int_equal(x->id, at_45[found++]);
    assert_int_equal(found, 3);
    cursor = ranges_start(&r, 100);
    assert_null(ranges_next(&r, 100, &cursor));
    cursor = ranges_start(&r, 9);
    assert_null(ranges_next(&r, 9, &cursor));
    arena_release(&arena);
}

static int
symbol_set_up(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL)
        return -1;
    setenv("XDG_CACHE_HOME", in_directory("cache"), 1);
    unsetenv("DEBUGINFOD_URLS");
    return 0;
}

static int
symbol_tear_down(void **state)
{
    (void)state;
    return shell("rm -rf %s", directory) ? 0 : -1;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_range_comes_first),
        cmocka_unit_test(inlined_calls_are_frames),
        cmocka_unit_test(cplusplus_names_have_their_scopes),
        cmocka_unit_test(separate_debug_files_are_found),
        cmocka_unit_test(files_are_looked_for_below_the_prefix),
        cmocka_unit_test(a_stripped_library_has_its_exports),
        cmocka_unit_test(a_symbol_covers_only_its_size),
        cmocka_unit_test(a_changed_file_gives_no_names),
        cmocka_unit_test(variables_are_those_of_the_recorded_file),
        cmocka_unit_test(unusable_files_are_told_in_hints),
        cmocka_unit_test(what_needs_no_file_gives_no_hint),
        cmocka_unit_test(names_that_came_with_a_profile_stay),
        cmocka_unit_test(a_packed_profile_gets_what_it_lacks),
        cmocka_unit_test(without_a_build_id_a_packed_profile_stays_as_it_is),
        cmocka_unit_test(a_nameless_function_is_known_by_its_beginning),
        cmocka_unit_test(progress_reaches_the_end),
        cmocka_unit_test(the_cache_gives_the_same_frames),
        cmocka_unit_test(the_cache_learns_of_new_debug_information),
        cmocka_unit_test(the_cache_is_kept_if_the_file_cannot_be_had),
        cmocka_unit_test(the_cache_refuses_every_damage),
        cmocka_unit_test(an_unwritable_cache_is_silent),
        cmocka_unit_test(jit_code_is_named_by_its_own_map),
        cmocka_unit_test(a_named_frame_gives_its_name_to_no_address),
        cmocka_unit_test(a_map_written_at_once_is_its_process_s),
    };

    return cmocka_run_group_tests(tests, symbol_set_up, symbol_tear_down);
}
