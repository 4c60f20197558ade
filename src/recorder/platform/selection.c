/* selection.c: selects the processes of a run to record, and the paths of their profiles.
 *
 * `heaptap run` passes its decisions in the environment, because every process of the run inherits
 * it:
 *
 *     HEAPTAP_OUT      the path of the profile, a pattern (output.c)
 *     HEAPTAP_PID      the process that run started
 *     HEAPTAP_OTHERS   the path for all other processes; empty: do not record them
 *     HEAPTAP_ONLY     patterns of program names to record, separated by commas
 *     HEAPTAP_SESSION  the id of the run
 *     HEAPTAP_FRAMES   the number of frames to record per stack; by default all
 *
 * The first process has the id HEAPTAP_PID and was not forked by a recorded process. The second
 * condition excludes a process with the same id in another namespace, unless it called exec. The
 * values are cached, because a daemon may clear its environment and then fork.
 *
 * A program has several names: the last components of its executable, of its argument 0 (a symbolic
 * link such as python3), and of a script's path. A match of any of these names suffices. The script
 * is the argument from which the kernel derived the name of the process. If env has executed the
 * interpreter, or a shell has (`perl leak.pl`), the name is the interpreter's. Then the script is
 * an argument that is a file, and whose #! line gives this interpreter and the arguments in front.
 * So a command that merely mentions a script (`grep x leak.pl`) does not match. */
#include "platform/selection.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fmt.h"
#include "format/environment.h"
#include "platform/compiled_output.h"
#include "platform/host.h"
#include "platform/process.h"
#include "platform/state.h"
#include "platform/sys.h"

enum { NAME_BYTES = 256, COMM_BYTES = 15, ARGUMENT_BYTES = 2048, ARGUMENTS_READ = 16 };

/* Number of arguments in front of a script's own if the kernel has started it: interpreter, option
 * and script. Size of the script's front, with the longest #! line that the kernel reads. */
enum { KERNEL_ARGUMENTS = 3, SCRIPT_BYTES = 257 };

#define ENV_NAME "env"

/* Process constants. */
static struct {
    bool known; // Set after all other members: if a thread forks while another one sets them, the
                // child sees that they are incomplete.
    bool has_output, has_others;
    uint64_t session;
    uint64_t pid; // 0 = HEAPTAP_PID is not set.
    uint64_t frames;
    char only[1024], output[4096], others[4096]; // At the end of the struct, because their size is
                                                 // several pages.
} asked;

/* Copy the variable NAME. Return false if it is missing or too long. */
static bool
selection_copy(const char *name, char *ret, size_t size_bytes)
{
    const char *value = host_environment(name);
    struct fmt f = fmt_init(ret, size_bytes);

    if (value != NULL)
        fmt_str(&f, value);
    return value != NULL && !f.cut;
}

/* Set the output to the directory that the program's build has set, and create the directory if it
 * is missing. */
static bool
take_compiled_output(void)
{
    const char *name = NULL;
    size_t length = compiled_output_directory(&name);
    struct fmt f = fmt_init(asked.output, sizeof asked.output);

    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++)
        fmt_str(&f, name[i] == '%' ? "%%" : (char[]){name[i], '\0'});
    sys_mkdir(f.text, 0777); // If this fails, output_open will fail and report the error.
    fmt_str(&f, "/" PROFILE_DEFAULT_NAME);
    return !f.cut;
}

static void
selection_learn(void)
{
    const char *pid = host_environment(ENVIRONMENT_PID);
    const char *session = host_environment(ENVIRONMENT_SESSION);
    const char *frames = host_environment(ENVIRONMENT_FRAMES);

    asked.pid = pid != NULL ? parse_uint(&pid) : 0;
    asked.session = session != NULL ? parse_hex(&session) : 0;
    asked.frames = frames != NULL ? parse_uint(&frames) : 0;
    asked.has_output = selection_copy(ENVIRONMENT_OUT, asked.output, sizeof asked.output) ||
                       take_compiled_output();
    asked.has_others = selection_copy(ENVIRONMENT_OTHERS, asked.others, sizeof asked.others);
    if (!selection_copy(ENVIRONMENT_ONLY, asked.only, sizeof asked.only))
        asked.only[0] = '\0';
    __atomic_store_n(&asked.known, true, __ATOMIC_RELEASE); // Forked children read this.
}

static bool
selection_is_first(void)
{
    return asked.pid == 0 || ((uint64_t)identity_pid() == asked.pid && !state->forked);
}

