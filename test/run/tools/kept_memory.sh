#!/usr/bin/env bash
# kept_memory.sh: memory that the C and C++ libraries keep on purpose is no leak, and memory that
# they return to the program is one. If it fails, a clean program fails a gate, or a leak passes it.
. "$SRCDIR/test/run/lib.subr"
need gcc g++ strip

cat >libc.c <<'END'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <iconv.h>
#include <libintl.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
static char *text;
static size_t size;
static time_t now;
static struct tm tm;
static regex_t regex;
static struct dirent **entries;
static struct addrinfo *addresses;
#define MODE(name, call) if (strcmp(mode, name) == 0) { call; return 0; }
int main(int count, char **arguments)
{
    const char *mode = arguments[1];

    free(malloc(count));
    MODE("localtime", localtime(&now))
    MODE("mktime", mktime(&tm))
    MODE("setlocale", setlocale(LC_ALL, "C.UTF-8"))
    MODE("setlocale_ctype", setlocale(LC_CTYPE, "C.UTF-8"))
    MODE("iconv", iconv_close(iconv_open("UTF-16", "LATIN1")))
    MODE("getpwnam", getpwnam("root"); endpwent())
    MODE("getgrgid", getgrgid(0); endgrent())
    MODE("textdomain", bindtextdomain("x", "/tmp"); textdomain("x"); gettext("y"))
    MODE("dlopen", dlopen("no such library", RTLD_NOW))
    MODE("dlerror", dlsym(RTLD_DEFAULT, "no_such_function"); dlerror())
    MODE("gethostbyname", gethostbyname("127.0.0.1"))
    MODE("getservbyname", getservbyname("http", "tcp"))
    MODE("strsignal", strsignal(99); strerror(9999))
    MODE("setenv", setenv("HEAPTAP_TEST", "x", 1))
    MODE("wprintf", wprintf(L"%d\n", 1))
    MODE("strdup", text = strdup("text"))
    MODE("getline", getline(&text, &size, stdin))
    MODE("asprintf", asprintf(&text, "%d", count))
    MODE("opendir", opendir("/"))
    MODE("fopen", fopen("/dev/null", "r"))
    MODE("getaddrinfo", getaddrinfo("127.0.0.1", "80", NULL, &addresses))
    MODE("regcomp", regcomp(&regex, "a*b", 0))
    MODE("scandir", scandir("/", &entries, NULL, alphasort))
    MODE("realpath", text = realpath("/", NULL))
    MODE("getcwd", text = getcwd(NULL, 0))
    MODE("iconv_open", iconv_open("UTF-16", "LATIN1"))
    MODE("newlocale", newlocale(LC_ALL_MASK, "C.UTF-8", NULL))
    MODE("open_memstream", open_memstream(&text, &size))
    return 99;
}
END
gcc -g -w -o libc libc.c

# gate WANTED NAME COMMAND...: check the exit status with --fail-on leaks.
gate() {
    local wanted=$1 name=$2
    shift 2
    echo line | "$HEAPTAP" run --quiet --force --fail-on leaks -o gate.heaptap -- "$@" >out 2>&1
    same "$name" "$wanted" $?
}

# Static functions of libc have names only with its debug symbols.
"$HEAPTAP" run --quiet --force -o names.heaptap -- ./libc localtime
named=$("$HEAPTAP" leaks --json --no-builtin-suppressions names.heaptap | grep -c tzset_internal)
for mode in mktime setlocale setlocale_ctype getpwnam getgrgid textdomain dlopen dlerror \
    gethostbyname getservbyname strsignal wprintf; do
    gate 0 "kept by libc: $mode" ./libc $mode
done
for mode in localtime iconv setenv; do
    if [ "$named" -gt 0 ]; then
        gate 0 "kept by libc: $mode" ./libc $mode
    else
        echo "ok - kept by libc: $mode # SKIP libc has no debug symbols"
    fi
done
for mode in strdup getline asprintf opendir fopen getaddrinfo regcomp scandir realpath getcwd \
    iconv_open newlocale open_memstream; do
    gate 99 "returned to the program: $mode" ./libc $mode
done

# A program's own functions with names of the runtime's.
cat >own.cc <<'END'
#include <cstdlib>
namespace {
struct pool {
    void *block;
    pool() { block = std::malloc(100000); }
};
}
extern "C" void *btree_allocate_node() { return std::malloc(100); }
int main(int count, char **)
{
    if (count > 1)
        return btree_allocate_node() == nullptr;
    pool one;
    return one.block == nullptr;
}
END
g++ -g -O0 -o own own.cc
g++ -g0 -O0 -o own_unknown own.cc
for program in own own_unknown; do
    gate 99 "$program: a class called pool" ./$program
    gate 99 "$program: a function called btree_allocate_node" ./$program 1
done

# libstdc++'s pool for exceptions, with libstdc++ linked into the program.
printf '%s\n' '#include <string>' 'int main() { return std::string(100, 0)[0]; }' >clean.cc
g++ -O1 -o clean clean.cc
gate 0 "libstdc++: shared" ./clean
if g++ -O1 -static-libstdc++ -static-libgcc -o linked clean.cc; then
    strip -o stripped linked
    gate 0 "libstdc++: linked" ./linked
    gate 0 "libstdc++: linked and stripped" ./stripped
else
    echo "ok - libstdc++: linked # SKIP needs a static libstdc++"
fi

finish
