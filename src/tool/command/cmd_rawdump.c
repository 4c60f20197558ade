/* cmd_rawdump.c: `heaptap rawdump`: show the annotated blocks in any copy of memory.
 *
 * Blocks contain their word size and byte order, but the program's file takes precedence: blocks of
 * another kind do not belong to the program. They are reported with a message and left out, because
 * their stacks would get wrong names. The same applies to blocks that contradict an address given
 * by the user. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyse/frame_name.h"
#include "command/dump_names.h"
#include "command/runner.h"
#include "command/sink.h"
#include "json/json.h"
#include "layout/core_modules.h"
#include "open/symbolise.h"
#include "option/shared_opts.h"
#include "profile/pack.h"
#include "profile/writer.h"
#include "text/text.h"
#include "view/messages.h"
#include "view/style.h"

enum { PROGRESS_NS = 100000000 };

static const char *const word_names[] = {"32", "64", NULL};
static const char *const endian_names[] = {"little", "big", NULL};

struct rawdump_options {
    struct view_options view;
    const char *elf, *loaded_at, *base, *map, *addr2line, *output;
    int word, endian; // Indices into the names; -1 = not given.
};
static const struct rawdump_options defaults = {.word = -1, .endian = -1};

/* The inputs, and the results of reading them. */
struct dump {
    const struct rawdump_options *o;
    struct arena arena;
    struct memory_file program; // True if elf is set.
    const char *program_path;   // Absolute.
    struct memory_file *images;
    size_t image_count;
    struct memory_parts parts;
    int kind; // enum annotation_kind of the program; -1 = unknown.
    uint64_t bias; // Load bias of the program, from the address given by the user.
    struct annotated_memory found;
    struct annotated_places places;
    struct profile *p;
};

/* --- Inputs -----------------------------------------------------------------------------------*/

static bool
parse_address(const char *text, uint64_t *ret)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *ret = strtoull(text, &end, 0);
    return *end == '\0';
}

/* Return the kind of block from the options, or the program's; -1 = unknown. */
static int
cmd_rawdump_choose_kind(const struct dump *d)
{
    const struct rawdump_options *o = d->o;
    int kind = o->elf != NULL ? (int)d->program.facts.kind : -1;

    if (o->word < 0 && o->endian < 0)
        return kind;
    if (kind < 0)
        kind = ANNOTATION_32_LITTLE;
    if (o->word >= 0)
        kind = (kind & 2) | o->word;
    if (o->endian >= 0)
        kind = (kind & 1) | o->endian << 1;
    return kind;
}

/* Set the program's load bias from --loaded-at. Returns 0 or a negative heaptap_errc. */
static int
place_program(struct dump *d, struct err *err)
{
    const char *text = d->o->loaded_at;
    uint64_t address, first;

    if (text == NULL)
        return 0;
    if (!parse_address(text, &address))
        return err_set(err, HEAPTAP_USAGE, "--loaded-at: '%s' is no address", text);
    if (!elf_facts_first_address(&d->program.facts, &first))
        return err_set(err, HEAPTAP_BAD_INPUT, "%s has no segments to be loaded", d->o->elf);
    d->bias = address - first;
    return 0;
}

static int
open_program(struct dump *d, struct err *err)
{
    char *path;
    int rc;

    if (d->o->elf == NULL)
        return 0;
    rc = memory_file_open(d->o->elf, &d->arena, &d->program, err);
    if (rc != 0) {
        d->program.fd = -1;
        return rc;
    }
    rc = memory_file_read_elf(&d->program, &d->arena, err);
    if (rc == 0 && d->program.facts.type == 4)
        rc = err_set(err, HEAPTAP_BAD_INPUT,
                     "%s is a core; --elf wants the program, the core is an IMAGE", d->o->elf);
    if (rc == 0)
        rc = place_program(d, err);
    path = realpath(d->o->elf, NULL);
    d->program_path = arena_strdup(&d->arena, path != NULL ? path : d->o->elf);
    free(path);
    return rc;
}

/* Split TEXT, IMAGE[@ADDR]. If a file has the whole text as its name, there is no address. */
static int
split_image(struct dump *d, const char *text, const char **ret_path, const uint64_t **ret_base,
            struct err *err)
{
    const char *at = strrchr(text, '@'), *address = d->o->base;
    uint64_t *base = arena_alloc(&d->arena, sizeof *base);

