/* exporters.c: table of formats, and selection by name or file extension.
 *
 * Extensions may overlap (".pb.gz" and ".gz"), so the longest match wins; no two formats share one.
 * A format that can be compressed also accepts its extensions followed by ".gz" or ".zst". */
#include "command/exporters.h"

#include <string.h>

#include "interchange/interchange.h"
#include "memprof/memprof_raw.h"
#include "pprof/pprof.h"
#include "svg/svg.h"

static const struct exporter exporters[] = {
    {.name = "callgrind",
     .extensions = ".callgrind",
     .summary = "call graph, for kcachegrind and callgrind_annotate",
     .can_root = true,
     .write = export_callgrind},
    {.name = "collapsed",
     .extensions = ".collapsed .folded .txt",
     .summary = "one line per stack, for flame graph tools",
     .can_root = true,
     .write = export_collapsed},
    {.name = "dhat",
     .extensions = ".dhat .dhat.json",
     .summary = "allocated, at the peak and at the end by stack, for dh_view.html",
     .can_root = true,
     .write = export_dhat},
    {.name = "flamegraph",
     .extensions = ".svg",
     .summary = "interactive flame graph in one SVG file, for any browser",
     .can_root = true,
     .picture = true,
     .write = export_flamegraph},
    {.name = "heaptrack",
     .extensions = ".heaptrack",
     .summary = "events that come to the same, for heaptrack_gui; also .gz and .zst",
     .can_root = true,
     .compresses = true,
     .write = export_heaptrack},
    {.name = "massif",
     .extensions = ".massif",
     .summary = "live bytes over time, for ms_print and massif-visualizer",
     .can_root = true,
     .in_time = true,
     .write = export_massif},
    {.name = "memprof",
     .extensions = ".memprof .profraw",
     .summary = "accesses by stack, for llvm-profdata and clang's -fmemory-profile-use",
     .binary = true,
     .unnamed_roots = true,
     .write = export_memprof},
    {.name = "perfetto",
     .extensions = "",
     .summary = "the same as pprof, which ui.perfetto.dev opens",
     .binary = true,
     .write = export_pprof},
    {.name = "pprof",
     .extensions = ".pb.gz .pprof .pb",
     .summary = "profile.proto, gzipped, for go tool pprof and what reads its format",
     .binary = true,
     .write = export_pprof},
    {.name = "pprof-text",
     .extensions = ".heap .prof",
     .summary = "heap profile of gperftools, for google-pprof and jeprof",
     .needs_addresses = true,
     .unnamed_roots = true,
     .write = export_pprof_text},
    {.name = "speedscope",
     .extensions = ".speedscope.json",
     .summary = "all metrics in one file, for speedscope",
     .can_root = true,
     .write = export_speedscope},
    {.name = "csv",
     .extensions = ".csv",
     .summary = "one row per stack with all counters, for spreadsheets and data frames",
     .write = export_csv},
    {.name = "chrome",
     .extensions = ".heapprofile",
     .summary = "one metric of bytes, for the Memory panel of Chromium's DevTools",
     .can_root = true,
     .picture = true,
     .write = export_heapprofile},
    {.name = "firefox",
     .extensions = ".firefox.json",
     .summary = "allocations over time, for the Firefox Profiler",
     .can_root = true,
     .in_time = true,
     .write = export_firefox},
};

const struct exporter *
export_list(size_t *ret_count)
{
    *ret_count = countof(exporters);
    return exporters;
}

const struct exporter *
export_find(const char *name)
{
    for (size_t i = 0; i < countof(exporters); i++)
        if (strcmp(exporters[i].name, name) == 0)
            return &exporters[i];
    return NULL;
}

/* Return the length of the longest of EXTENSIONS at the end of PATH, ignoring PATH's last SUFFIX
 * bytes; 0 if there is none. */
static size_t
extension_length(const char *path, size_t suffix, const char *extensions)
{
    size_t path_length = strlen(path) - suffix, best = 0;

    while (*extensions != '\0') {
        size_t length = strcspn(extensions, " ");

        if (length < path_length && memcmp(path + path_length - length, extensions, length) == 0 &&
            length > best)
            best = length;
        extensions += length;
        extensions += strspn(extensions, " ");
    }
    return best;
}

bool
export_knows(const struct exporter *e, enum metric metric)
{
    if (e->write == export_massif)
        return metric == METRIC_INUSE || metric == METRIC_PEAK;
    if (e->write == export_heaptrack)
        return metric != METRIC_ALLOC;
    return e->write != export_dhat || metric != METRIC_TEMPORARY;
}

bool
export_needs_whole(const struct exporter *e)
{
    return e->write == export_dhat || e->write == export_heaptrack || e->write == export_memprof;
}

const struct exporter *
export_for_path(const char *path)
{
    const struct exporter *found = NULL;
    size_t best = 0;

    for (size_t i = 0; i < countof(exporters); i++) {
        bool compressed =
            exporters[i].compresses && compression_for_path(path) != COMPRESSION_NONE;
        size_t suffix = compressed ? strlen(strrchr(path, '.')) : 0;
        size_t length = extension_length(path, suffix, exporters[i].extensions);

        if (length > best) {
            best = length;
            found = &exporters[i];
        }
    }
    return found;
}
