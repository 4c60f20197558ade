/* runtime_heap.c: recognise language runtimes that manage their objects themselves.
 *
 *     own heap    PHP, V8, Java, Go, SBCL, GCC: objects are in pages from the kernel, so the
 *                 profile lacks them
 *     chunks      OCaml, R, Ruby: malloc provides chunks, or contents that do not fit, so a block
 *                 is no object
 *
 * Both mislead: a script with a gigabyte of objects has a profile of some megabytes. A runtime is
 * recognised from files alone; no foreign code is executed. Its functions identify it. Dynamic
 * symbols survive stripping, and programs for plug-ins export them. A Go program has a section that
 * survives stripping. A command that loads its runtime as a library, such as java, is recognised by
 * its name.
 *
 * A remedy is listed only if it was tried on the real program. */
#include "symbol/runtime_heap.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "profile/processes.h"
#include "symbol/elf_names.h"
#include "util/path.h"

#define UNSEEN "from its own heap, which heaptap does not see"

static const struct runtime_heap runtimes[] = {
    {.name = "PHP",
     .symbols = {"_emalloc", "zend_mm_alloc"},
     .fact = "PHP allocates objects " UNSEEN,
     .remedy = "USE_ZEND_ALLOC=0 makes it use malloc",
     .variable = "USE_ZEND_ALLOC=0"},
    {.name = "V8",
     .symbols = {"_ZN2v87Isolate3NewERKNS0_12CreateParamsE"},
     .commands = {"node", "nodejs"},
     .fact = "V8 allocates JavaScript objects " UNSEEN,
     .remedy = "node's require(\"v8\").writeHeapSnapshot() writes them to a file"},
    {.name = "Java",
     .symbols = {"JNI_CreateJavaVM"},
     .commands = {"java"},
     .fact = "Java allocates objects " UNSEEN,
     .remedy = "java -XX:StartFlightRecording:filename=app.jfr records their allocation"},
    {.name = "Go",
     .symbols = {"runtime.mallocgc", "crosscall2"},
     .section = GO_SECTION,
     .fact = "Go allocates objects " UNSEEN,
     .remedy = "runtime/pprof writes a profile of them"},
    {.name = "SBCL",
     .symbols = {"restore_sbcl_signals", "allocate_lisp_dynamic_space"},
     .fact = "SBCL allocates objects " UNSEEN,
     .remedy = "(room) prints its totals by type"},
    {.name = "CLISP",
     .symbols = {"C_clisp_pathname_reader", "clisp_malloc"},
     .fact = "CLISP allocates objects " UNSEEN,
     .remedy = "(room) prints its size"},
    {.name = "Erlang",
     .symbols = {"enif_alloc", "erl_drv_alloc"},
     .fact = "Erlang allocates terms " UNSEEN,
     .remedy = "erl +Mea min makes it use malloc",
     .arguments = " -Mea min"},
    {.name = "Mono",
     .symbols = {"mono_jit_init", "mono_gc_collect"},
     .fact = "Mono allocates objects " UNSEEN},
    {.name = ".NET",
     .symbols = {"coreclr_initialize"},
     .commands = {"dotnet"},
     .fact = ".NET allocates objects " UNSEEN},
    {.name = "Julia",
     .symbols = {"jl_gc_collect", "ijl_gc_collect"},
     .commands = {"julia"},
     .fact = "Julia allocates small objects " UNSEEN},
    {.name = "GCC",
     .symbols = {"_Z18ggc_internal_allocmPFvPvEmm", "_Z11ggc_reallocPvm"},
     .fact = "GCC allocates trees and instructions " UNSEEN,
     .remedy = "-fmem-report prints its totals"},
    {.name = "OCaml",
     .symbols = {"caml_alloc_shr"},
     .fact = "OCaml divides large blocks into objects, so the recorded blocks are no objects",
     .remedy = "OCAMLRUNPARAM=v=0x400 prints the heap's totals at exit"},
    {.name = "R",
     .symbols = {"R_alloc"},
     .commands = {"R"},
     .fact = "R cuts small objects from pages, so blocks are pages; only longer vectors are blocks",
     .remedy = "Rprofmem() lists vectors and pages by R function"},
    {.name = "Ruby",
     .symbols = {"ruby_init", "rb_gc_start"},
     .commands = {"ruby", "ruby[0-9]*"},
     .fact = "Ruby cuts objects from its own pages; malloc provides only contents that do not fit",
     .remedy = "ObjectSpace.dump_all of \"objspace\" lists the objects"},
};

static_assert(countof(runtimes) <= 32, "a set of runtimes has 32 bits");

enum { SYMBOLS_MAX = countof(((struct runtime_heap *)NULL)->symbols) };

/* Return true if any of the COUNT names with KINDS is defined. */
static bool
is_defined(const enum elf_name *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (kinds[i] == ELF_NAME_HIDDEN || kinds[i] == ELF_NAME_EXPORTED)
            return true;
    return false;
}

const struct runtime_heap *
runtime_heap_in(const char *path)
{
    const char *names[countof(runtimes) * SYMBOLS_MAX];
    enum elf_name kinds[countof(names)] = {ELF_NAME_NONE};
    size_t first[countof(runtimes) + 1] = {0}, count = 0;

    for (size_t i = 0; i < countof(runtimes); i++) {
        for (size_t k = 0; k < SYMBOLS_MAX && runtimes[i].symbols[k] != NULL; k++)
            names[count++] = runtimes[i].symbols[k];
        first[i + 1] = count;
    }
    if (!elf_names_find(path, names, count, kinds))
        return NULL;
    for (size_t i = 0; i < countof(runtimes); i++)
        if (is_defined(kinds + first[i], first[i + 1] - first[i]) ||
            (runtimes[i].section != NULL && elf_names_has_section(path, runtimes[i].section)))
            return &runtimes[i];
    return NULL;
}

const struct runtime_heap *
runtime_heap_of_program(const char *executable)
{
    for (size_t i = 0; i < countof(runtimes); i++)
        for (const char *const *c = runtimes[i].commands; *c != NULL; c++)
            if (fnmatch(*c, path_basename(executable), 0) == 0)
                return &runtimes[i];
    return runtime_heap_in(executable);
}

uint32_t
runtime_heap_variables(uint32_t pid)
{
    uint32_t set = 0;

    for (size_t i = 0; i < countof(runtimes); i++)
        if (runtimes[i].variable != NULL && processes_has_variable(pid, runtimes[i].variable))
            set |= UINT32_C(1) << i;
    return set;
}

bool
runtime_heap_uses_malloc(const struct runtime_heap *r, const char *command, uint32_t variables)
{
    return (variables >> (r - runtimes) & 1) != 0 ||
           (r->arguments != NULL && strstr(command, r->arguments) != NULL);
}

const char *
runtime_heap_text(const struct runtime_heap *r, struct arena *arena)
{
    return r->remedy != NULL ? arena_printf(arena, "%s: %s", r->fact, r->remedy) : r->fact;
}
