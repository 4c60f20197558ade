/* pprof_proto.c: write profile.proto, gzipped, for go tool pprof, speedscope and profile servers.
 *
 *     sample_type   alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes
 *                   peak_objects/count peak_space/bytes temporary_objects/count
 *                   short_lived_objects/count
 *     sample        location ids leaf first, one value per sample type, labels
 *     location      id, mapping, address, line { function, line } innermost first: inlined calls
 *     mapping       id, start, limit, offset, file, build id; the program itself is number 1
 *     function      id, name, linkage name, file; names that several functions share with their
 *                   file, because go tool pprof sums functions of equal name in its default views
 *     string_table  all text, "" first
 *
 * A location of the file has the frames of a profile location from one frame outwards: if folding
 * removed an inlined wrapper from a stack, the remaining frames form a separate location. Therefore
 * the key of a location is the index of the innermost frame. Addresses are inside the call
 * instruction, as the format requires.
 *
 * An unsymbolised frame gets no line, and its mapping no "has_functions", so that a consumer that
 * finds the file can symbolise it. All other mappings are declared complete, so that consumers do
 * not search for files that may be gone or newer.
 *
 * A sample has the program's labels. If the program has heaps, each sample names its heap, malloc
 * included; a label with the name "heap" becomes "heap_label".
 *
 * Times follow the conventions of other writers. In-use values of a moment have the moment's time
 * and no duration, as Go's heap profiles do; the moment of a whole run is its end, or the present.
 * Amounts allocated in a period (between two moments, or since the start if the chosen metric
 * counts allocations) have the time of the period's start and its duration, as CPU profiles do.
 * Consumers that merge profiles keep the earliest time and add durations. (Go's difference of two
 * heap profiles also has a duration, but the time of the end.) --at peak is a moment. --peak of a
 * whole run is not, because the file also has the final values.
 *
 * Values are already scaled to unsampled values. Negative ones (from a row in flight) are written
 * as 0, except in a difference of two readings. The gzip header contains no time, so equal profiles
 * give equal bytes. */
#include "pprof/pprof.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "analyse/frame_name.h"
#include "analyse/totals.h"
#include "export/exporter.h"
#include "export/module_map.h"
#include "pprof/proto_out.h"
#include "util/amount.h"

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STRING = 2,
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_INLINE_FRAMES = 10, // Fields 8 and 9 mean files and lines.
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_LINKAGE = 3,
    FUNCTION_FILE = 4,
};

#define HEAP_KEY "heap" // Key of the label with a sample's heap.

struct value_type {
    const char *name;
    const char *unit;
};

static const struct value_type value_types[] = {
    {"alloc_objects", "count"},     {"alloc_space", "bytes"},  {"inuse_objects", "count"},
    {"inuse_space", "bytes"},       {"peak_objects", "count"}, {"peak_space", "bytes"},
    {"temporary_objects", "count"}, {"short_lived_objects", "count"},
};

/* Number of value types at the front of the table. A profile of a period has the first two, a
 * profile of a moment the first four (that of the peak only the in-use types). Only the last type
 * needs lifetimes. */
enum { TYPES_OF_FLOW = 2, TYPES_OF_POINTS = 4, TYPES_WITHOUT_LIFETIMES = countof(value_types) - 1 };

static const char *const default_types[] = {
    [METRIC_INUSE] = "inuse_space",           [METRIC_PEAK] = "peak_space",
    [METRIC_ALLOC] = "alloc_space",           [METRIC_COUNT] = "alloc_objects",
    [METRIC_TEMPORARY] = "short_lived_objects",
};

struct writer {
    const struct profile *p;
    struct functions labels;
    struct strtab strings;
    struct map locations;  // First frame's index plus 1 (0 = the frame "other") to location id.
    struct map name_pairs; // String ids of name and linkage name to a dense number.
    // Number of a pair in name_pairs, and the file's string id, to function id.
    struct map functions;
    bool *known;           // By module: at least one frame has a name.
    bool has_heaps;        // There are heaps of the program.
    bool signed_values;    // Write negative values.
    struct strbuf samples, locations_out, functions_out; // Encoded fields of the profile.
    struct strbuf ids, values, message, line;            // Scratch.
};

/* Return the value type that pprof should show first for METRIC. */
static const char *
default_type(const struct profile *p, enum metric metric)
{
    bool unknown = metric == METRIC_TEMPORARY && p->totals.lifetimes_unknown;

    return unknown ? "temporary_objects" : default_types[metric];
}

/* Return the index of P's first value type. */
static size_t
first_type(const struct profile *p)
{
    return p->extent == EXTENT_PEAK ? TYPES_OF_FLOW : 0;
}

