/* http_request.c: parse the target of a request, and check where it comes from.
 *
 *     /debug/pprof/heap?pid=4711&seconds=5
 *     path              parameter  parameter
 *
 * Every local user may send any bytes, so this file depends on nothing but memory, and has a
 * fuzz target. Parameters follow Go's net/http/pprof: unknown ones are ignored, and of equal names
 * the first is used. A known parameter with a wrong value is refused with a sentence, because a
 * scraper would otherwise store another profile than the one that was meant. */
#include "serve/http_request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PPROF "/debug/pprof"

static const struct {
    const char *path;
    enum serve_what what;
} paths[] = {
    {"/", SERVE_INDEX},
    {"/healthz", SERVE_HEALTH},
    {"/sd", SERVE_TARGETS},
    {"/metrics", SERVE_METRICS},
    {PPROF, SERVE_PPROF_INDEX},
    {PPROF "/", SERVE_PPROF_INDEX},
    {PPROF "/heap", SERVE_HEAP},
    {PPROF "/allocs", SERVE_ALLOCS},
    {PPROF "/cmdline", SERVE_PROGRAM},
};

static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Return the LENGTH bytes at TEXT without percent signs and, in a QUERY, plus signs. Return NULL if
 * an escape is wrong or means a zero byte. */
static const char *
request_decode(const char *text, size_t length, bool query, struct arena *arena)
{
    char *to = arena_alloc(arena, length + 1), *end = to;

    for (size_t i = 0; i < length; i++) {
        int high, low;

        if (text[i] != '%') {
            *end++ = (char)(query && text[i] == '+' ? ' ' : text[i]);
            continue;
        }
        high = i + 1 < length ? hex_digit(text[i + 1]) : -1;
        low = i + 2 < length ? hex_digit(text[i + 2]) : -1;
        if (high < 0 || low < 0 || high + low == 0)
            return NULL;
        *end++ = (char)(high << 4 | low);
        i += 2;
    }
    *end = '\0';
    return to;
}

static void
request_refuse(struct serve_request *r, unsigned status, const char *why)
{
    if (r->status != 0)
        return;
    r->status = status;
    r->why = why;
}

/* Parse TEXT as a plain decimal number from 1 to MAX. */
static bool
read_number(const char *text, uint32_t max, uint32_t *ret)
{
    uint64_t value = 0;

    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || c - text > 9)
            return false;
        value = value * 10 + (uint64_t)(*c - '0');
    }
    if (value < 1 || value > max)
        return false;
    *ret = (uint32_t)value;
    return true;
}

static void
request_set(struct serve_request *r, const char *key, const char *value, struct arena *arena)
{
    if (strcmp(key, "seconds") == 0 && r->seconds == 0) {
        if (!read_number(value, SERVE_SECONDS_MAX, &r->seconds))
            request_refuse(r, 400,
                           arena_printf(arena,
                                        "seconds=%s is no number from 1 to %d; leave it out for "
                                        "the state of this moment",
                                        value, SERVE_SECONDS_MAX));
    } else if (strcmp(key, "pid") == 0 && r->pid == 0) {
        if (!read_number(value, INT32_MAX, &r->pid))
            request_refuse(r, 400, arena_printf(arena, "pid=%s is no process id", value));
    } else if (strcmp(key, "profile") == 0 && r->profile == NULL) {
        r->profile = value;
        if (*value == '\0')
            request_refuse(r, 400, "profile= needs the name of a profile");
    } else if (strcmp(key, "debug") == 0) {
        r->text = r->text || (strcmp(value, "0") != 0 && *value != '\0');
    }
}

/* Read the parameters in QUERY. */
static void
read_query(struct serve_request *r, const char *query, struct arena *arena)
{
    while (*query != '\0') {
        size_t length = strcspn(query, "&"), name = strcspn(query, "=&");
        const char *key = request_decode(query, name, true, arena);
        const char *value =
            request_decode(name < length ? query + name + 1 : "",
                           name < length ? length - name - 1 : 0, true, arena);

        if (key == NULL || value == NULL)
            request_refuse(r, 400, "the request has a wrong escape after a percent sign");
        else
            request_set(r, key, value, arena);
        query += length + (query[length] == '&');
    }
}

void
request_parse(const char *uri, struct arena *arena, struct serve_request *ret)
{
    size_t length = strcspn(uri, "?#");
    const char *path = request_decode(uri, length, false, arena);

    *ret = (struct serve_request){.what = SERVE_NOTHING};
    if (path == NULL) {
        request_refuse(ret, 400, "the request has a wrong escape after a percent sign");
        return;
    }
    ret->is_pprof = strncmp(path, PPROF, sizeof PPROF - 1) == 0;
    for (size_t i = 0; i < countof(paths); i++)
        if (strcmp(path, paths[i].path) == 0)
            ret->what = paths[i].what;
    if (ret->what == SERVE_NOTHING)
        request_refuse(ret, 404, "there is no such page; / lists the pages");
    else if (uri[length] == '?')
        read_query(ret, arena_strndup(arena, uri + length + 1, strcspn(uri + length + 1, "#")),
                   arena);
    if (ret->status == 0 && ret->pid != 0 && ret->profile != NULL)
        request_refuse(ret, 400, "pid and profile exclude each other");
    if (ret->status == 0 && ret->seconds != 0 && ret->text)
        request_refuse(ret, 400, "seconds and debug exclude each other");
}

bool
request_host_is_loopback(const char *host)
{
    static const char *const names[] = {"localhost", "[::1]"};
    size_t length, digits, dots = 0;

    if (host == NULL)
        return false;
    length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (length > strlen(host))
        return false;
    digits = strspn(host + length, ":0123456789");
    if (host[length + digits] != '\0' || (digits > 0 && strchr(host + length + 1, ':') != NULL))
        return false;
    for (size_t i = 0; i < countof(names); i++)
        if (length == strlen(names[i]) && strncasecmp(host, names[i], length) == 0)
            return true;
    for (size_t i = 0; i < length; i++)
        dots += host[i] == '.';
    return strncmp(host, "127.", 4) == 0 && dots == 3 && strspn(host, "0123456789.") == length;
}

bool
request_has_token(const char *authorization, const char *token)
{
    static const char scheme[] = "Bearer ";
    size_t length = strlen(token), given;
    unsigned differs = 0;

    if (authorization == NULL || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return false;
    authorization += sizeof scheme - 1;
    given = strlen(authorization);
    for (size_t i = 0; i < given; i++)
        differs |= (unsigned char)(authorization[i] ^ token[length > 0 ? i % length : 0]);
    return given == length && length > 0 && differs == 0;
}
