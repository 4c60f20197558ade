#!/usr/bin/env bash
# unrecorded.sh: `run --fail-on` and processes without a recorder: programs executed with another
# environment, forked children under --reserve, children whose recorder cannot start, and programs
# with their own malloc.
# If it fails, a gate passes a leak that it has not seen, fails a program that it has seen, or
# changes the arguments of a program.
. "$SRCDIR/test/run/lib.subr"
need gcc

cat >leaks.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments)
{
    static char line[64];
    int used = 0;

    for (int i = 1; i < count; i++)
        used += snprintf(line + used, sizeof line - used, "[%s]", arguments[i]);
    FILE *out = fopen("arguments", "w");
    setbuf(out, NULL);
    fputs(line, out);
    fclose(out);
    return malloc(10000000) == NULL;
}
END
sed 's/return malloc.*/return 0;/' leaks.c >quiet.c
gcc -O0 -o leaks leaks.c && gcc -O0 -o quiet quiet.c

# gate NAME STATUS MESSAGE ARGUMENTS...: run with a limit of 1 MB; MESSAGE is "" for no message.
gate() {
    local name=$1 wanted=$2 message=$3
    shift 3
    "$HEAPTAP" run --quiet --force -o gate.heaptap --fail-on leaks=1M "$@" >gate.out 2>gate.err \
        </dev/null
    same "$name: exit status" "$wanted" $?
    if [ -n "$message" ]; then
        check "$name: message" \
            sh -c 'grep -qF -- "$1" gate.err || { cat gate.err; false; }' - "$message"
    else
        same "$name: no message" "" "$(cat gate.err)"
    fi
}

for name in execve execv execvp execvpe fexecve execveat execl execlp execle posix_spawn \
    posix_spawnp; do
    rm -f arguments
    gate "$name, emptied environment" 99 \
        "leaks: --fail-on cannot judge it: started without LD_PRELOAD and HEAPTAP_SESSION" \
        -- "$PROG/execs" $name emptied ./leaks
    same "$name: the arguments" "[a][b c][]" "$(cat arguments)"
    rm -f arguments
    gate "$name, kept environment" 0 "" -- "$PROG/execs" $name kept ./quiet
    same "$name: the arguments again" "[a][b c][]" "$(cat arguments)"
done

gate "the program itself" 99 "leaks: --fail-on cannot judge it" \
    -- "$PROG/execs" here execve emptied ./leaks
gate "env -i" 99 "leaks: --fail-on cannot judge it" -- env -i ./leaks
gate "only LD_PRELOAD missing" 99 "quiet: --fail-on cannot judge it" -- env -u LD_PRELOAD ./quiet
gate "only HEAPTAP_SESSION missing" 99 "quiet: --fail-on cannot judge it" \
    -- env -u HEAPTAP_SESSION ./quiet
gate "two" 99 "leaks and other programs, in all 2: --fail-on cannot judge them" \
    -- sh -c 'env -i ./leaks; env -i ./quiet'
gate "a failure of the program has precedence" 3 "leaks: --fail-on cannot judge it" \
    -- sh -c 'env -i ./leaks; exit 3'

gate "--only: another program" 0 "" --only env -- env -i ./quiet
gate "--only: this program" 99 "leaks: --fail-on cannot judge it" \
    --only 'env,lea*' -- env -i ./leaks
gate "--no-children: a child" 0 "" --no-children -- "$PROG/execs" posix_spawn emptied ./leaks
gate "--no-children: a forked child" 0 "" --no-children -- "$PROG/execs" execv emptied ./leaks
gate "--no-children: the program itself" 99 "leaks: --fail-on cannot judge it" \
    --no-children -- "$PROG/execs" here execve emptied ./leaks

"$HEAPTAP" run --quiet --force -o gate.heaptap -- env -i ./leaks 2>gate.err
same "without limits: exit status" 0 $?
same "without limits: no message" "" "$(cat gate.err)"