    *ret_path = text;
    *ret_base = NULL;
    if (at != NULL && access(text, F_OK) != 0) {
        *ret_path = arena_strndup(&d->arena, text, (size_t)(at - text));
        address = at + 1;
    }
    if (address == NULL)
        return 0;
    if (!parse_address(address, base))
        return err_set(err, HEAPTAP_USAGE,
                       "'%s' is no address: write it as 0x20000000, or in decimal", address);
    *ret_base = base;
    return 0;
}

static int
check_machine(const struct dump *d, const struct memory_file *image, struct err *err)
{
    struct arena scratch = {0};
    int rc = 0;

    if (d->o->elf != NULL && image->is_core &&
        image->facts.machine != d->program.facts.machine)
        rc = err_set(err, HEAPTAP_BAD_INPUT, "%s is the core of a program for %s, and %s is for %s",
                     image->path, elf_facts_machine(image->facts.machine, &scratch), d->o->elf,
                     elf_facts_machine(d->program.facts.machine, &scratch));
    arena_release(&scratch);
    return rc;
}

static int
open_image(struct dump *d, const char *text, struct err *err)
{
    struct memory_file *image = &d->images[d->image_count];
    const uint64_t *base;
    const char *path;
    int rc = split_image(d, text, &path, &base, err);

    if (rc == 0)
        rc = memory_file_open(path, &d->arena, image, err);
    if (rc != 0)
        return rc;
    d->image_count++;
    rc = memory_file_parts(image, base, &d->arena, &d->parts, err);
    if (rc == 0)
        rc = check_machine(d, image, err);
    if (rc == 0 && image->missing_bytes > 0)
        message_warning("%s is truncated: %s of the memory are missing", image->path,
                        style_bytes(&d->arena, (int64_t)image->missing_bytes));
    return rc;
}

static int
open_all(struct dump *d, int count, char **arguments, struct err *err)
{
    int rc = 0;

    if (d->o->base != NULL && count > 1)
        return err_set(err, HEAPTAP_USAGE,
                       "--base is for one image; of several write IMAGE@ADDR each");
    if (d->o->elf == NULL && d->o->endian >= 0 && d->o->word < 0)
        return err_set(err, HEAPTAP_USAGE, "--endian without --elf needs --word as well");
    if (d->o->loaded_at != NULL && d->o->elf == NULL)
        return err_set(err, HEAPTAP_USAGE, "--loaded-at needs --elf");
    if (d->o->addr2line != NULL && (d->o->elf == NULL || d->o->map != NULL))
        return err_set(err, HEAPTAP_USAGE, "--addr2line needs --elf, and excludes --map");
    d->images = arena_array(&d->arena, (size_t)count, sizeof *d->images);
    rc = open_program(d, err);
    for (int i = 0; i < count && rc == 0; i++)
        rc = open_image(d, arguments[i], err);
    if (rc == 0)
        rc = memory_parts_join(&d->parts, &d->arena, err);
    d->kind = cmd_rawdump_choose_kind(d);
    return rc;
}

/* --- Finding ---------------------------------------------------------------------------------- */

struct progress {
    struct timespec last;
    bool shown;
};

static void
cmd_rawdump_show_progress(void *arg, uint64_t done, uint64_t total)
{
    struct progress *p = arg;
    struct arena a = {0};
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((now.tv_sec - p->last.tv_sec) * 1000000000L + now.tv_nsec - p->last.tv_nsec < PROGRESS_NS)
        return;
    if (p->last.tv_sec != 0) {
        fprintf(stderr, "\rheaptap: looking for blocks, %s of %s\x1b[K",
                style_bytes(&a, (int64_t)done), style_bytes(&a, (int64_t)total));
        p->shown = true;
    }
    p->last = now;
    arena_release(&a);
}

static void
cmd_rawdump_find(struct dump *d)
{
    struct progress progress = {0};
    struct annotated_options options = {.kind = d->kind, .progress_arg = &progress};

    if (style_shows_progress())
        options.progress = cmd_rawdump_show_progress;
    annotated_find(d->parts.v, d->parts.count, &options, &d->found);
    if (progress.shown)
        fputs("\r\x1b[K", stderr);
}