static size_t
types_end(const struct profile *p)
{
    if (p->extent != EXTENT_WHOLE)
        return TYPES_OF_POINTS;
    return p->totals.lifetimes_unknown ? TYPES_WITHOUT_LIFETIMES : countof(value_types);
}

static void
add_value_type(struct writer *w, uint32_t field, const struct value_type *t, struct strbuf *out)
{
    proto_uint(&w->message, VALUE_TYPE, strtab_id(&w->strings, t->name));
    proto_uint(&w->message, VALUE_UNIT, strtab_id(&w->strings, t->unit));
    proto_nested(out, field, &w->message);
}

/* Return the number of KEY in M; keys are numbered from 1 on in order of appearance. */
static uint64_t
pprof_proto_dense_id(struct map *m, uint64_t key, bool *ret_new)
{
    bool new;
    uint64_t *id = map_put(m, key, &new);

    if (new)
        *id = m->count;
    *ret_new = new;
    return *id;
}

static uint64_t
pprof_proto_function_id(struct writer *w, const char *name, const char *linkage, const char *file)
{
    uint64_t name_id = strtab_id(&w->strings, name), linkage_id = strtab_id(&w->strings, linkage);
    uint64_t file_id = strtab_id(&w->strings, file);
    struct strbuf function = {0};
    bool new;
    uint64_t pair = pprof_proto_dense_id(&w->name_pairs, name_id << 32 | linkage_id, &new);
    uint64_t id = pprof_proto_dense_id(&w->functions, pair << 32 | file_id, &new);

    if (!new)
        return id;
    proto_uint(&function, FUNCTION_ID, id);
    proto_uint(&function, FUNCTION_NAME, name_id);
    proto_uint(&function, FUNCTION_LINKAGE, linkage_id);
    proto_uint(&function, FUNCTION_FILE, file_id);
    proto_nested(&w->functions_out, PROFILE_FUNCTION, &function);
    strbuf_release(&function);
    return id;
}

/* Add a line to the location in w->message. */
static void
pprof_proto_add_line(struct writer *w, uint32_t frame, uint32_t location)
{
    const struct profile_frame *f = &w->p->frames[frame];
    const char *label = functions_frame_label(&w->labels, frame, location);

    proto_uint(&w->line, LINE_FUNCTION,
               pprof_proto_function_id(w, label, profile_string(w->p, f->linkage),
                                       profile_string(w->p, f->file)));
    proto_uint(&w->line, LINE_LINE, f->line);
    proto_nested(&w->message, LOCATION_LINE, &w->line);
}

/* Return the id of the location that shows COUNT frames of LOCATION from FIRST on. */
static uint64_t
location_id(struct writer *w, uint32_t location, uint32_t first, uint32_t count)
{
    const struct profile_location *l = &w->p->locations[location];
    bool new;
    uint64_t id = pprof_proto_dense_id(&w->locations, (uint64_t)first + 1, &new);

    if (!new)
        return id;
    proto_uint(&w->message, LOCATION_ID, id);
    // A named frame has no address and no mapping, which the format permits.
    if (profile_language(w->p, l) == 0) {
        proto_uint(&w->message, LOCATION_MAPPING, l->module);
        proto_uint(&w->message, LOCATION_ADDRESS, location_pc(l));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (w->p->frames[first + i].function != 0) {
            pprof_proto_add_line(w, first + i, location);
            w->known[l->module] = true;
        }
    }
    proto_nested(&w->locations_out, PROFILE_LOCATION, &w->message);
    return id;
}

/* Return the id of the location NAME, a name of stack_root. */
static uint64_t
root_location_id(struct writer *w, const char *name)
{
    bool new;
    uint64_t key = strcmp(name, FRAME_NAME_OTHER) == 0 ? 0 : UINT64_MAX; // Of no frame.
    uint64_t id = pprof_proto_dense_id(&w->locations, key, &new);

    if (!new)
        return id;
    proto_uint(&w->message, LOCATION_ID, id);
    proto_uint(&w->line, LINE_FUNCTION, pprof_proto_function_id(w, name, "", ""));
    proto_nested(&w->message, LOCATION_LINE, &w->line);
    proto_nested(&w->locations_out, PROFILE_LOCATION, &w->message);
    return id;
}

/* Return the number of frames of S from index I on that belong to one location, because they are
 * adjacent in the profile and in the stack. */
static uint32_t
frames_of_location(const struct profile *p, const struct stack *s, uint32_t i)
{
    const struct profile_location *l = &p->locations[s->locations[i]];
    uint32_t end = l->first_frame + l->frame_count, count = 1;

    while (i + count < s->depth && s->locations[i + count] == s->locations[i] &&
           s->frames[i + count] == s->frames[i] + count && s->frames[i] + count < end)
        count++;
    return count;
}

