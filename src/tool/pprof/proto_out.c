/* proto_out.c: varints and lengths. proto_out.h describes the whole format. Stateless. */
#include "pprof/proto_out.h"

#include "export/exporter.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void
proto_element(struct strbuf *packed, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (unsigned char)(value | 0x80);
    bytes[count++] = (unsigned char)value;
    strbuf_add(packed, bytes, count);
}

void
proto_uint(struct strbuf *message, uint32_t field, uint64_t value)
{
    if (value == 0)
        return;
    proto_element(message, (uint64_t)field << 3 | WIRE_VARINT);
    proto_element(message, value);
}

void
proto_int(struct strbuf *message, uint32_t field, int64_t value)
{
    // A negative int64 is two's complement in ten bytes; the format has no zigzag for this type.
    proto_uint(message, field, (uint64_t)value);
}

void
proto_bool(struct strbuf *message, uint32_t field, bool value)
{
    proto_uint(message, field, value ? 1 : 0);
}

void
proto_nested(struct strbuf *message, uint32_t field, struct strbuf *nested)
{
    proto_element(message, (uint64_t)field << 3 | WIRE_BYTES);
    proto_element(message, nested->length);
    strbuf_add(message, nested->text, nested->length);
    strbuf_clear(nested);
}

void
proto_string(struct strbuf *message, uint32_t field, const char *text)
{
    struct strbuf valid = {0};

    utf8_add(&valid, text);
    proto_nested(message, field, &valid);
    strbuf_release(&valid);
}