/* Return the most frequent kind of block other than the chosen one; -1 if there is none. */
static int
other_kind(const struct annotated_memory *m)
{
    int best = -1;

    for (int i = 0; i < ANNOTATION_KINDS; i++)
        if (i != (int)m->kind && m->by_kind[i] > 0 &&
            (best < 0 || m->by_kind[i] > m->by_kind[best]))
            best = i;
    return best;
}

/* Return the first part whose blocks contradict the address that the user gave for the part; NULL
 * if there is none. */
static const struct memory_part *
misplaced_part(const struct annotated_memory *m)
{
    for (size_t i = 0; i < m->part_count; i++)
        if (m->parts[i].base_known && m->parts[i].stated_count > 0 &&
            (uint32_t)m->parts[i].stated_base != (uint32_t)m->parts[i].base)
            return &m->parts[i];
    return NULL;
}

/* Return the address nearest to the user's that agrees with the address bits in the blocks of
 * PART. */
static uint64_t
told_address(const struct annotated_memory *m, const struct memory_part *part)
{
    int64_t distance = (int32_t)((uint32_t)part->stated_base - (uint32_t)part->base);
    uint64_t address = part->base + (uint64_t)distance;

    return annotation_word_bytes(m->kind) == 4 ? (uint32_t)address : address;
}

/* Return the end of a sentence about blocks of another kind, which explains how to show these
 * blocks. */
static const char *
kind_advice(struct dump *d, enum annotation_kind other)
{
    if (d->o->word >= 0 || d->o->endian >= 0)
        return "without these options, word size and byte order come from the blocks";
    return arena_printf(&d->arena,
                        "is that the program of this memory? --word %s --endian %s shows them",
                        word_names[annotation_word_bytes(other) == 8],
                        endian_names[annotation_is_big(other)]);
}

/* Return true if A and B have a common address. Blocks determine at least 32 bits of it. */
static bool
parts_overlap(const struct memory_part *a, const struct memory_part *b)
{
    bool known = a->base_known && b->base_known;
    uint64_t distance = known ? b->base - a->base : (uint32_t)(b->base - a->base);

    return distance < a->size || (known ? -distance : (uint32_t)-distance) < b->size;
}

/* Check that no images whose addresses follow from their blocks overlap, since their blocks would
 * count twice. memory_parts_join has joined parts with given addresses. Returns 0, or
 * HEAPTAP_BAD_INPUT with ERR set. */
static int
check_derived_bases(const struct annotated_memory *m, struct err *err)
{
    for (size_t i = 0; i < m->part_count; i++) {
        const struct memory_part *a = &m->parts[i];

        for (size_t k = 0; k < m->part_count && !a->base_known && a->stated_count > 0; k++) {
            const struct memory_part *b = &m->parts[k];

            if (k != i && (b->base_known || b->stated_count > 0) && parts_overlap(a, b))
                return err_set(err, HEAPTAP_BAD_INPUT,
                               "%s and %s have memory of the same addresses, by their blocks; give "
                               "one of them, or both with addresses as in %s@0x%" PRIx64,
                               a->name, b->name, a->name, a->base);
        }
    }
    return 0;
}

static void
report_why_none(struct dump *d)
{
    const struct annotated_memory *m = &d->found;
    const struct memory_part *part = misplaced_part(m);
    const char *name = d->image_count == 1 ? d->images[0].path : "the images", *refused;
    int other = other_kind(m);

    if (other >= 0 && m->by_kind[m->kind] == 0) {
        message_error("%s: its %s made with %s, but %s says %s; %s", name,
                      m->by_kind[other] == 1
                      ? "annotated block was"
                      : arena_printf(&d->arena, "%zu annotated blocks were", m->by_kind[other]),
                      annotated_kind_words((enum annotation_kind)other),
                      d->o->word >= 0     ? "--word"
                      : d->o->endian >= 0 ? "--endian"
                                          : d->o->elf,
                      annotated_kind_words(m->kind), kind_advice(d, (enum annotation_kind)other));
    } else if (part != NULL) {
        message_error("%s: its %s lay at 0x%" PRIx64 ", not at 0x%" PRIx64
                      "; give it that address, or none",
                      part->name, style_plural(&d->arena, (int64_t)part->stated_count, "block"),
                      told_address(m, part), part->base);
    } else {
        refused = annotated_refused_words(m, &d->arena);
        message_error("%s: no annotated block in %s of memory%s%s%s", name,
                      style_bytes(&d->arena, (int64_t)(m->read_bytes + m->hole_bytes)),
                      refused ? "; of places that begin like one, " : "", refused ? refused : "",
                      refused ? "" : "; was the program built with heaptap_embedded.c?");
    }
}