static void
add_label(struct writer *w, const char *key, const char *value)
{
    proto_uint(&w->line, LABEL_KEY, strtab_id(&w->strings, key));
    proto_uint(&w->line, LABEL_STRING, strtab_id(&w->strings, value));
    proto_nested(&w->message, SAMPLE_LABEL, &w->line);
}

/* Add the heap and labels of S to the sample in w->message. */
static void
pprof_proto_add_labels(struct writer *w, const struct stack *s)
{
    const struct profile_label_set *set =
        &w->p->label_sets[s->labels == STACK_LABELS_SEVERAL ? 0 : s->labels];

    if (w->has_heaps)
        add_label(w, HEAP_KEY, w->p->heaps[s->heap].name);
    for (size_t i = 0; i < set->count; i++) {
        const char *key = set->v[i].key;

        add_label(w, strcmp(key, HEAP_KEY) == 0 ? HEAP_KEY "_label" : key, set->v[i].value);
    }
    if (set->count == 0 && *set->text != '\0')
        add_label(w, "labels", set->text);
}

static void
add_sample(struct writer *w, const struct stack *s)
{
    const struct counters *c = &s->counters;
    const char *root = stack_root(w->p, s);
    int64_t values[] = {c->allocations,
                        c->allocated_bytes,
                        counters_live_blocks(c),
                        counters_live_bytes(c),
                        c->peak_blocks,
                        c->peak_bytes,
                        c->temporary,
                        counters_within_16(c)};

    static_assert(countof(values) == countof(value_types), "one value per type, in the same order");
    for (uint32_t i = 0, count; i < s->depth; i += count) {
        count = frames_of_location(w->p, s, i);
        proto_element(&w->ids, location_id(w, s->locations[i], s->frames[i], count));
    }
    if (root != NULL)
        proto_element(&w->ids, root_location_id(w, root));
    for (size_t i = first_type(w->p); i < types_end(w->p); i++)
        proto_element(&w->values, values[i] > 0 || w->signed_values ? (uint64_t)values[i] : 0);
    proto_nested(&w->message, SAMPLE_LOCATION, &w->ids);
    proto_nested(&w->message, SAMPLE_VALUE, &w->values);
    pprof_proto_add_labels(w, s);
    proto_nested(&w->samples, PROFILE_SAMPLE, &w->message);
}

static uint32_t
build_id_string(struct writer *w, const struct profile_module *m)
{
    char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < m->build_id_bytes && i < PROFILE_BUILD_ID_MAX; i++) {
        hex[2 * i] = digits[m->build_id[i] >> 4];
        hex[2 * i + 1] = digits[m->build_id[i] & 15];
    }
    return strtab_id(&w->strings, hex);
}

static void
add_mapping(struct writer *w, uint32_t module, struct strbuf *out)
{
    const struct profile_module *m = &w->p->modules[module];
    struct module_segment segments[MODULE_SEGMENTS_MAX];

    // One mapping per module, because locations refer to it by id. Nearly all modules have only one
    // code segment.
    module_code(w->p, m, segments);
    proto_uint(&w->message, MAPPING_ID, module);
    proto_uint(&w->message, MAPPING_START, segments[0].start);
    proto_uint(&w->message, MAPPING_LIMIT, segments[0].end);
    proto_uint(&w->message, MAPPING_OFFSET, segments[0].file_offset);
    proto_uint(&w->message, MAPPING_FILE, strtab_id(&w->strings, m->path));
    proto_uint(&w->message, MAPPING_BUILD_ID, build_id_string(w, m));
    for (uint32_t field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINE_FRAMES; field++)
        proto_bool(&w->message, field, w->known[module]);
    proto_nested(out, PROFILE_MAPPING, &w->message);
}

static void
add_mappings(struct writer *w, struct arena *arena, struct strbuf *out)
{
    uint32_t *order = arena_array(arena, w->p->module_count, sizeof *order);
    size_t count = module_order(w->p, order);

    for (size_t i = 0; i < count; i++)
        add_mapping(w, order[i], out);
}

static bool
is_flow(enum metric metric)
{
    return metric == METRIC_ALLOC || metric == METRIC_COUNT || metric == METRIC_TEMPORARY;
}

static void
add_times(const struct profile *p, enum metric metric, struct strbuf *out)
{
    uint64_t from = p->extent == EXTENT_BETWEEN ? p->from.elapsed_ns : 0;
    uint64_t to = p->extent == EXTENT_WHOLE ? p->process.elapsed_ns : p->to.elapsed_ns;
    bool lasts = p->extent == EXTENT_BETWEEN || (p->extent != EXTENT_PEAK && is_flow(metric));

    if (p->process.start_unix_ns != 0)
        proto_uint(out, PROFILE_TIME_NANOS, p->process.start_unix_ns + (lasts ? from : to));
    if (lasts && to > from)
        proto_uint(out, PROFILE_DURATION_NANOS, to - from);
}