# Programs that cannot be recorded cause a warning, with the recorder's variables and without.
gcc -O0 -static -o static_leaks leaks.c
printf '#!%s x\n' "$PWD/static_leaks" >static_script && chmod +x static_script
static="is statically linked; link it with libheaptap_static.a"
# unjudged NAME CAUSE PROGRAM
unjudged() {
    local with
    for with in "" "env -i " "env -u LD_PRELOAD "; do
        gate "$1: $with" 0 \
            "warning: ${3#./} cannot be recorded, so --fail-on does not judge it: it $2" \
            -- sh -c "$with$3; :"
        same "$1: $with: one line" 1 "$(wc -l <gate.err)"
    done
    gate "$1: two" 0 "warning: ${3#./} and other programs, in all 2, cannot be recorded, so" \
        -- sh -c "$3; env -i $3; :"
    gate "$1: --only this one" 99 "nothing could be judged" --only "${3#./}" -- sh -c "$3; :"
    gate "$1: --only another one" 0 "" --only quiet -- sh -c "$3; env -i $3; ./quiet"
    gate "$1: --no-children" 0 "" --no-children -- sh -c "$3; :"
}
unjudged "a static program" "$static" ./static_leaks
unjudged "a script of a static interpreter" "$static" ./static_script
mkdir found && cp static_leaks found/found_leaks
for name in execvp execvpe posix_spawnp execve execveat execl execlp posix_spawn; do
    for kind in kept emptied; do
        program=./static_leaks
        case $name,$kind in # Without the environment there is no PATH.
        *p,kept | *pe,kept | posix_spawnp,*) program=found_leaks ;;
        esac
        PATH=$PWD/found:$PATH gate "a static program: $name, $kind" 0 \
            "warning: ${program#./} cannot be recorded" -- "$PROG/execs" $name $kind $program
    done
done
gate "a static program: an exec that fails" 0 "" -- sh -c './none 2>/dev/null; :'
if command -v musl-gcc >/dev/null && musl-gcc -o musl_leaks leaks.c; then
    unjudged "a program with musl" "uses musl as its C library" ./musl_leaks
else
    echo "ok - a program with musl # SKIP needs musl-gcc"
fi
if gcc -m32 -o small32 leaks.c 2>/dev/null; then
    unjudged "a program of 32 bits" "is built for another architecture" ./small32
else
    echo "ok - a program of 32 bits # SKIP needs gcc -m32 (libc6-dev-i386)"
fi
if [ "$(id -u)" = 0 ]; then
    printf '#include <stdlib.h>\nint main(void) { return malloc(9000000) == NULL; }\n' >plain.c
    gcc -O0 -fno-builtin -o plain plain.c
    cp plain privileged
    chown 65534 privileged && chmod 4111 privileged
    unjudged "a setuid program" "has more rights than its user (setuid)" ./privileged
    cp plain own_rights && chmod 4755 own_rights
    gate "a setuid program of the user" 99 "own_rights (pid " -- sh -c './own_rights; :'
    gate "a setuid program whose rights are denied" 99 "privileged2 (pid " -- sh -c '
        cp plain privileged2; chown 65534 privileged2; chmod 4755 privileged2
        setpriv --no-new-privs ./privileged2; :'
else
    echo "ok - a setuid program # SKIP needs root"
fi

# With --reserve, a forked child that executes no program is not recorded. If it allocates, the run
# prints a warning.
cat >forks.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    free(malloc(1));
    for (int i = 0; i < atoi(arguments[1]); i++)
        if (fork() == 0)
            _exit(malloc(2000000) == NULL);
    while (wait(NULL) > 0)
        continue;
    return count == 0;
}
END
gcc -O0 -o forks forks.c
gate "a reserve: one forked child" 0 "warning: 1 process was not recorded, because --reserve" \
    --reserve 4M -- ./forks 1
gate "a reserve: three forked children" 0 "3 processes were not recorded, because --reserve" \
    --reserve 4M -- ./forks 3
