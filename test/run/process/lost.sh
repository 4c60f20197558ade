#!/usr/bin/env bash
# lost.sh: `run --fail-on` and recordings whose profile is gone when the run ends: removed, moved,
# emptied or overwritten, or written where the run does not look. Files that the program has moved
# or copied stay in place, and a directory that it has removed stays away.
# If it fails, a gate passes a leak that it has not seen, fails a run that has lost nothing, or
# takes away a file of the program.
. "$SRCDIR/test/run/lib.subr"
need gcc python3

cat >leaks.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* Leak 5,000 bytes in this process. With a number: fork as many children, which leak as much. With
 * a program: execute it. */
int main(int count, char **arguments)
{
    int children = count > 1 ? atoi(arguments[1]) : 0;
    char *volatile leak = malloc(5000);

    memset(leak, 1, 5000);
    for (int i = 0; i < children; i++)
        if (fork() == 0) {
            leak = malloc(5000);
            exit(0);
        }
    while (wait(NULL) > 0)
        continue;
    if (count > 1 && children == 0)
        execv(arguments[1], arguments + 1);
    return 0;
}
END
gcc -O0 -g -o leaks leaks.c
mkdir elsewhere
lost="no profile was found, although recording began"

# gate NAME STATUS MESSAGE ARGUMENTS...: run with a limit of 1 MB; MESSAGE is "" for no message.
gate() {
    local name=$1 wanted=$2 message=$3
    shift 3
    rm -rf gate.processes session
    "$HEAPTAP" run --quiet --force -o "${to:-gate.heaptap}" --fail-on leaks=1M "$@" >gate.out \
        2>gate.err </dev/null
    same "$name: exit status" "$wanted" $?
    if [ -n "$message" ]; then
        check "$name: message" \
            sh -c 'grep -qF -- "$1" gate.err || { cat gate.err; false; }' - "$message"
        same "$name: one line" 1 "$(wc -l <gate.err)"
    else
        same "$name: no message" "" "$(cat gate.err)"
    fi
}

echo "# lost"
while read -r name commands; do
    gate "$name" 99 "): --fail-on cannot judge it: $lost" -- sh -c "./leaks; $commands; :"
    check "$name: the message names the process" grep -q '^heaptap: leaks (pid [0-9]*): ' gate.err