/* Add the fields about the source of the numbers. */
static void
add_origin(struct writer *w, const struct stacks *stacks, struct arena *arena, enum metric metric,
           struct strbuf *out)
{
    const struct profile_process *pr = &w->p->process;
    uint64_t period = w->p->sample_period_bytes ? w->p->sample_period_bytes : 1;
    const char *version = pr->heaptap ? pr->heaptap : "";
    const char *comment =
        w->p->merged_processes > 0
            ? arena_printf(arena, "heaptap %s, %s", version, profile_title(w->p, arena))
            : arena_printf(arena, "heaptap %s, pid %" PRIu32 ": %s", version, pr->pid,
                           character_clean(arena, pr->command ? pr->command : ""));
    const char *estimate = export_estimate(w->p, stacks, arena);

    add_times(w->p, metric, out);
    add_value_type(w, PROFILE_PERIOD_TYPE, &(struct value_type){"space", "bytes"}, out);
    proto_uint(out, PROFILE_PERIOD, period);
    proto_uint(out, PROFILE_COMMENT, strtab_id(&w->strings, comment));
    if (*estimate)
        proto_uint(out, PROFILE_COMMENT, strtab_id(&w->strings, estimate));
    proto_uint(out, PROFILE_DEFAULT_SAMPLE_TYPE,
               strtab_id(&w->strings, default_type(w->p, metric)));
}

static void
pprof_proto_add_profile(struct writer *w, const struct stacks *stacks, enum metric metric,
                        struct strbuf *out)
{
    struct arena arena = {0};

    functions_init_labels(&w->labels, w->p, stacks, &arena);
    w->known = arena_array(&arena, w->p->module_count, sizeof *w->known);
    for (size_t i = first_type(w->p); i < types_end(w->p); i++)
        add_value_type(w, PROFILE_SAMPLE_TYPE, &value_types[i], out);
    for (size_t i = 0; i < stacks->count; i++)
        add_sample(w, &stacks->v[i]);
    strbuf_add(out, w->samples.text, w->samples.length);
    add_mappings(w, &arena, out);
    strbuf_add(out, w->locations_out.text, w->locations_out.length);
    strbuf_add(out, w->functions_out.text, w->functions_out.length);
    add_origin(w, stacks, &arena, metric, out);
    // Strings come last, because all fields above add to them.
    for (uint32_t i = 0; i < w->strings.count; i++)
        proto_string(out, PROFILE_STRING_TABLE, strtab_get(&w->strings, i));
    functions_release(&w->labels);
    arena_release(&arena);
}

static void
release_writer(struct writer *w)
{
    struct strbuf *buffers[] = {&w->samples, &w->locations_out, &w->functions_out, &w->ids,
                                &w->values,  &w->message,       &w->line};

    for (size_t i = 0; i < countof(buffers); i++)
        strbuf_release(buffers[i]);
    map_release(&w->locations);
    map_release(&w->name_pairs);
    map_release(&w->functions);
    strtab_release(&w->strings);
}

static int
gzip(const struct strbuf *plain, struct strbuf *out, struct err *err)
{
    enum { GZIP_WINDOW = 15 + 16, CHUNK_BYTES = 16384 };
    z_stream z = {0};
    unsigned char chunk[CHUNK_BYTES];
    int rc = Z_OK;

    if (plain->length > UINT32_MAX)
        return err_set(err, HEAPTAP_USAGE, "the profile is too large for pprof; use --filter");
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return err_set(err, HEAPTAP_BUG, "zlib cannot compress: %s",
                       z.msg ? z.msg : "no reason given");
    z.next_in = (unsigned char *)plain->text;
    z.avail_in = (uInt)plain->length;
    while (rc == Z_OK) {
        z.next_out = chunk;
        z.avail_out = sizeof chunk;
        rc = deflate(&z, Z_FINISH);
        strbuf_add(out, chunk, sizeof chunk - z.avail_out);
    }
    deflateEnd(&z);
    return rc == Z_STREAM_END ? 0 : err_set(err, HEAPTAP_BUG, "zlib stopped with code %d", rc);
}

int
export_pprof(const struct profile *p, const struct stacks *stacks,
             const struct export_options *options, struct strbuf *out, struct err *err)
{
    struct writer w = {
        .p = p, .has_heaps = tags_has_heaps(p), .signed_values = options->signed_values};
    struct strbuf plain = {0};
    int rc;

    strtab_id(&w.strings, "");
    pprof_proto_add_profile(&w, stacks, options->metric, &plain);
    rc = gzip(&plain, out, err);
    release_writer(&w);
    strbuf_release(&plain);
    return rc;
}
