/* host.c: the environment, limits and executable of the host process, from system calls and from
 * memory that the kernel has filled in. Calls no function that the program could replace. */
#include "platform/host.h"

#include <elf.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fmt.h"
#include "platform/process.h"
#include "platform/sys.h"

const char *
host_environment(const char *name)
{
    size_t length = strlen(name);
    char **e = process_environment();

    if (process_value(AT_SECURE) != 0 || e == NULL)
        return NULL;
    for (; *e != NULL; e++)
        if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
            return *e + length + 1;
    return NULL;
}

uint64_t
host_number(const char *name)
{
    const char *text = host_environment(name);

    return text != NULL ? parse_uint(&text) : 0;
}

uint64_t
host_address_limit(void)
{
    return sys_limit(RLIMIT_AS);
}

size_t
host_executable(char *ret_path, size_t path_bytes)
{
    long length = sys_readlink("/proc/self/exe", ret_path, path_bytes - 1);
    const char *name = (const char *)(uintptr_t)process_value(AT_EXECFN);
    struct fmt f;

    if (length > 0) {
        ret_path[length] = '\0';
        return (size_t)length;
    }
    f = fmt_init(ret_path, path_bytes);
    // Without /proc, use the name that exec received.
    if (name != NULL && *name != '/' && sys_getcwd(ret_path, path_bytes) > 0) {
        f.length = strlen(ret_path);
        fmt_char(&f, '/');
    }
    fmt_str(&f, name != NULL ? name : "");
    return f.length;
}