done <<'END'
emptied : >$(echo gate.processes/*.leaks.*)
truncated truncate -s 100 gate.processes/*.leaks.*
overwritten head -c 20000 /dev/zero >$(echo gate.processes/*.leaks.*)
removed rm gate.processes/*.leaks.*
moved mv gate.processes/*.leaks.* elsewhere
replaced cp gate.heaptap $(echo gate.processes/*.leaks.*)
END
gate "two" 99 "leaks (pid " -- sh -c './leaks; ./leaks; rm gate.processes/*.leaks.*; :'
check "two: message" grep -qF "and other programs, in all 2: --fail-on cannot judge them: $lost" \
    gate.err
gate "the program itself" 99 "sh (pid " -- sh -c './leaks; rm -f gate.heaptap; exec ./leaks'
gate "all of them" 99 "in all 3: --fail-on cannot judge them: $lost" \
    -- ./leaks /bin/sh -c './leaks; rm -r gate.heaptap gate.processes; :'
gate "forked children" 99 "and other programs, in all 4: --fail-on cannot judge them: $lost" \
    -- sh -c './leaks 3; rm gate.processes/*.leaks.*; :'
to=session/ gate "a directory of the user" 99 "leaks (pid " \
    -- sh -c './leaks; rm session/*.leaks.*; :'
gate "--only: this program" 99 "leaks (pid " --only leaks -- sh -c './leaks; rm gate.processes/*; :'
gate "--only: another program" 0 "" --only sh -- sh -c './leaks; rm -f gate.processes/*.leaks.*; :'
gate "a failure of the program has precedence" 3 "leaks (pid " \
    -- sh -c './leaks; rm gate.processes/*.leaks.*; exit 3'

cat >waits.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    void *volatile leak = malloc(5000);

    printf("%d\n", getpid());
    fflush(stdout);
    pause();
    return leak == NULL;
}
END
gcc -O0 -o waits waits.c
mkfifo ready
gate "a process that still runs" 0 "still runs, so --fail-on does not judge it" \
    --only leaks,waits -- sh -c './leaks; ./waits >ready &
        read -r pid <ready; echo $pid >pid; rm gate.processes/*.waits.*; :'
kill "$(cat pid)"
for _ in $(seq 200); do
    kill -0 "$(cat pid)" 2>/dev/null || break
    sleep 0.05
done
"$HEAPTAP" run --quiet --force -o gate.heaptap -- sh -c 'rm -f gate.heaptap' 2>gate.err
same "without limits: exit status" 0 $?

# A directory that the program removes stays away, and no file takes its name.
for end in "rm -r away" "mv away elsewhere/away"; do
    rm -rf elsewhere/away
    to=away/ gate "$end" 99 "no profile was found, although recording began" \
        --only leaks -- sh -c "./leaks; $end"
    rm -rf elsewhere/away
    mkdir away
    "$HEAPTAP" run --quiet -o away --fail-on leaks --only leaks -- sh -c "$end; ./leaks; :" \
        2>gate.err
    same "$end, a process follows: exit status" 99 $?
    check "$end, a process follows: message" grep -qF \
        "leaks: --fail-on cannot judge it: not recorded: no such directory" gate.err
    check "$end: nothing in its place" test ! -e away
    rm -rf elsewhere/away
    mkdir away
    "$HEAPTAP" run -o away/one.heaptap -- sh -c "./leaks; $end" 2>gate.err
    same "$end, without limits: exit status" 0 $?
    check "$end, without limits: message" grep -qF "sh left no profile: the directory away was \
removed or renamed while it ran, and its profiles with it; keep the directory until" gate.err
    same "$end, without limits: one line" 1 "$(wc -l <gate.err)"
    check "$end, without limits: nothing in its place" test ! -e away
done
gate "the directory of others" 99 "leaks (pid " --only leaks \
    -- ./leaks /bin/sh -c './leaks; rm -r gate.processes; exec ./leaks ./leaks'
check "the directory of others: nothing in its place" test ! -e gate.processes
mkdir 'with%n %p*'
to='with%n %p*/' gate "a directory whose name looks like a pattern" 0 "" -- ./leaks 3
same "a directory whose name looks like a pattern: profiles" 4 "$(ls 'with%n %p*' | wc -l)"

# Under another mount of the same path. A forked child inherits the mapping of the list. A program
# in a root directory without /proc cannot map it, and sends datagrams.
hide='mkdir -p gate.processes && mount -t tmpfs none gate.processes'
jail='mkdir -p jail gate.processes && mount --rbind / jail && mount -t tmpfs none jail/proc &&
    mount -t tmpfs none "jail/$PWD/gate.processes"'
cat >within.py <<'END'
import os, sys
os.chroot(sys.argv[1])
for _ in range(int(sys.argv[2])):
    os.spawnv(os.P_WAIT, sys.argv[3], sys.argv[3:])
END
if [ "$(id -u)" = 0 ]; then
    namespace=(unshare -m)
else
    namespace=(unshare -Urm)
fi
if ! "${namespace[@]}" bash -c "$hide" || ! "${namespace[@]}" bash -c "$jail"; then
    echo "ok - another mount namespace # SKIP cannot mount"
else
    gate "another mount namespace" 99 "leaks (pid " --only leaks \
        -- "${namespace[@]}" bash -c "$hide; ./leaks; :"
    gate "another mount namespace: forked children" 99 "leaks (pid " --only leaks \
        -- "${namespace[@]}" bash -c "$hide; ./leaks 3; :"
    check "another mount namespace: all of them" grep -qF "in all 4: --fail-on" gate.err
    gate "another root directory" 99 "leaks (pid " --only leaks \
        -- "${namespace[@]}" bash -c "$jail; python3 within.py jail 40 '$PWD/leaks'"
    check "another root directory: all of them" grep -qF "in all 40: --fail-on" gate.err
    gate "another root directory, with the profiles" 0 "" --only leaks \
        -- "${namespace[@]}" bash -c "$jail; umount 'jail/$PWD/gate.processes';
            python3 within.py jail 40 '$PWD/leaks'"
fi

# The list of recordings is bounded. Beyond it the number of profiles must suffice.
cat >began.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "format/unrecorded_counts.h"
int main(int count, char **arguments)
{
    char *path = strdup(getenv("HEAPTAP_UNRECORDED"));
    uint64_t recordings = countof(((struct unrecorded_counts *)NULL)->recording) + 10;
    int fd;

    path[strcspn(path, ":")] = '\0';
    fd = open(path, O_RDWR);
    return pwrite(fd, &recordings, sizeof recordings,
                  UNRECORDED_OFF + offsetof(struct unrecorded_counts, recordings)) != 8;
}
END
gcc -O0 -w -I"$SRCDIR/src/common" -o began began.c
gate "more recordings than the list has" 99 "4,104 programs: --fail-on cannot judge them: $lost" \
    -- ./leaks ./began
gate "more recordings than the list has, one listed" 99 "leaks (pid " \
    -- sh -c './leaks; ./began; rm gate.processes/*.leaks.*'
check "more recordings than the list has, one listed: message" \
    grep -qF "and other programs, in all 4,104: --fail-on cannot judge them" gate.err

# A copy in the place of the profile has the numbers of an earlier moment. early.c runs two
# commands: the first copies the profile, before the leak of 5 MB, and the second replaces it.
cat >early.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    char *volatile leak = malloc(400000);

    memset(leak, 1, 400000);
    if (system(arguments[1]) != 0)
        return 1;
    leak = malloc(5000000);
    memset(leak, 1, 5000000);
    if (system(arguments[2]) != 0)
        return 1;
    if (count > 3)
        _exit(0);
    return 0;
}
END
gcc -O0 -g -o early early.c
replaced="was replaced by a copy while the program ran, so later events are missing"
judged="cannot judge it: its profile $replaced"
over="leaks: 5.1 MiB, more than the 1.0 MiB that --fail-on allows"
own='gate.heaptap' child='gate.processes/*.early.*'
# over NAME ARGUMENTS...: the gate sees the whole leak.
over() {
    local name=$1
    shift
    (gate "$name" 99 "" "$@" >over.log) # A subshell: the message, of two lines, is checked below.
    check "$name: exit status" grep -q "^ok - $name: exit status" over.log
    check "$name: message" grep -qF "$over" gate.err
}
for end in "" fast; do
    gate "its own profile, replaced $end" 99 "$judged" --only early \
        -- ./early "cp $own copy" "mv copy $own" $end
    gate "a child's profile, replaced $end" 99 "$judged" --only early \
        -- sh -c "./early 'cp $child copy' 'mv copy $child' $end; :"
    gate "packed early, and replaced $end" 99 "$judged" --only early \
        -- ./early "'$HEAPTAP' pack -o copy $own >pack.out" "mv copy $own" $end
    gate "copied, and removed $end" 99 "$judged" --only early \
        -- ./early "cp $own copy" "rm $own" $end
    rm -f copy
    over "replaced, and moved $end" --only early \
        -- ./early "cp $own copy" "mv $own kept; mv copy $own" $end
    rm -f kept copy
    over "replaced by a hard link $end" --only early \
        -- ./early "ln $own link" "mv link $own; rm -f link" $end
