/* exporters.c: the table of formats and how one is found.
 *
 * A format is chosen by name or by the extension of the file to be written. Extensions may overlap
 * (".pb.gz" and ".gz"), so the longest that fits wins; no two formats share one.
 */
#include "command/exporters.h"

#include <string.h>

#include "flame/flamegraph.h"
#include "lines/callgrind.h"
#include "lines/collapsed.h"
#include "lines/csv.h"
#include "lines/dhat.h"
#include "lines/heapprofile.h"
#include "lines/massif.h"
#include "lines/speedscope.h"
#include "pprof/pprof_proto.h"
#include "pprof/pprof_text.h"

static const struct exporter exporters[] = {
    {"callgrind", ".callgrind", "call graph, for kcachegrind and callgrind_annotate", false,
     true, false, export_callgrind},
    {"collapsed", ".collapsed .folded .txt",
     "one line per stack, for flame graph tools", false, true,
     false, export_collapsed},
    {"dhat", ".dhat .dhat.json", "allocated, at the peak and at the end by stack, for dh_view.html",
     false, true, false, export_dhat},
    {"flamegraph", ".svg", "interactive flame graph in one SVG file, for any browser", false, true,
     true, export_flamegraph},
    {"massif", ".massif", "live bytes over time, for ms_print and massif-visualizer", false, true,
     false, export_massif},
    {"pprof", ".pb.gz .pprof .pb",
     "profile.proto, gzipped, for go tool pprof and what reads its format", true, false,
     false, export_pprof},
    {"pprof-text", ".heap .prof", "heap profile of gperftools, for google-pprof and jeprof", false,
     false, false, export_pprof_text},
    {"speedscope", ".speedscope.json", "all metrics in one file, for speedscope", false, true,
     false, export_speedscope},
    {"csv", ".csv", "one row per stack with all counters, for spreadsheets and data frames", false,
     false, false, export_csv},
    {"chrome", ".heapprofile", "one metric of bytes, for the Memory panel of Chromium's DevTools",
     false, true, true, export_heapprofile},
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

/* The length of the longest of EXTENSIONS that PATH ends in, or 0. */
static size_t
extension_length(const char *path, const char *extensions)
{
    size_t path_length = strlen(path), best = 0;

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
export_is_of_time(const struct exporter *e)
{
    return e->write == export_massif;
}

bool
export_knows(const struct exporter *e, enum metric metric)
{
    if (e->write == export_massif)
        return metric == METRIC_INUSE || metric == METRIC_PEAK;
    return e->write != export_dhat || metric != METRIC_TEMPORARY;
}

bool
export_needs_whole(const struct exporter *e)
{
    return e->write == export_dhat;
}

const struct exporter *
export_for_path(const char *path)
{
    const struct exporter *found = NULL;
    size_t best = 0;

    for (size_t i = 0; i < countof(exporters); i++) {
        size_t length = extension_length(path, exporters[i].extensions);

        if (length > best) {
            best = length;
            found = &exporters[i];
        }
    }
    return found;
}