/* --- As a profile ----------------------------------------------------------------------------- */

static uint64_t
cmd_rawdump_bias_of(const struct dump *d)
{
    for (size_t i = 0; i < d->image_count && d->o->elf != NULL && !d->o->loaded_at; i++)
        if (d->images[i].is_core && d->images[i].facts.entry_here != 0)
            return d->images[i].facts.entry_here - d->program.facts.entry;
    return d->bias;
}

/* Collect the modules of the cores, and the named program among them. If no core has a list of
 * modules, the program is the only module. */
static struct annotated_program
find_modules(struct dump *d, uint64_t bias)
{
    struct annotated_program program = {.path = d->program_path};
    struct annotated_module *modules;
    bool is_known = d->o->elf == NULL;

    for (size_t i = 0; i < d->image_count && program.module_count == 0; i++) {
        if (!d->images[i].is_core)
            continue;
        program.machine = d->images[i].facts.machine;
        program.modules = core_modules(&d->images[i], &d->parts, &d->arena, &program.module_count);
    }
    modules = arena_array(&d->arena, program.module_count + 1, sizeof *modules);
    for (size_t i = 0; i < program.module_count; i++) {
        modules[i] = program.modules[i];
        if (d->o->elf == NULL || is_known || modules[i].bias != bias ||
            modules[i].facts->entry != d->program.facts.entry)
            continue;
        modules[i] = (struct annotated_module){d->program_path, &d->program.facts, bias};
        is_known = true;
    }
    if (!is_known)
        modules[program.module_count++] =
            (struct annotated_module){d->program_path, &d->program.facts, bias};
    if (d->o->elf != NULL)
        program.machine = d->program.facts.machine;
    program.modules = modules;
    return program;
}

static void
make_profile(struct dump *d)
{
    const char *images = path_basename(d->images[0].path), *refused;
    struct annotated_program program = find_modules(d, cmd_rawdump_bias_of(d));
    struct timespec when = d->images[0].written;
    struct profile_note *note;
    struct profile *p;

    if (d->image_count > 1)
        images = arena_printf(&d->arena, "%s and %s", images,
                              style_plural(&d->arena, (int64_t)d->image_count - 1, "more file"));
    p = annotated_profile(&d->found, &program,
                          d->o->elf ? arena_printf(&d->arena, "%s in %s",
                                                   path_basename(d->o->elf), images)
                                    : images,
                          (uint64_t)when.tv_sec * 1000000000 + (uint64_t)when.tv_nsec, &d->places);
    refused = annotated_refused_words(&d->found, &p->arena);
    note = arena_alloc(&p->arena, sizeof *note);
    *note = (struct profile_note){.kind = NOTE_MEMORY, .advice = "", .process = ""};
    note->text = arena_printf(
        &p->arena, "the blocks found in memory are the live ones; times and frees are not "
                   "known%s%s%s",
        refused ? "; of places that begin like a block, " : "", refused ? refused : "",
        d->found.corruption_count ? "; some are damaged (heaptap rawdump shows them)" : "");
    p->run_notes = note;
    p->run_note_count = 1;
    d->p = p;
}

/* Warn if no return address lies in the code of the program: it may have been relocated when it was
 * loaded. */
static void
warn_of_place(const struct dump *d)
{
    const struct profile *p = d->p;

    for (size_t i = 1; i < p->location_count; i++)
        if (p->locations[i].module != 0)
            return;
    if (d->o->elf != NULL && p->location_count > 1)
        message_warning("no return address lies in the code of %s: either it is not the program of "
                        "this memory, or it was loaded elsewhere; then give --loaded-at ADDR",
                        d->o->elf);
}