done
for option in --no-pack --annotate "--reserve 4M"; do
    # shellcheck disable=SC2086 # Words of options.
    gate "replaced, $option" 99 "$judged" $option --only early \
        -- ./early "cp $own copy" "mv copy $own"
done
"$HEAPTAP" run --quiet --force -o gate.heaptap --fail-on leaks=1M --self-contained-core \
    --only early -- ./early "cp gate.heaptap copy" "mv copy gate.heaptap" 2>gate.err
same "replaced, --self-contained-core: exit status" 99 $?
check "replaced, --self-contained-core: message" grep -qF "$judged" gate.err
for option in "" --no-pack; do
    # shellcheck disable=SC2086 # No word, or one.
    "$HEAPTAP" run $option --force -o gate.heaptap --only early \
        -- ./early "cp gate.heaptap copy" "mv copy gate.heaptap" 2>gate.err
    same "replaced, without limits $option: exit status" 0 $?
    check "replaced, without limits $option: message" \
        grep -q "^heaptap: warning: early (pid [0-9]*): its profile $replaced" gate.err
    for command in "leaks --fail-over 100M" "diff --fail-over 100M gate.heaptap"; do
        # shellcheck disable=SC2086 # Words of a command.
        "$HEAPTAP" $command gate.heaptap >later.out 2>&1
        same "replaced $option: ${command%% *} later: exit status" 3 $?
    done