/* Return true if PATTERN, which ends before END, matches all of NAME. "*" matches any text, "?" one
 * character. */
static bool
selection_matches(const char *pattern, const char *end, const char *name)
{
    const char *star = NULL, *retry = NULL;

    while (*name != '\0') {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

bool
selection_is_named(const char *patterns, const char *name)
{
    const char *p = patterns;

    while (*p != '\0') {
        const char *end = strchr(p, ',');

        if (end == NULL)
            end = p + strlen(p);
        if (*name != '\0' && selection_matches(p, end, name))
            return true;
        p = *end != '\0' ? end + 1 : end;
    }
    return false;
}

static const char *
last_component(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Return true if any pattern matches the last component of PATH. */
static bool
any_matches(const char *path)
{
    return selection_is_named(asked.only, last_component(path));
}

static size_t
read_start(const char *path, char *ret, size_t size_bytes)
{
    int fd = sys_open(path, O_RDONLY, 0);
    long n = fd >= 0 ? sys_pread(fd, ret, size_bytes - 1, 0) : 0;

    if (fd >= 0)
        sys_close(fd);
    n = n > 0 ? n : 0;
    ret[n] = '\0';
    return (size_t)n;
}

/* Return true if PATH is a regular file. Opening a FIFO or a device can have side effects. */
static bool
is_regular(const char *path)
{
    int fd = sys_open(path, O_PATH, 0);
    struct stat st;
    bool is = fd >= 0 && sys_fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

    if (fd >= 0)
        sys_close(fd);
    return is;
}

/* A word of a #! line or of an argument, without quotes and escapes. */
struct plain_word {
    char text[SCRIPT_BYTES];
    const char *name; // Its last component.
};

/* Read the next word at *AT as `env -S` splits text, and advance *AT. Quotes are dropped instead of
 * matched, so the words of an argument in quotes are separate ones. This also holds for arguments
 * of a process, so equal texts give equal words, however often env splits them. A comment ends a
 * line, but no argument. Return false if there is no word. */
static bool
next_plain_word(const char **at, bool is_line, struct plain_word *ret)
{
    struct fmt f = fmt_init(ret->text, sizeof ret->text);
    const char *s = *at;

    for (; *s != '\0'; s++) {
        bool is_escape = *s == '\\' && s[1] != '\0';
        char c = is_escape ? *++s : *s;

        if ((is_escape && c == 'c') || (is_line && !is_escape && c == '#' && f.length == 0)) {
            s += strlen(s);
            break;
        }
        if (strchr(is_escape ? "_fnrtv" : " \f\n\r\t\v", c) == NULL) {
            if (is_escape || (c != '"' && c != '\''))
                fmt_char(&f, c);
        } else if (f.length != 0) {
            s++;
            break;
        }
    }
    *at = s;
    ret->name = last_component(ret->text);
    return f.length != 0;
}

static uint32_t
count_words(const char *text, bool is_line)
{
    struct plain_word word;
    uint32_t count = 0;

    while (next_plain_word(&text, is_line, &word))
        count++;
    return count;
}

/* Return true if WORD of a #! line stands for the interpreter PROGRAM: its name, also behind the
 * option of env that contains the first word (-Sbash, --split-string=bash), or a variable. */
static bool
is_interpreter(const struct plain_word *word, const char *program)
{
    const char *name = word->name, *option = word->text;

    if (strncmp(option, "--s", 3) == 0 && strchr(option, '=') != NULL)
        name = last_component(strchr(option, '=') + 1);
    else if (option[0] == '-' && strchr(option, 'S') != NULL)
        name = last_component(strchr(option, 'S') + 1);
    return strcmp(name, last_component(program)) == 0 || strncmp(name, "${", 2) == 0;
}

/* Return true if the words of ARGUMENTS 1 to INDEX - 1 are the rest of the line at AT. */
static bool
are_rest_of_line(const char *at, char *const *arguments, uint32_t index)
{
    struct plain_word in_line, given;

    for (uint32_t i = 1; i < index; i++)
        for (const char *argument = arguments[i]; next_plain_word(&argument, false, &given);)
            if (!next_plain_word(&at, true, &in_line) ||
                (strcmp(in_line.text, given.text) != 0 && strncmp(in_line.text, "${", 2) != 0))
                return false;
    return true;
}

/* Return true if LINE, behind #!, starts the program of ARGUMENTS with the arguments in front of
 * INDEX. Env's own options and variables need not be known: they precede the interpreter, and the
 * arguments are the end of the line. */
static bool
line_starts(const char *line, char *const *arguments, uint32_t index)
{
    uint32_t words = count_words(line, true), given = 0, first, last;
    struct plain_word word;
    bool by_env = false;

    for (uint32_t i = 1; i < index; i++)
        given += count_words(arguments[i], false);
    // On a command line, the arguments of the interpreter may be missing.
    first = index > 1 && words > given ? words - given - 1 : 0;
    last = index > 1 ? first : words;
    for (uint32_t i = 0; i <= last && next_plain_word(&line, true, &word); i++) {
        if (i == 0)
            by_env = strcmp(word.name, ENV_NAME) == 0;
        if (i >= first && (i > 0 ? by_env : !by_env) && is_interpreter(&word, arguments[0]) &&
            (index == 1 || are_rest_of_line(line, arguments, index)))
            return true;
    }
    return false;
}

bool
selection_is_script(char *const *arguments, uint32_t index)
{
    char line[SCRIPT_BYTES], *end;

    if (!is_regular(arguments[index]) || read_start(arguments[index], line, sizeof line) < 2 ||
        strncmp(line, "#!", 2) != 0)
        return false;
    end = strchr(line, '\n');
    if (end != NULL)
        *end = '\0';
    return line_starts(line + 2, arguments, index);
}

/* Store the first ARGUMENTS_READ arguments of the program in ARGUMENTS, and return their number.
 * TEXT, of SIZE_BYTES, has their text. */
static uint32_t
read_arguments(char *text, size_t size_bytes, char *arguments[ARGUMENTS_READ])
{
    size_t length = read_start("/proc/self/cmdline", text, size_bytes);
    uint32_t count = 0;

    for (char *p = text; count < ARGUMENTS_READ && p < text + length; p += strlen(p) + 1)
        arguments[count++] = p;
    return count;
}

/* Return true if a pattern matches argument 0 or the script that the program runs. If the kernel
 * has started the script, it gave the process the script's name. */
static bool
arguments_match(void)
{
    char text[ARGUMENT_BYTES], comm[NAME_BYTES], *arguments[ARGUMENTS_READ];
    uint32_t count = read_arguments(text, sizeof text, arguments);
    size_t comm_length = read_start("/proc/self/comm", comm, sizeof comm);

    if (comm_length > 0)
        comm[comm_length - 1] = '\0'; // The newline.
    if (count == 0)
        return false;
    if (any_matches(arguments[0]))
        return true;
    if (strcmp(last_component(arguments[0]), ENV_NAME) == 0) // It only starts the interpreter.
        return false;
    for (uint32_t i = 1; i < count; i++) {
        const char *name = last_component(arguments[i]);
        bool is_comm = i < KERNEL_ARGUMENTS && *comm != '\0' &&
                       strncmp(name, comm, COMM_BYTES) == 0;

        if (any_matches(name) && (is_comm || selection_is_script(arguments, i)))
            return true;
    }
    return false;
}

static bool
program_matches(void)
{
    static bool has_matched; // Forked children have the same script, but may not find it.
    char path[4096];

    host_executable(path, sizeof path);
    has_matched = has_matched || any_matches(path) || arguments_match();
    return has_matched;
}

bool
selection_has_children(void)
{
    return asked.pid == 0 || !asked.has_others || asked.others[0] != '\0';
}

bool
selection_here(void)
{
    if (!asked.known)
        selection_learn();
    if (!selection_is_first() && !selection_has_children())
        return false;
    return asked.only[0] == '\0' || program_matches();
}

const char *
selection_output(void)
{
    if (!selection_is_first() && asked.has_others)
        return asked.others;
    return asked.has_output ? asked.output : NULL;
}

uint64_t
selection_session(void)
{
    return asked.session;
}

uint32_t
selection_depth(void)
{
    return asked.frames - 1 < LIMIT_DEPTH ? (uint32_t)asked.frames : LIMIT_DEPTH;
}

int
selection_make_directory(char *path)
{
    char *slash = strrchr(path, '/');
    int made;

    if (slash == NULL || slash == path || selection_is_first() || !asked.has_others)
        return -ENOENT;
    *slash = '\0';
    made = sys_mkdir(path, 0700);
    *slash = '/';
    return made == -EEXIST ? 0 : made;
}