static int
name_locations(struct dump *d, struct err *err)
{
    uint64_t bias = cmd_rawdump_bias_of(d);

    if (d->o->map != NULL)
        return dump_names_by_map(d->p, bias, d->o->map, err);
    if (d->o->addr2line != NULL)
        return dump_names_by_command(d->p, bias, d->o->addr2line, d->program_path, err);
    return 0;
}

static int
cmd_rawdump_write_profile(struct dump *d)
{
    struct strbuf file = {0};
    struct err err = {""};
    int rc = symbolise(d->p, &d->o->view.symbols);

    if (rc != 0)
        return rc;
    rc = write_check(d->o->output, &err);
    if (rc == 0)
        rc = write_model(d->p, &file, &err);
    if (rc == 0)
        rc = write_output(&file, d->o->output, &err);
    if (rc == 0)
        rc = sink_print(arena_printf(&d->arena, "%s: %s, %s in %s\n",
                                     style_clean(&d->arena, d->o->output),
                                     style_bytes(&d->arena, (int64_t)file.length),
                                     style_bytes(&d->arena, (int64_t)d->found.bytes),
                                     style_plural(&d->arena, (int64_t)d->found.count, "block")));
    else
        message_error("%s", err.text);
    strbuf_release(&file);
    return rc < 0 ? exit_code(rc) : rc;
}

static int
cmd_rawdump_show(struct shown *s)
{
    const struct dump *d = s->runner->own;
    struct annotated_view found = {
        .memory = &d->found,
        .places = &d->places,
        .sizes = annotated_sizes(&d->found, &d->places, &s->stacks, s->text.base.arena),
    };
    const struct view_extra extra = {
        .arg = &found, .about = text_rawdump_sizes, .members = json_rawdump};

    s->text.base.extra = &extra;
    if (d->o->view.json)
        json_report(s->j, &s->text.base, METRIC_INUSE,
                    s->text.base.limit ? s->text.base.limit : SIZE_MAX);
    else
        text_rawdump(&s->text, &found);
    return 0;
}

static int
show_or_write(struct dump *d)
{
    const struct runner r = {
        .options = &d->o->view,
        .own = d,
        .session = SESSION_TITLES,
        .stacks = STACKS_FOLDED_IN_TEXT,
        .numbered = true,
        .show = cmd_rawdump_show,
    };
    struct err err = {""};
    int rc;

    make_profile(d);
    warn_of_place(d);
    rc = name_locations(d, &err);
    if (rc == 0)
        return d->o->output != NULL ? cmd_rawdump_write_profile(d) : runner_show(&r, d->p);
    message_error("%s", err.text);
    return exit_code(rc);
}

static int
cmd_rawdump_run(const void *given, int count, char **arguments)
{
    struct dump d = {.o = given, .program.fd = -1};
    struct err err = {""};
    int rc = open_all(&d, count, arguments, &err);

    if (rc != 0) {
        message_error("%s", err.text);
        rc = exit_code(rc);
    } else {
        cmd_rawdump_find(&d);
        rc = check_derived_bases(&d.found, &err);
        if (rc != 0) {
            message_error("%s", err.text);
            rc = exit_code(rc);
        } else if (d.found.count == 0) {
            report_why_none(&d);
            rc = EXIT_BAD_INPUT;
        } else {
            rc = show_or_write(&d);
        }
    }
    profile_free(d.p);
    annotated_release(&d.found);
    for (size_t i = 0; i < d.image_count; i++)
        memory_file_close(&d.images[i]);
    if (d.program.fd >= 0)
        memory_file_close(&d.program);
    arena_release(&d.arena);
    return rc;
}

