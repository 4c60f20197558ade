/* proto_out.h: write protocol buffers. A message is a strbuf; a nested message is built in a
 * separate strbuf and added as bytes. Fields with the default value (0, "") are omitted, as in
 * proto3.
 *
 *     key = field << 3 | wire type;  wire type 0: varint;  wire type 2: varint length, then bytes
 */
#ifndef PPROF_PROTO_OUT_H
#define PPROF_PROTO_OUT_H

#include "util/strbuf.h"

/* Append FIELD with VALUE; nothing if VALUE is the default. */
void proto_uint(struct strbuf *message, uint32_t field, uint64_t value);
void proto_int(struct strbuf *message, uint32_t field, int64_t value);
void proto_bool(struct strbuf *message, uint32_t field, bool value);

/* Append a string, even if empty, because position matters in a repeated field. Invalid UTF-8 is
 * replaced. */
void proto_string(struct strbuf *message, uint32_t field, const char *text);

/* Append NESTED, a message or the output of proto_element, even if empty. Clear NESTED for its next
 * use. */
void proto_nested(struct strbuf *message, uint32_t field, struct strbuf *nested);

/* Append one element of a packed repeated field to PACKED, which proto_nested then writes. */
void proto_element(struct strbuf *packed, uint64_t value);

#endif