gate "a reserve: none" 0 "" --reserve 4M -- ./forks 0
gate "a reserve, --no-children" 0 "" --reserve 4M --no-children -- ./forks 3
gate "a reserve: an executed child" 0 "" --reserve 4M -- "$PROG/execs" here posix_spawn kept ./quiet
gate "without a reserve: a forked child" 99 "leaks: 1.9 MiB, more than the 1.0 MiB" -- ./forks 1

# Children that cannot start recording: a forked one, and a program that it executes.
cat >limited.c <<'END'
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static void limit(int resource, rlim_t value)
{
    if (setrlimit(resource, &(struct rlimit){value, value}) != 0)
        _exit(1);
}
static int child(char **arguments)
{
    if (strcmp(arguments[1], "user") == 0 &&
        (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
        _exit(1);
    if (strcmp(arguments[1], "space") == 0)
        limit(RLIMIT_AS, 60000000);
    if (strcmp(arguments[1], "size") == 0)
        limit(RLIMIT_FSIZE, 1024);
    if (strcmp(arguments[1], "files") == 0)
        limit(RLIMIT_NOFILE, 3);
    if (arguments[2] != NULL) {
        execv(arguments[2], arguments + 2);
        _exit(2);
    }
    _exit(malloc(2000000) == NULL);
}
int main(int count, char **arguments)
{
    int status;

    free(malloc(1));
    if (fork() == 0)
        child(arguments);
    wait(&status);
    return status;
}
END
gcc -O0 -o limited limited.c
sed 's/FILE \*out/return malloc(2000000) == NULL; FILE *out/' leaks.c >only_leaks.c
gcc -w -O0 -o only_leaks only_leaks.c
gate "a limit on the size of files: a forked child" 99 \
    "limited: --fail-on cannot judge it: not recorded: the limit on file size is too low" \
    -- ./limited size
gate "a limit on the size of files: a program" 99 \
    "only_leaks: --fail-on cannot judge it: not recorded: the limit on file size is too low" \
    -- ./limited size ./only_leaks
gate "a limit on open files: a forked child" 99 \
    "limited: --fail-on cannot judge it: not recorded: too many open files" -- ./limited files
gate "a limit on address space: a program" 99 \
    "only_leaks: --fail-on cannot judge it: not recorded: no memory" \
    -- ./limited space ./only_leaks
gate "no limit" 99 "leaks: 1.9 MiB, more than the 1.0 MiB" -- ./limited none ./only_leaks
# The limit on the size of files also applies to the shared memory of the counts.
for how in -S -SH; do
    printf '#!/usr/bin/env bash\nulimit %s -f 20 && exec "%s" "$@"\n' $how "$HEAPTAP" >run$how
    chmod +x run$how
done
HEAPTAP=$PWD/run-S gate "a limit on the size of files for all" 99 \
    "leaks: 9.5 MiB, more than the 1.0 MiB" -- sh -c 'ulimit -f unlimited; ./leaks; :'
HEAPTAP=$PWD/run-S gate "a limit on the size of files for all: the program keeps it" 0 "" \
    --only quiet -- bash -c '[ "$(ulimit -f)" = 20 ] && ulimit -f unlimited && exec ./quiet'
HEAPTAP=$PWD/run-SH gate "a limit on the size of files that nobody can raise" 3 \
    "--fail-on needs a file in memory, and the limit on file size is too low; raise it (ulimit" \
    -- ./leaks
gate "two failures" 99 "limited and other programs, in all 2: --fail-on cannot judge them" \
    -- sh -c './limited size; ./limited size'
gate "--only: a failure of another program" 0 "" --only limited -- ./limited size ./only_leaks
gate "--no-children: a failure of a child" 0 "" --no-children -- ./limited size ./only_leaks

# A malloc in the program precedes the recorder's, unless it passes the calls on.
cat >own.c <<'END'
#include <stddef.h>
static char pool[1 << 25];
static size_t used;
void *malloc(size_t size) { used += (size + 15) & ~(size_t)15; return pool + used; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *p, size_t size) { return malloc(size); }
void free(void *p) { }
int main(void) { void *volatile p = malloc(2000000); return p == NULL; }
END
sed -e 's/^#include.*/#define _GNU_SOURCE\n#include <dlfcn.h>\n&/' -e '/^void \*calloc/d' \
    -e '/^void \*realloc/d' -e '/^void free/d' -e '/^static/d' -e 's/(2000000)/(1000)/' \
    -e 's/{ used .*}/{ return ((void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"))(size); }/' \
    own.c >passes_on.c
gcc -w -fno-builtin -o own own.c && gcc -w -fno-builtin -o passes_on passes_on.c
gate "its own malloc: the program itself" 99 \
    "--fail-on cannot judge it: not recorded: a malloc linked into the program" -- ./own
gate "its own malloc: a child" 99 \
    "--fail-on cannot judge it: not recorded: a malloc linked into the program" -- sh -c './own; :'
check "its own malloc: the message names the process" \
    grep -q '^heaptap: own (pid [0-9]*): ' gate.err
same "its own malloc: one line" 1 "$(wc -l <gate.err)"
gate "its own malloc: after an exec" 99 "own (pid " -- sh -c 'exec ./own'
gate "its own malloc: two" 99 "and other programs, in all 2: --fail-on cannot judge them" \
    -- sh -c './own; ./own; :'
gate "its own malloc: --only another program" 0 "" --only sh -- sh -c './own; :'
gate "its own malloc: --no-children" 0 "" --no-children -- sh -c './own; :'
gate "a malloc that passes calls on" 0 "" -- sh -c './passes_on; :'
gate "its own malloc: --reserve, which makes a profile in any case" 99 \
    "--fail-on cannot judge it: not recorded: a malloc linked into the program" \
    --reserve 4M -- ./own
gate "a malloc that passes calls on: --reserve" 0 "" --reserve 4M -- ./passes_on

sed '/^int main/d' own.c >own_lacks.c
printf '%s\n' 'void *reallocarray(void *, size_t, size_t);' \
    'int main(void) { void *volatile q = reallocarray(NULL, 9, 9), *volatile p = malloc(2000000);' \
    '    return !p || !q; }' >>own_lacks.c
gcc -w -fno-builtin -o own_lacks own_lacks.c
gate "its own malloc, without reallocarray" 99 \
    "--fail-on cannot judge it: not recorded: a malloc linked into the program" -- ./own_lacks

# So does the malloc of a library that a start script preloads in front of the recorder.
sed '/^int main/d' own.c >front.c
sed '/^int main/d' passes_on.c >front_passes_on.c
for library in front front_passes_on; do
    gcc -w -O1 -fno-builtin -shared -fPIC -o lib$library.so $library.c -ldl
done
printf '#include <stdlib.h>\nint main(void) { return malloc(2000000) == NULL; }\n' >some.c
gcc -O0 -fno-builtin -o some some.c
in_front="not recorded: the malloc of libfront.so precedes the recorder's; preload it behind the"
for how in "" "exec "; do
    gate "a library in front: ${how}a program" 99 "$in_front" \
        -- sh -c "LD_PRELOAD=$PWD/libfront.so:\$LD_PRELOAD ${how}./some; :"
    check "a library in front: ${how}the message names the process" \
        grep -q '^heaptap: some (pid [0-9]*): --fail-on cannot judge it: ' gate.err
done
gate "a library in front: two programs" 99 \
    "some (pid " -- sh -c "export LD_PRELOAD=$PWD/libfront.so:\$LD_PRELOAD; ./some; ./some; :"
same "a library in front: two programs: one line" 1 "$(wc -l <gate.err)"
gate "a library in front: --reserve" 99 "$in_front" --reserve 4M \
    -- sh -c "LD_PRELOAD=$PWD/libfront.so:\$LD_PRELOAD ./some; :"
gate "a library in front: --only another program" 0 "" --only sh \
    -- sh -c "LD_PRELOAD=$PWD/libfront.so:\$LD_PRELOAD ./some; :"
gate "a library in front: it passes calls on" 99 "some (pid " \
    -- sh -c "LD_PRELOAD=$PWD/libfront_passes_on.so:\$LD_PRELOAD ./some; :"
check "a library in front: it passes calls on: judged" \
    grep -q 'leaks: 1.9 MiB, more than the 1.0 MiB' gate.err

# Such a library may lack functions. The recorder gets their calls and leaves a profile, which lacks
# all blocks of malloc.
printf '%s\n' '#define _GNU_SOURCE' '#include <malloc.h>' '#include <stdlib.h>' \
    'int main(void) { void *volatile q = CALL, *volatile p = malloc(2000000); return !p || !q; }' \
    >lacks.c
i=0
for call in "reallocarray(NULL, 10, 10)" "pvalloc(10)" "memalign(64, 10)" \
    "aligned_alloc(64, 64)"; do
    i=$((i + 1))
    gcc -O0 -w -fno-builtin -DCALL="$call" -o lacks$i lacks.c
    gate "a library in front, without ${call%%(*}" 99 "$in_front" \
        -- sh -c "LD_PRELOAD=$PWD/libfront.so:\$LD_PRELOAD ./lacks$i; :"
    gate "a library in front, which passes on only malloc, without ${call%%(*}" 99 \
        "leaks: 1.9 MiB, more than the 1.0 MiB" \
        -- sh -c "LD_PRELOAD=$PWD/libfront_passes_on.so:\$LD_PRELOAD ./lacks$i; :"
done
gate "a library behind" 99 "leaks: 1.9 MiB, more than the 1.0 MiB" \
    -- sh -c "LD_PRELOAD=\$LD_PRELOAD:$PWD/libfront.so ./some; :"
if [ "$(id -u)" != 0 ]; then
    echo "ok - another user # SKIP needs root"
elif ! ./limited user /bin/sh -c "test -r $LIBHEAPTAP"; then
    echo "ok - another user # SKIP the user 65534 cannot read $LIBHEAPTAP"
else
    gate "another user: a forked child" 99 \
        "limited: --fail-on cannot judge it: not recorded: permission denied" -- ./limited user
    gate "another user: a program, which cannot map the counts" 99 \
        "sh: --fail-on cannot judge it: not recorded: permission denied" \
        -- ./limited user /bin/sh -c :
    "$HEAPTAP" run --quiet --force -o gate.heaptap -- ./limited user /bin/sh -c : 2>gate.err
    same "another user, without limits: exit status" 0 $?
fi

# The programs of a nested run belong to that run.
nested="warning: a nested heaptap run recorded leaks, so --fail-on does not judge it"
inner=("$HEAPTAP" run --quiet --force -o inner.heaptap)
gate "a nested run" 0 "$nested" -- "${inner[@]}" -- ./leaks
gate "a nested run: by a shell" 0 "$nested" -- sh -c '"$@"; :' - "${inner[@]}" -- ./leaks
gate "a nested run: of a shell" 0 "warning: a nested heaptap run recorded sh, so" \
    -- "${inner[@]}" -- sh -c './leaks; :'
same "a nested run: one line" 1 "$(wc -l <gate.err)"
gate "a nested run: two" 0 \
    "recorded quiet and other programs, in all 2, so --fail-on does not judge them" \
    -- sh -c '"$@" ./quiet; "$@" ./leaks; :' - "${inner[@]}" --
gate "a nested run: with limits of its own" 0 "" -- "${inner[@]}" --fail-on leaks=1G -- ./leaks
gate "a nested run: beyond its own limits" 99 "leaks: 9.5 MiB, more than the 2.0 MiB" \
    -- "${inner[@]}" --fail-on leaks=2M -- ./leaks
gate "a nested run: --no-children" 0 "" --no-children -- "${inner[@]}" -- ./leaks
gate "a nested run: not executable" 126 "cannot be executed" -- "${inner[@]}" -- ./leaks.c

finish