static const struct opt options[] = {
    {OPT_STRING, 0, "elf", &defaults.elf, "PROGRAM",
     "The program whose memory it is: names, lines, word size and byte order come from it. Cores "
     "of Linux say which it was; without it, addresses in other images stay addresses.",
     NULL},
    {OPT_STRING, 0, "loaded-at", &defaults.loaded_at, "ADDR",
     "Address of the first byte of PROGRAM, if it was loaded elsewhere than linked. A core "
     "contains it.",
     NULL},
    {OPT_CHOICE, 0, "word", &defaults.word, "BITS",
     "Accept blocks with words of this size. Default: the size of PROGRAM, or of most blocks.",
     word_names},
    {OPT_CHOICE, 0, "endian", &defaults.endian, "ORDER",
     "Accept blocks with this byte order. Default: the order of PROGRAM, or of most blocks.",
     endian_names},
    {OPT_STRING, 0, "base", &defaults.base, "ADDR",
     "Address of the only image, like IMAGE@ADDR. Default: the address in its blocks; a core "
     "contains it.",
     NULL},
    {OPT_STRING, 0, "map", &defaults.map, "FILE",
     "Take names from a linker's map or from the output of nm, instead of from PROGRAM. Functions "
     "missing there, such as static ones in most maps, get the name of the function before them.",
     NULL},
    {OPT_STRING, 0, "addr2line", &defaults.addr2line, "COMMAND",
     "Ask COMMAND for names, for formats that only a toolchain's own tools read. It is run as "
     "'COMMAND -f -e PROGRAM' with addresses on its standard input, and answers each with two "
     "lines, a function and file:line.",
     NULL},
    {OPT_STRING, 'o', "output", &defaults.output, "FILE",
     "Write a profile for report, diff, export and the other commands, instead of showing the "
     "blocks.",
     NULL},
    {OPT_COUNT, 'n', "limit", &defaults.view.limit, "N",
     "Show at most N stacks. The default is 10, and all in JSON.", NULL},
    {OPT_COUNT, 0, "depth", &defaults.view.depth, "N", "Show at most N frames of a stack.", NULL},
    {OPT_STRING, 0, "filter", &defaults.view.filter, "REGEX",
     "Keep only stacks with a function, file or module that matches REGEX (extended).", NULL},
    {OPT_STRING, 0, "fold", &defaults.view.fold, "REGEX",
     "Charge innermost functions that match REGEX to their callers, as is done with common "
     "wrappers.",
     NULL},
    {OPT_FLAG, 0, "no-fold", &defaults.view.no_fold, NULL,
     "Do not charge the common wrappers to their callers.", NULL},
    SYMBOL_OPTIONS(defaults.view.symbols),
    {OPT_FLAG, 0, "wide", &defaults.view.wide, NULL,
     "Do not cut lines to the terminal's width, or to COLUMNS.", NULL},
    {OPT_FLAG_OF, 0, "json", &defaults.view.json, "LAYOUT",
     "Print JSON (docs/json.md) instead of text, of the shape of report's, with a member about the "
     "memory. LAYOUT is as in report.",
     view_json_layouts},
    {.kind = OPT_END},
};

const struct command command_rawdump = {
    .name = "rawdump",
    .arguments = "IMAGE[@ADDR]...",
    .summary = "find annotated blocks in a copy of memory",
    .description =
        "Finds the blocks of a program with heaptap_embedded.c in any copy of the memory: bytes "
        "fetched by a probe or sent by a device, in one file or several, at the given addresses; "
        "or an ELF core of any processor, which also lists its libraries. Images may overlap if "
        "their common bytes are equal. Each block carries its size and the stack that allocated "
        "it, so only the program is needed, for its names.\n"
        "\n"
        "Blocks with equal stacks are added up. The line below them shows their sizes, where 1023 "
        "x4 means four of 1023 bytes, and the time of their allocation if the program has a clock. "
        "Data that begins like a block but is none is counted with the reason: letters in text and "
        "code, or a copy of a block that the program has made. Overwritten bytes behind blocks "
        "show overflows; the end of the output lists their likely culprits.\n"
        "\n"
        "docs/guide/embedded.md describes the program's part.",
    .examples = "heaptap rawdump --elf firmware.elf ram.bin@0x20000000\tmemory from a probe\n"
                "heaptap rawdump --elf firmware.elf ram.bin\tits blocks contain its address\n"
                "heaptap rawdump --elf prog -o now.heaptap core\ta profile from a core\n"
                "heaptap rawdump --elf app.axf --addr2line 'vendor-addr2line' dump.bin\tnames from "
                "the vendor's toolchain",
    .options = options,
    .defaults = &defaults,
    .defaults_bytes = sizeof defaults,
    .min_arguments = 1,
    .max_arguments = -1,
    .run = cmd_rawdump_run,
};