done
"$HEAPTAP" run --quiet --force --no-pack -o gate.heaptap --only early -- ./early : :
cp gate.heaptap copy
for view in report leaks sizes; do
    "$HEAPTAP" $view copy >later.out 2>later.err
    same "a copy of a finished profile: $view" "0, " "$?, $(cat later.err)"
    check "a copy of a finished profile: $view: no damage" \
        sh -c "! grep -Ei 'damage|copy of|replaced' later.out"
done
"$HEAPTAP" leaks --fail-over 6M copy >later.out 2>&1
same "a copy of a finished profile: within a limit" 0 $?
rm -f copy

echo "# nothing lost"
gate "one process" 0 "" -- ./leaks
gate "a chain of programs" 0 "" -- ./leaks ./leaks ./leaks ./leaks /bin/sh -c 'exec ./leaks'
gate "200 forked processes" 0 "" -- ./leaks 200
gate "processes side by side" 0 "" \
    -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ./leaks 5 & done; wait'
gate "packed meanwhile" 0 "" -- sh -c './leaks; "$1" pack gate.processes/*.leaks.*; :' - "$HEAPTAP"
gate "renamed" 0 "" -- sh -c './leaks; mv gate.processes/*.leaks.* gate.processes/renamed; :'
gate "moved beside the first" 0 "" -- sh -c './leaks; mv gate.processes/*.leaks.* beside; :'
gate "copied" 0 "" -- sh -c './leaks; cp gate.processes/*.leaks.* gate.processes/copy; :'

# The program's own moves and copies of the profile that the run is about.
sed 's/5000/500000/' leaks.c >large.c
gcc -O0 -g -o large large.c
# stays NAME FILE COUNT COMMANDS: after COMMANDS the file FILE stays; if it is a copy, unchanged.
# COUNT processes other than the main one are in the summary, each once.
stays() {
    rm -rf kept* gate.processes gate.*heaptap
    "$HEAPTAP" run --force -o gate.heaptap --fail-on leaks=1M -- \
        sh -c "./large; $4; cat $2 >left; :" 2>gate.err
    same "$1: exit status" 0 $?
    check "$1: the file stays" test -e "$2"
    [ "${1%%copied*}" = "$1" ] || check "$1: unchanged" cmp left "$2"
    same "$1: the summary counts each process once" "$3" \
        "$(sed -n 's/^heaptap: \([0-9]*\) others* in .*/\1/p' gate.err)"
    same "$1: a report counts each process once" 1 "$("$HEAPTAP" report --json gate.processes |
        python3 -c 'import json, sys
print(sum(p["program"] == "large" for p in json.load(sys.stdin)["processes"]))')"
}
stays "moved beside the first" kept.heaptap 3 'mv gate.processes/*.large.* kept.heaptap'
stays "moved in the directory" gate.processes/kept.heaptap 3 \
    'mv gate.processes/*.large.* gate.processes/kept.heaptap'
stays "copied beside the first" kept.heaptap 3 'cp gate.processes/*.large.* kept.heaptap'
stays "copied beside the first, the newer file" kept.heaptap 4 \
    "'$HEAPTAP' pack gate.processes/*.large.* >/dev/null; cp gate.processes/*.large.* kept.heaptap"
stays "copied in the directory" gate.processes/kept.heaptap 3 \
    'cp gate.processes/*.large.* gate.processes/kept.heaptap'
stays "a directory copied" kept/copy.heaptap 4 \
    'cp -r gate.processes kept; mv kept/*.large.* kept/copy.heaptap'
to=session/ gate "a directory of the user" 0 "" -- sh -c './leaks 3; ./leaks ./leaks'
to=gate.%p gate "a name with the process id" 0 "" -- sh -c './leaks 3; ./leaks ./leaks'
gate "--self-contained-core" 0 "" --self-contained-core -- ./leaks 3
for options in "--sample 1K" "--no-children" "--reserve 4M" "--no-pack" \
    "--annotate" "--snapshot-signal USR2" "--callers 1/2" "--max-memory 4M"; do
    # shellcheck disable=SC2086 # Words of options.
    gate "$options" 0 "" $options -- sh -c './leaks; ./leaks ./leaks; exec ./leaks'
done

finish
