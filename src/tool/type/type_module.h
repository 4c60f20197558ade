/* type_module.h: a file with modules of a profile, and the types in its debug information. The file
 * is opened only if necessary, because caches have most of the data. */
#ifndef TYPE_TYPE_MODULE_H
#define TYPE_TYPE_MODULE_H

#include "profile/profile.h"
#include "symbol/symbol_options.h"
#include "type/fact_cache.h"
#include "type/type_index.h"

struct type_module {
    const struct profile *p;
    const struct symbol_options *options;
    struct arena *arena;
    uint32_t module; // First module of P with this file.
    bool opened;     // An attempt to open was made; the next four may be NULL.
    struct object *object;
    struct debuginfo *debug;
    uint64_t bias;
    struct type_finder *finder;
    bool dated;              // `written` is valid.
    struct timespec written; // When the file was written; 0 = unknown.
    bool kept_taken;         // The following fields were moved from kept data
                             // (symbol/module_cache.h).
    bool index_sought;       // The cache of the index was searched for and read.
    bool index_known;        // `index` is complete.
    struct type_index index; // Empty before type_module_load.
    bool facts_loaded;
    struct fact_cache facts;
};

/* Load the types of M, whose fields from p to module are set. Results live as long as ARENA. */
void type_module_load(struct type_module *m);

/* Return the time when the file was written; 0 = unknown. */
struct timespec type_module_written(struct type_module *m);

/* Return true if type_module_facts may find facts. Its arguments are expensive to compute, so ask
 * first. */
bool type_module_has_facts(struct type_module *m);

/* Fill the empty *RET with the facts about the call in M that returns to ADDRESS of the ELF file,
 * as type_facts_find does. STAMP is a hash of STATEMENTS. */
void type_module_facts(struct type_module *m, uint64_t address, uint64_t stamp,
                       const struct type_statement *statements, size_t count,
                       struct type_facts *ret);

/* Write M's data to the caches, and close M. */
void type_module_close(struct type_module *m);

#endif
