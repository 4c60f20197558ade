#!/usr/bin/env bash
# gates.sh: limits that make a command fail: diff --fail-over, leaks --fail-over, run --fail-on, and
# run --force. If it fails, a build passes that should fail, or fails although it should pass, or a
# program's exit status or a user's file is lost.
. "$SRCDIR/test/run/lib.subr"
need python3 jq gcc

PATH=$(dirname "$HEAPTAP"):$PATH

# gives NAME STATUS MESSAGE COMMAND...: check COMMAND's exit status and a line of its stderr, "" for
# none.
gives() {
    local name=$1 wanted=$2 message=$3
    shift 3
    "$@" >out 2>err </dev/null
    same "$name: exit status" "$wanted" $?
    if [ -n "$message" ]; then
        check "$name: message" grep -qF -- "$message" err || cat err
    else
        check "$name: no message" sh -c '! grep "allows\|judge" err'
    fi
}

echo "# the guide"
check "docs/guide/ci.md" run_python - <<'END'
import os, re, subprocess, sys
with open(os.environ["SRCDIR"] + "/docs/guide/ci.md", encoding="utf-8") as f:
    blocks = re.findall(r"```(c|sh|text)\n(.*?)```", f.read(), re.DOTALL)
def plain(text):
    text = re.sub(r"\(pid \d+\)", "(pid)", text)
    return [line.replace(os.path.basename(os.getcwd()) + "/", "").split() for line in
            text.splitlines()]
ran = 0
for (kind, text), (_, wanted) in zip(blocks, blocks[1:] + [("", "")]):
    if kind == "c":
        with open("tests.c", "w", encoding="ascii") as f:
            f.write(text)
    if kind != "sh":
        continue
    out = subprocess.run(["bash", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, check=False).stdout
    missing = [line for line in plain(wanted) if line not in plain(out)]
    print(text + out)
    if missing:
        sys.exit(f"not said: {missing}")
    ran += 1
sys.exit(ran < 5)
END

echo "# growth"
# Make base.heaptap and new.heaptap: 1,000 blocks of 21 bytes, freed or not.
gives "no limit" 0 "" heaptap diff base.heaptap new.heaptap
gives "not named" 1 "inuse grew by 20.5 KiB, more than the 5 % that --fail-over allows" \
    heaptap diff --fail-over 5% base.heaptap new.heaptap
check "not named: also the peak" grep -q "peak grew by 20.5 KiB" err
same "not named: the function behind each" 2 "$(grep -c '; most in copy: +20.5 KiB$' err)"
cat >sources.c <<'END'
#include <stdlib.h>
#include <string.h>
static void *xmalloc(size_t size) { return malloc(size); }
static __attribute__((noinline)) void *steady(void) { return xmalloc(5000); }
static __attribute__((noinline)) void *shrinks(int old) { return xmalloc(old ? 900 : 100); }
static __attribute__((noinline)) void *grows(int old) { return xmalloc(old ? 100 : 1000); }
int main(int c, char **v)
{
    int old = strcmp(v[1], "old") == 0;
    return !steady() + !shrinks(old) + !grows(old);
}
END
gcc -g -w -o sources sources.c
heaptap run --quiet -o old.heaptap -- ./sources old
heaptap run --quiet -o young.heaptap -- ./sources young
gives "a function grew by more than all" 1 "; most in grows: +900 B" \
    heaptap diff --fail-over inuse=99 old.heaptap young.heaptap
same "the function behind it, in JSON" "grows 900" \
    "$(heaptap diff --json --fail-over inuse=99 old.heaptap young.heaptap 2>/dev/null | python3 -c '
import json, sys
limit = json.load(sys.stdin)["limits"][0]
print(limit["cause"], limit["cause_growth"])')"
gives "run: the largest, steady or not" 99 "; most in steady: 4.9 KiB" \
    heaptap run --quiet -o new2.heaptap --fail-on inuse=1 -- ./sources young
same "not named: a line each" 2 "$(wc -l <err)"
gives "a size not named" 0 "" heaptap diff --fail-over 1M base.heaptap new.heaptap
gives "the metric asked for" 0 "" heaptap diff --alloc --fail-over 0 base.heaptap new.heaptap
gives "to the byte: within" 0 "" heaptap diff --fail-over inuse=21000 base.heaptap new.heaptap
gives "to the byte: beyond" 1 \
    "inuse grew by 21,000 bytes, more than the 20,999 bytes that --fail-over allows" \
    heaptap diff --fail-over inuse=20999 base.heaptap new.heaptap
printf '%s\n' '#include <stdlib.h>' 'int main(int c, char **v) { return !malloc(atoi(v[1])); }' \
    >one.c
gcc -w -o one one.c
heaptap run --quiet -o little.heaptap -- ./one 1
# On a busy machine, a short run may last long enough for a snapshot.
for _ in $(seq 20); do
    rm -f much.heaptap
    heaptap run --quiet -o much.heaptap -- ./one 100000
    heaptap timeline much.heaptap >/dev/null 2>&1 || break
done
gives "a million percent" 1 "more than the 1000000 % that --fail-over allows" \
    heaptap diff --fail-over inuse=1000000% little.heaptap much.heaptap
gives "shrinking" 0 "" heaptap diff --fail-over 0,leaks,peak=0% new.heaptap base.heaptap
gives "other stacks" 0 "" \
    heaptap diff --filter nobody --fail-over 0,leaks base.heaptap new.heaptap
heaptap run --quiet --no-pack -o slow.heaptap -- "$PROG/slowleak" 12000 20000 >slow.out
gives "a moment knows no peak" 2 "'peak' needs a whole run" \
    heaptap diff --fail-over peak=0 slow.heaptap@start slow.heaptap
gives "a moment, not named" 1 "inuse grew by" \
    heaptap diff --fail-over 0 slow.heaptap@start slow.heaptap
same "a moment, not named: of what is known" 1 "$(grep -c allows err)"
gives "no limit at all" 2 "did you mean leaks?" \
    heaptap diff --fail-over laeks=0 base.heaptap new.heaptap
heaptap run --quiet -o other.heaptap -- ./tests
heaptap merge -o two.heaptap new.heaptap other.heaptap >/dev/null 2>&1
gives "merged" 1 "leaks grew by 20.5 KiB (100.0 %), more than the 99 % that" \
    heaptap diff --fail-over leaks=99% new.heaptap two.heaptap
gives "merged: within" 0 "" heaptap diff --fail-over leaks=100% new.heaptap two.heaptap

echo "# leaks"
gives "leaks: none allowed" 1 "are still live" heaptap leaks --fail-over 0 new.heaptap
gives "leaks: to the byte" 1 "21,000 bytes are still live, more than the 20,999 bytes that" \
    heaptap leaks --fail-over 20999 new.heaptap
gives "leaks: none there" 0 "" heaptap leaks --fail-over 0 base.heaptap
gives "leaks: by name" 0 "" heaptap leaks --fail-over leaks=21000 new.heaptap
gives "leaks: no percents" 2 "5% has no base" heaptap leaks --fail-over 5% new.heaptap
gives "leaks: a negative limit" 2 "'-1' is no limit; write a number or a size" \
    heaptap leaks --fail-over -1 new.heaptap
gives "leaks: none allowed" 1 "still live, and --fail-over allows none" \
    heaptap leaks --fail-over 0 new.heaptap
gives "leaks: at the peak" 1 "were live at peak, more than the 5 B that" \
    heaptap leaks --at peak --fail-over 5 new.heaptap
gives "leaks: nothing else" 2 "'peak' is not one of leaks" \
    heaptap leaks --fail-over peak=5 new.heaptap

echo "# profiles that cannot be read"
mkdir partly
cp new.heaptap partly/heaptap.tests.1.heaptap
head -c 5000 new.heaptap >partly/heaptap.tests.2.heaptap
gives "leaks: one of two" 3 "" heaptap leaks --fail-over 1G partly
gives "leaks: one of two, beyond" 3 "" heaptap leaks --fail-over 5 partly
gives "leaks: without a limit" 0 "" heaptap leaks partly
gives "diff: one of two" 3 "cannot judge it: partly lacks 1 profile that could not be read" \
    heaptap diff --fail-over 1G base.heaptap partly
gives "diff: one of two, the other side" 3 "cannot judge it: partly lacks" \
    heaptap diff --fail-over 1G partly base.heaptap

# Each view of a session first states how many profiles it lacks, however many are left.
cp -r partly mostly
cp base.heaptap mostly/heaptap.tests.3.heaptap
: >mostly/heaptap.tests.4.heaptap
for lacking in "partly 1 profile" "mostly 2 profiles"; do
    read -r session number noun <<<"$lacking"
    words="$session lacks $number $noun that could not be read; its numbers are incomplete or wrong"
    for view in report "report --full" "report --tree" leaks "leaks --paths" functions callgraph \
        sizes "source main"; do
        # shellcheck disable=SC2086 # Words of a command.
        same "$view of $session: the damage comes first" \
            "Damaged: $words, so merge whole profiles" \
            "$(heaptap $view $session 2>err |
                awk 'NR > 1 && !/^    / {exit} {sub(/^ +/, " "); printf "%s", $0}')"
    done
    for view in report leaks functions callgraph sizes "source main"; do
        # shellcheck disable=SC2086 # Words of a command.
        same "$view --json of $session: the damage" "$words, so merge whole profiles $number" \
            "$(heaptap $view --json $session 2>err | jq -r '"\(.damage) \(.left_out)"')"
    done
done

# unread KIND: check that an unreadable file in `partly` is reported, also by a merge.
unread() {
    local path=partly/heaptap.tests.2.heaptap
    gives "leaks: $1" 3 "$path" heaptap leaks --fail-over 1G partly
    gives "diff: $1" 3 "$path" heaptap diff --fail-over 1G base.heaptap partly
    gives "merge: $1" 3 "$path" heaptap merge -o partly.heaptap partly
    check "merge: $1: nothing is written" test ! -e partly.heaptap
    rm -f $path
}
: >partly/heaptap.tests.2.heaptap
unread "an empty one"
head -c 60 new.heaptap >partly/heaptap.tests.2.heaptap
unread "one without a header"
head -c 20000 /dev/zero >partly/heaptap.tests.2.heaptap
unread "zeros"
ln -s nowhere partly/heaptap.tests.2.heaptap
unread "a link that leads nowhere"
if [ "$(id -u)" != 0 ]; then
    install -m 0 new.heaptap partly/heaptap.tests.2.heaptap
    unread "one that may not be opened"
fi
mkdir partly/heaptap.directory.heaptap
mkfifo partly/heaptap.fifo.heaptap
echo "no profile" >partly/note.txt
: >partly/.hidden.heaptap
gives "a file that is no profile" 0 "" heaptap leaks --fail-over 1G partly
same "no message about a file that is no profile" "" "$(cat err)"
heaptap run --quiet -o whole.heaptap -- sh -c './tests; :'
head -c 60 whole.heaptap >cut && mv cut whole.heaptap
gives "the first process beside the others" 3 "whole.heaptap" \
    heaptap leaks --fail-over 1G whole.processes

echo "# moments"
# One process is too short for a snapshot: only its start, end and peak are known. The other process
# takes a snapshot called warm.
printf '%s\n' '#include <stdlib.h>' '#include "heaptap/heaptap.h"' \
    'int main(void) { void *volatile p = malloc(1000); heaptap_snapshot("warm"); return !p; }' \
    >warm.c
gcc -w -I "$SRCDIR/include" -o warm warm.c
mkdir moments
heaptap run --quiet -o moments/heaptap.warm.1.heaptap -- ./warm
cp much.heaptap moments/heaptap.one.2.heaptap
gives "without snapshots there is no timeline" 3 "it has no snapshots: the run was too short" \
    heaptap timeline much.heaptap
gives "a short run at its end" 1 "100,000 bytes were live at end, more than the 99,999 bytes that" \
    heaptap leaks --at end --fail-over 99999 much.heaptap
gives "a short run at its start" 0 "" heaptap leaks --at start --fail-over 0 much.heaptap
gives "the growth between moments" 1 \
    "live bytes grew by 100,000 bytes in start..end, more than the 99,999 bytes that" \
    heaptap leaks --between start..end --fail-over 99999 much.heaptap
gives "a short run from start to end" 1 "inuse grew by 100,000 bytes, more than the 99,999 bytes" \
    heaptap diff --fail-over inuse=99999 much.heaptap@start much.heaptap@end
gives "a merged profile at its end" 1 "leaks grew by 41.0 KiB, and --fail-over allows none" \
    heaptap diff --fail-over leaks two.heaptap@start two.heaptap@end
gives "a short run between" 3 "only its start, end and peak are known" \
    heaptap leaks --at warm --fail-over 1G much.heaptap
gives "a session at its end" 1 "101,000 bytes were live at end, more than the 100,999 bytes that" \
    heaptap leaks --at end --fail-over 100999 moments
gives "a session at its end: within" 0 "" heaptap leaks --at end --fail-over 101000 moments
gives "a moment that one process does not have" 3 "only its start, end and peak are known" \
    heaptap leaks --at warm --fail-over 1G moments
gives "diff: a moment that one process does not have" 3 "only its start, end and peak are known" \
    heaptap diff --fail-over 1G moments@warm moments/heaptap.warm.1.heaptap@warm
lacks="1 process of moments is left out: the requested moment is not known there"
same "in the text of a view" "Incomplete: $lacks" "$(heaptap leaks --at warm moments 2>err |
    awk 'NR > 1 && !/^    / {exit} {sub(/^ +/, " "); printf "%s", $0}')"
same "in JSON" "heaptap-session $lacks 1 1000" "$(heaptap leaks --json --at warm moments 2>err |
    jq -r '"\(.format) \(.damage) \(.left_out) \(.totals.live_bytes)"')"

echo "# damaged profiles"
heaptap run --quiet --no-pack -o raw.heaptap -- ./tests
head -c 60000 raw.heaptap >cut_raw.heaptap
head -c $(($(stat -c %s new.heaptap) - 1)) new.heaptap >cut_packed.heaptap
cp new.heaptap changed.heaptap
printf x | dd of=changed.heaptap bs=1 seek=1000 conv=notrunc status=none
mkdir one_damaged
cp raw.heaptap one_damaged/heaptap.tests.1.heaptap
cp cut_raw.heaptap one_damaged/heaptap.tests.2.heaptap
cp -r one_damaged both
: >both/heaptap.tests.3.heaptap
same "a session with a damaged profile and an unreadable one" \
    "both has 1 damaged profile in it and lacks 1 profile that could not be read" \
    "$(heaptap report --json both 2>err | jq -r '.damage | split(";")[0]')"
heaptap pack -o repacked.heaptap cut_raw.heaptap >/dev/null 2>err
check "pack reports it" grep -q "cut_raw.heaptap is cut short: 60000 of [0-9]* bytes are there" err
heaptap merge -o sum.heaptap raw.heaptap cut_raw.heaptap >/dev/null 2>err
check "merge reports it" grep -q "cut_raw.heaptap is cut short" err
head -c $(($(stat -c %s sum.heaptap) - 1)) sum.heaptap >cut_sum.heaptap
heaptap merge -o twice.heaptap sum.heaptap >/dev/null 2>&1
page=html
[ -s "$BUILD/gen/page.html" ] || {
    page=
    echo "ok - pages of damaged profiles # SKIP tools/setup build brings what the page is made of"
}
for bad in cut_raw.heaptap cut_packed.heaptap changed.heaptap one_damaged repacked.heaptap \
    sum.heaptap cut_sum.heaptap twice.heaptap; do
    for limit in 0 1G; do
        gives "leaks of $bad" 3 "--fail-over cannot judge it: $bad" \
            heaptap leaks --fail-over $limit $bad
        gives "leaks --json of $bad" 3 "warning: $bad" \
            heaptap leaks --json --fail-over $limit $bad
        gives "diff to $bad" 3 "--fail-over cannot judge it: $bad" \
            heaptap diff --fail-over $limit base.heaptap $bad
        gives "diff from $bad" 3 "--fail-over cannot judge it: $bad" \
            heaptap diff --fail-over $limit $bad base.heaptap
    done
    for view in report "report --full" "report --tree" leaks "leaks --paths" direct \
        callgraph bins; do
        beside=0
        # The sum of a session names the damaged file beside it.
        [ "$view $bad" = "report --full one_damaged" ] && beside=1
        # shellcheck disable=SC2086 # Words of a command.
        same "$view of $bad: its first line, and nothing beside it" "Damaged: $bad $beside" \
            "$(heaptap $view $bad 2>err | sed -n '1s/^\(Damaged: [a-z_]*[.a-z]*\).*/\1/p') $(
            grep -c "damaged\|cut short\|segment" err)"
    done
    heaptap report $bad 2>err | awk 'NR > 1 && !/^    / {exit} {print}' >lines.txt
    check "report of $bad: the damage fits 80 columns" awk 'length > 80 {exit 1}' lines.txt
    check "report of $bad: and is a whole sentence" grep -q "again$\|profiles$" lines.txt
    check "a picture of $bad: in its title" grep -q "<title>[^<]*(damaged profile)" <(
        heaptap export -f flamegraph $bad 2>err)
    check "diff of $bad: its first line" grep -q "^Damaged: $bad " <(
        heaptap diff base.heaptap $bad 2>err | head -n 1)
    for view in export $page "leaks --json" "diff --json base.heaptap" "html --json"; do
        # shellcheck disable=SC2086 # Words of a command.
        heaptap $view $bad >out.txt 2>err
        check "$view of $bad: beside it" grep -q "^heaptap: warning: $bad" err
    done
    check "JSON of $bad" jq -e .damage <(heaptap report --json $bad 2>err)
    check "JSON of a comparison with $bad" \
        jq -e .after.damage <(heaptap diff --json base.heaptap $bad 2>err)
    check "JSON of a page of $bad" jq -e .report.damage <(heaptap html --json $bad 2>err)
done
gives "nothing to show" 3 "cut_raw.heaptap is cut short" heaptap timeline cut_raw.heaptap
same "whole: no damage in JSON" null "$(heaptap report --json raw.heaptap | jq .damage)"
heaptap run --quiet -o killed.heaptap -- sh -c 'kill -9 $$' 2>err
heaptap run --quiet --no-pack -o killed_raw.heaptap -- sh -c 'kill -9 $$' 2>err
for whole in raw.heaptap new.heaptap killed.heaptap killed_raw.heaptap; do
    gives "$whole is whole" 0 "" heaptap leaks --fail-over 1G $whole
    check "$whole: no message about damage" sh -c '! grep -i damage out err'
done
gives "run: a damaged one" 99 "--fail-on cannot judge it: its profile is cut short" \
    heaptap run --quiet --force -o gate.heaptap --fail-on leaks=1G -- \
    bash -c './tests; truncate -s 60000 gate.processes/*'

echo "# links"
mkdir linked
ln -s ../new.heaptap linked/heaptap.tests.1.heaptap
gives "a link" 1 "20.5 KiB are still live" heaptap leaks --fail-over 0 linked
ln -s heaptap.tests.1.heaptap linked/heaptap.tests.0.heaptap
ln new.heaptap linked/heaptap.tests.2.heaptap
gives "one file by three names" 1 "20.5 KiB are still live" heaptap leaks --fail-over 0 linked

echo "# profiles that could not grow"
bash -c 'ulimit -f 210; exec heaptap run --no-pack -o short.heaptap -- "$1" 5000' - \
    "$PROG/many_stacks" 2>err
check "the summary reports it" grep -q "the profile is incomplete: its file could not grow" err
check "the summary: no number is called complete" grep -q "^heaptap: at least " err
for view in report "report --full" "report --by function" "report --tree" "report --by size" \
    leaks "leaks --paths" direct callgraph bins "source --self many_stacks.c"; do
    # shellcheck disable=SC2086 # Words of a command.
    check "$view: the message" sh -c \
        "heaptap $view short.heaptap | grep -q '^Incomplete: its file could not grow'"
done
check "export: the message" sh -c "heaptap export -f csv short.heaptap 2>&1 >export.out |
    grep -q 'short.heaptap is incomplete: its file could not grow'"
check "leaks --json: the message" sh -c \
    "heaptap leaks --json short.heaptap | jq -e .losses.file_failed"
same "diff: of each side" 2 "$(heaptap diff short.heaptap short.heaptap | grep -c 'could not grow')"
check "a filling call tree is not blamed" sh -c '! heaptap report short.heaptap | grep "was full"'
mkdir incomplete
cp new.heaptap short.heaptap incomplete
check "a session: the message" sh -c "heaptap report incomplete | grep -q '^Incomplete: '"
cannot="--fail-over cannot judge it: a profile could not grow"
gives "leaks: not all is known" 3 "$cannot" heaptap leaks --fail-over 1G short.heaptap
gives "leaks: one of two" 3 "$cannot" heaptap leaks --fail-over 1G incomplete
gives "leaks: what is known is beyond" 1 "are still live" \
    heaptap leaks --fail-over 0 short.heaptap
gives "diff: not all is known" 3 "$cannot" heaptap diff --fail-over 1G base.heaptap short.heaptap
gives "diff: not all is known before" 3 "$cannot" \
    heaptap diff --fail-over 1G short.heaptap base.heaptap
gives "diff: without a limit" 0 "" heaptap diff short.heaptap base.heaptap

echo "# lost events"
# 200 threads live at once, and each leaks 1,000 bytes. A reserve of 1 MB has room for fewer.
cat >crowd.c <<'END'
#include <pthread.h>
#include <stdlib.h>
enum { THREADS = 200 };
static pthread_barrier_t all;
static void *leak(void *unused)
{
    void *volatile block = malloc(1000);

    (void)block;
    pthread_barrier_wait(&all);
    return unused;
}
int main(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, leak, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
END
gcc -O0 -o crowd crowd.c -lpthread
cause="lost in threads that it had no memory to follow, or too many at once; the memory of"
cause="$cause --reserve was used up, so reserve more"
gives "run: lost events" 99 "$cause" \
    heaptap run --quiet --force --reserve 1M --fail-on leaks=1M -o lost.heaptap -- ./crowd
check "run: lost events: the number" grep -q "judge it: its profile lacks [0-9]* events, lost" err
gives "run: lost events, and a limit exceeded" 99 "and --fail-on allows none" \
    heaptap run --quiet --force --reserve 1M --fail-on leaks -o lost.heaptap -- ./crowd
gives "run: a larger reserve" 0 "" \
    heaptap run --quiet --force --reserve 64M --fail-on leaks=1M -o roomy.heaptap -- ./crowd
gives "leaks: lost events" 3 "$cause" heaptap leaks --fail-over 1G lost.heaptap
gives "diff: lost events" 3 "$cause" heaptap diff --fail-over 1G roomy.heaptap lost.heaptap
gives "diff: lost events before" 3 "$cause" heaptap diff --fail-over 1G lost.heaptap roomy.heaptap
gives "leaks: no lost events" 0 "" heaptap leaks --fail-over 1G roomy.heaptap
mkdir lossy
cp new.heaptap lost.heaptap lossy
gives "leaks: one of two lost events" 3 "$cause" heaptap leaks --fail-over 1G lossy
heaptap merge -o lossy.heaptap lossy >/dev/null 2>&1
gives "leaks: a merged file of these" 3 "$cause" heaptap leaks --fail-over 1G lossy.heaptap

echo "# run"
forgets() {
    heaptap run --quiet --force -o gate.heaptap "$@"
}
gives "run: within" 0 "" forgets --fail-on leaks=21000,allocations=1000 -- ./tests
gives "run: beyond" 99 "): leaks: 21,000 bytes, more than the 20,999 bytes that --fail-on allows" \
    forgets --fail-on leaks=20999 -- ./tests
gives "run: each limit" 99 "): allocations: 1,000, more than the 999 that" \
    forgets --fail-on leaks,allocations=999 -- ./tests
same "run: a line each, and the command to look" "2 1" "$(grep -c allows err) $(grep -c ^hint: err)"
gives "run: the function behind it" 99 "that --fail-on allows; most in copy: 20.5 KiB" \
    forgets --fail-on leaks=20999 -- ./tests
gives "run: not packed" 99 "): leaks: 20.5 KiB" forgets --no-pack --fail-on leaks -- ./tests
gives "run: also of children" 99 "tests (pid" \
    forgets --only tests --fail-on leaks -- sh -c './tests; :'
gives "run: what a program was before exec" 99 "report --peak gate.processes/heaptap.bash." \
    forgets --fail-on peak=40K -- bash -c 'exec ./tests'
gives "run: the program's own failure" 7 "tests (pid" \
    forgets --only tests --fail-on leaks -- sh -c './tests; exit 7'
gives "run: the program's own signal" $((128 + 9)) "" \
    bash -c 'heaptap run --quiet --force -o gate.heaptap --fail-on leaks=1M -- sh -c "kill -9 \$\$"
             exit $?'
gives "run: one that cannot be read" 99 "" forgets --fail-on leaks=1G -- \
    bash -c './tests; truncate -s 5000 gate.processes/*'
gives "run: no profile to check" 99 "nothing could be judged" \
    forgets --only nobody --fail-on leaks -- ./tests
# A sampled recording of 1,000 blocks of 21 bytes that drew no block.
gives "run: samples that permit more" 0 "leaks: 0 B; but the samples permit up to 1.8 MiB, and" \
    env HEAPTAP_SEED=1 heaptap run --quiet -o sampled.heaptap --sample 512K --fail-on leaks -- \
    ./tests
may="0 B; but the samples permit up to 1.8 MiB, and --fail-over allows none; this is no failure"
gives "diff: samples that permit more" 0 "hint: leaks grew by $may" \
    heaptap diff --fail-over leaks=0,peak=0 base.heaptap sampled.heaptap
check "diff: samples that permit more: of each limit" grep -q "^hint: peak grew by -21 B; but" err
gives "leaks: samples that permit more" 0 \
    "hint: 0 B are still live; but the samples permit up to 1.8 MiB, more than the 1.0 MiB that" \
    heaptap leaks --fail-over 1M sampled.heaptap
gives "samples that permit no more" 0 "" heaptap leaks --fail-over 2M sampled.heaptap
gives "diff: samples that permit no more" 0 "" \
    heaptap diff --fail-over leaks=2M,peak=2M base.heaptap sampled.heaptap
off="cannot judge it: recording was off"
gives "run: never recorded" 99 "): --fail-on $off from its start to its end" \
    forgets --delay 60 --fail-on leaks -- ./tests
cp gate.heaptap off.heaptap
gives "run: one process never recorded" 99 "): --fail-on $off from its start to its end" \
    forgets --delay 60 --fail-on leaks -- sh -c './tests; :'
gives "leaks: never recorded" 3 "--fail-over $off for all of off.heaptap, so nothing was counted" \
    heaptap leaks --fail-over 0 off.heaptap
gives "leaks: never recorded, without a limit" 0 "" heaptap leaks off.heaptap
gives "diff: never recorded" 3 "--fail-over $off for all of off.heaptap" \
    heaptap diff --fail-over leaks=0 base.heaptap off.heaptap
gives "diff: never recorded before" 3 "--fail-over $off for all of off.heaptap" \
    heaptap diff --fail-over leaks=0 off.heaptap base.heaptap
mkdir partly_off
cp base.heaptap off.heaptap partly_off
gives "leaks: one of two never recorded" 3 "$off for all of partly_off/off.heaptap" \
    heaptap leaks --fail-over 0 partly_off
gives "diff: one of two never recorded" 3 "$off for all of partly_off/off.heaptap" \
    heaptap diff --fail-over leaks=0 base.heaptap partly_off
gives "run: recorded late" 0 "" forgets --delay 0.01 --fail-on leaks=1G -- "$PROG/slowleak" 100 500
check "run: recorded late: off at first" jq -e '[.phases[].mode] == ["off", "exact"]' <(
    heaptap report --json gate.heaptap)
gives "run: a limit that samples cannot check" 99 "cannot judge it: a limit of 'temporary'" \
    forgets --sample 4K --fail-on temporary -- ./tests
same "run: a limit that samples cannot check: once" 1 "$(grep -c judge err)"
gives "run: of what" 2 "5 needs a name, as in leaks=5" forgets --fail-on 5 -- ./tests
gives "run: percents" 2 "diff --fail-over" forgets --fail-on leaks=5% -- ./tests

echo "# corruption"
# Corrupt the heap as the second argument says, in the process that the first argument names: this
# process, a forked child, or a child after exec.
cat >corrupts.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void
corrupt(const char *how)
{
    char *volatile p = malloc(30);
    char *q;

    if (strncmp(how, "kept", 4) == 0) {
        p[30] = 'X';
        if (strcmp(how, "kept_quick") == 0)
            _exit(0);
        return;
    }
    if (strcmp(how, "hidden") == 0) {
        // The annotation of the block becomes unreadable. It is in a mapping of its own.
        q = malloc(1 << 20);
        mprotect(q - (size_t)q % 4096, 4096, PROT_NONE);
        free(p);
        return;
    }
    if (strcmp(how, "overflow") == 0)
        p[30] = 'X';
    free(p);
    if (strcmp(how, "twice") == 0)
        free(p);
}

int
main(int argc, char **argv)
{
    free(malloc(100000));
    if (strcmp(argv[1], "here") == 0) {
        corrupt(argv[2]);
    } else if (fork() == 0) {
        if (strcmp(argv[1], "exec") == 0)
            execl(argv[0], argv[0], "here", argv[2], (char *)0);
        corrupt(argv[2]);
        exit(0);
    } else {
        wait(NULL);
    }
    return 0;
}
END
gcc -w -g -O0 -o corrupts corrupts.c
for where in here child exec; do
    rm -rf gate.*
    gives "corruption: none, $where" 0 "" forgets --fail-on corruption -- ./corrupts $where not
    gives "corruption: overflow, $where" 99 "): corruption: 1, and --fail-on allows none" \
        forgets --fail-on corruption -- ./corrupts $where overflow
    check "corruption: $where: the named command shows it" sh -c \
        "$(sed -n 's/^hint: \(.*\) shows where from$/\1/p' err) | grep -q 'written past its end'"
    gives "corruption: within, $where" 0 "" \
        forgets --fail-on corruption=1 -- ./corrupts $where overflow
done
for where in here child exec; do
    gives "corruption: never freed, $where" 99 "): corruption: 1, and --fail-on allows none" \
        forgets --fail-on corruption -- ./corrupts $where kept
    # The recorder does not run after _exit.
    gives "corruption: never freed, ends by _exit, $where" 0 "" \
        forgets --fail-on corruption -- ./corrupts $where kept_quick
done
gives "corruption: an unreadable block at the end" 0 "" \
    forgets --fail-on corruption -- ./corrupts here hidden
gives "corruption: freed twice by a child" 99 "): corruption: 1, and --fail-on allows none" \
    forgets --fail-on corruption -- ./corrupts child twice
gives "corruption: and no other process is blamed" 0 "" forgets --fail-on corruption -- ./tests
gives "corruption: needs every block" 2 "--annotate and --sample exclude" \
    forgets --sample 4K --fail-on corruption -- ./tests
for what in "overflow found damaged" "twice freed twice"; do
    rm -rf gate.*
    # shellcheck disable=SC2086 # Words of a command.
    heaptap run --annotate -o gate.heaptap -- ./corrupts child ${what%% *} 2>err
    same "corruption: the end of the run has a line about the child: $what" 1 "$(grep -cE \
        "^heaptap: 1 block ${what#* } in .* \(pid [0-9]+\); heaptap report $(
            echo gate.processes/*) shows where" err)"
done
heaptap run --quiet --annotate -o sound.heaptap -- ./corrupts here not
heaptap run --quiet --annotate -o corrupt.heaptap -- ./corrupts here overflow
gives "corruption: growth" 1 "corruption grew by 1, and --fail-over allows none: from 0 to 1" \
    heaptap diff --fail-over corruption sound.heaptap corrupt.heaptap
gives "corruption: none new" 0 "" \
    heaptap diff --fail-over corruption corrupt.heaptap corrupt.heaptap

unseen="was not recorded with --annotate, so overflows in it are unknown"
gives "corruption: after not annotated" 3 "cannot judge corruption: new.heaptap $unseen" \
    heaptap diff --fail-over corruption sound.heaptap new.heaptap
gives "corruption: before not annotated" 3 "cannot judge corruption: new.heaptap $unseen" \
    heaptap diff --fail-over corruption new.heaptap sound.heaptap
gives "corruption: not annotated, another limit" 0 "" \
    heaptap diff --fail-over leaks=21000 sound.heaptap new.heaptap
mkdir annotated half_annotated
cp sound.heaptap annotated/1.heaptap
cp corrupt.heaptap annotated/2.heaptap
cp sound.heaptap new.heaptap half_annotated
gives "corruption: a session" 0 "" heaptap diff --fail-over corruption corrupt.heaptap annotated
gives "corruption: one of two not annotated" 3 "cannot judge corruption: half_annotated $unseen" \
    heaptap diff --fail-over corruption sound.heaptap half_annotated
heaptap merge -o annotated.heaptap annotated >/dev/null 2>&1
gives "corruption: merged" 1 "corruption grew by 1" \
    heaptap diff --fail-over corruption sound.heaptap annotated.heaptap
gives "corruption: merged: none new" 0 "" \
    heaptap diff --fail-over corruption corrupt.heaptap annotated.heaptap
heaptap run --quiet --no-pack --annotate -o sound_raw.heaptap -- ./corrupts child not
gives "corruption: not packed" 0 "" \
    heaptap diff --fail-over corruption sound_raw.heaptap sound_raw.processes
printf '%s\n' '#include <stdlib.h>' 'static char pool[1 << 20];' 'static size_t used;' \
    'void *malloc(size_t size) { used += size + 15 & -16; return pool + used; }' \
    'void free(void *p) { }' \
    'int main(void) { void *volatile p = aligned_alloc(64, 128); return !p; }' >own.c
gcc -w -rdynamic -fno-builtin -o own own.c
gives "corruption: a malloc of its own" 99 "cannot judge corruption: its blocks could not be" \
    forgets --fail-on corruption -- ./own

echo "# --force"
forgets -- ./tests
gives "without --force" 3 "gate.heaptap exists, and nothing is overwritten" \
    heaptap run --quiet -o gate.heaptap -- ./tests
forgets -- sh -c './tests; ./tests; :' 2>err
same "others" 2 "$(ls gate.processes | wc -l)"
echo keep >gate.processes/note.txt
forgets -- ./tests anew 2>err
same "others of the run before are gone, and nothing else" note.txt "$(ls gate.processes)"
check "the profile is the new one" sh -c \
    'heaptap report gate.heaptap | head -n 1 | grep -q "tests anew$"'
echo precious >precious.txt
gives "no profile" 3 "precious.txt exists and is no profile" \
    heaptap run --quiet --force -o precious.txt -- ./tests
same "it stays" precious "$(cat precious.txt)"
for wanted in precious.txt/ precious.txt/new.heaptap; do
    gives "-o $wanted" 3 "a profile into precious.txt: it is no directory; choose another place" \
        heaptap run --quiet -o $wanted -- ./tests
done
ln -s new.heaptap link.heaptap
gives "a symbolic link" 3 "is no profile" \
    heaptap run --quiet --force -o link.heaptap -- ./tests
check "what it points to stays" heaptap report new.heaptap
rm gate.heaptap
forgets -- sh -c './tests; ./tests; :' 2>err
rm gate.heaptap
gives "others of a run whose profile was removed" 0 "has profiles of an earlier run" \
    heaptap run -o gate.heaptap -- ./tests
rm gate.heaptap
gives "they do not matter without children" 0 "" \
    heaptap run --no-children -o gate.heaptap -- ./tests
check "they do not matter without children: no message" sh -c '! grep "earlier run" err'
printf '%s\n' '#include <stdlib.h>' '#include <unistd.h>' \
    'int main(void) { for (;;) { free(malloc(9)); usleep(1000); } }' >lives.c
gcc -w -o lives lives.c
# lives_in FILE...: wait until a recorder has created each FILE.
lives_in() {
    local file
    for file; do
        for _ in $(seq 200); do
            [ -e "$file" ] && break
            sleep 0.05
        done
    done
}
heaptap run --quiet --no-pack -o living.heaptap -- ./lives 2>lives.err &
living=$!
lives_in living.heaptap
gives "--force: a process still writes it" 3 "still writes living.heaptap, and --force replaces" \
    heaptap run --quiet --force -o living.heaptap -- ./tests
check "--force: it is the same file" sh -c 'heaptap report living.heaptap | grep -q "^./lives"'
gives "a name in use" 0 "still writes living.heaptap; the profile of this run is living.1.heaptap" \
    heaptap run --quiet -o living.heaptap -- ./tests
check "a name in use: it stays" sh -c 'heaptap report living.heaptap | grep -q ./lives'
check "a name in use: the other one" sh -c 'heaptap report living.1.heaptap | grep -q ./tests'
for name in start end peak 90s -5m a..b; do
    gives "snapshot: the name $name is reserved" 2 "'$name' cannot name a snapshot" \
        heaptap snapshot living.heaptap -- "$name"
done
kill "$(pgrep -P $living)"
wait $living
gives "--force: it has ended" 0 "" heaptap run --quiet --force -o living.heaptap -- ./tests

# Two runs use one name. The first run has ended, but the name is still in use.
heaptap run --quiet --no-pack -o batch.heaptap -- ./lives 2>lives.err &
first=$!
lives_in batch.heaptap
heaptap run --quiet --no-pack -o batch.heaptap -- ./lives 2>lives.err &
second=$!
lives_in batch.1.heaptap
kill "$(pgrep -P $first)"
wait $first
for i in $(seq 30); do
    (heaptap run --quiet -o batch.heaptap -- ./corrupts here not >"batch.out.$i" 2>&1
     echo $? >"batch.status.$i") &
    batch[i]=$!
done
wait "${batch[@]}"
same "30 more in a batch: each runs its program" "30 0" "$(cat batch.status.* | sort | uniq -c |
    sed 's/^ *//')"
same "30 more in a batch: each keeps its profile" 30 "$(for profile in batch.*.heaptap; do
    heaptap report --json "$profile" 2>batch.err | jq -r .process.executable
done | grep -c '/corrupts$')"
kill "$(pgrep -P $second)"
wait $second
same "30 more in a batch: no directory is left" "" "$(ls -d batch*.processes 2>/dev/null)"
gives "a name left by runs that have all ended" 3 "batch.heaptap exists, and nothing is" \
    heaptap run --quiet -o batch.heaptap -- ./tests

# A run still packs a profile although its process has ended.
heaptap run --quiet -o packs.heaptap -- ./lives 2>lives.err &
packs=$!
lives_in packs.heaptap
kill -STOP $packs
ended=$(pgrep -P $packs)
kill -KILL "$ended"
for _ in $(seq 200); do
    grep -q '^State:.Z' "/proc/$ended/status" && break
    sleep 0.05
done
gives "a run that still packs: the name is in use" 0 \
    "process $packs still writes packs.heaptap; the profile of this run is packs.1.heaptap" \
    heaptap run --quiet -o packs.heaptap -- ./tests
gives "a run that still packs: --force" 3 "process $packs still writes packs.heaptap, and --force" \
    heaptap run --quiet --force -o packs.heaptap -- ./tests
kill -CONT $packs
wait $packs
gives "a run that has ended: --force" 0 "" \
    heaptap run --quiet --force -o packs.heaptap -- ./tests

# The first event of an orphan comes when its parent has ended, so its parent is the reaper.
mkfifo over
cat over >over.out &
over=$!
heaptap run --quiet -o orphan.heaptap -- \
    sh -c '(while [ -e /proc/$$ ]; do sleep 0.05; done; exec ./tests) >over &' 2>orphan.err
wait $over
check "an orphan: it has a profile" ls orphan.processes/heaptap.tests.*.heaptap
# It closes the pipe before it has ended.
orphan=$(ls orphan.processes/heaptap.tests.*.heaptap)
orphan=${orphan%.heaptap}
for _ in $(seq 200); do
    grep -q '^State:.[^Z]' "/proc/${orphan##*.}/status" 2>/dev/null || break
    sleep 0.05
done
gives "--force: an orphan has ended" 0 "" \
    heaptap run --quiet --force -o orphan.heaptap -- ./tests

heaptap run --quiet --no-pack -o parent.heaptap -- sh -c './lives & echo $! >child; wait' \
    2>lives.err &
living=$!
lives_in child parent.processes/heaptap.lives.*.heaptap
for _ in $(seq 200); do
    ls parent.processes/heaptap.lives.*.heaptap >lives.out 2>&1 && break
    sleep 0.05
done
rm parent.heaptap
gives "--force: a child still writes" 3 "still writes parent.processes/heaptap." \
    heaptap run --quiet --force -o parent.heaptap -- ./tests
kill "$(cat child)"
wait $living
mkdir there.processes
gives "an empty directory that was there" 0 "" heaptap run --quiet -o there.heaptap -- ./tests
check "an empty directory that was there stays" test -d there.processes
if [ "$(id -u)" = 0 ]; then
    mkdir others.processes && chown 12345 others.processes
    gives "a directory of another user" 3 "belongs to another user" \
        heaptap run --quiet -o others.heaptap -- ./tests
    check "a directory of another user stays" test -d others.processes
fi
mkdir at_once && cd at_once || exit 1
named=
for i in $(seq 30); do
    heaptap run --quiet -- sh -c "echo $i >>ran; exec ../tests" 2>err.$i &
done
for i in $(seq 30); do
    heaptap run --quiet -o one.heaptap -- sh -c "echo $i >>ran_named; exec ../lives" 2>>named.err &
    named="$named $!"
done
for _ in $(seq 600); do
    [ "$(cat ran_named 2>/dev/null | wc -l)" -eq 30 ] && break
    sleep 0.1
done
same "30 runs at once: each runs its program" 30 "$(sort -u ran_named | wc -l)"
sleep 1
for run in $named; do
    kill "$(pgrep -P "$run")"
done
wait
same "30 runs at once: each runs its program, by default" 30 "$(sort -u ran | wc -l)"
same "30 runs at once: by default each has its profile" 30 \
    "$(find . -name 'heaptap.tests*.heaptap' | wc -l)"
same "30 runs at once: of one name each has its profile" 30 \
    "$(find . -name '*.heaptap' -exec sh -c 'heaptap report "$1" 2>report.err | head -n 1' - {} \; |
        grep -c '^../lives')"
cd .. || exit 1
rm gate.heaptap
forgets -- sh -c './tests; :'
same "--force: they are gone" 1 "$(find gate.processes -name '*.heaptap' | wc -l)"

echo "# %n"
mkdir numbered
for i in 1 2 3; do
    heaptap run --quiet -o numbered/a%n.heaptap -- sh -c './tests; ./tests; :'
done
same "each run has a number" \
    "a1.heaptap a1.processes a2.heaptap a2.processes a3.heaptap a3.processes" \
    "$(echo $(ls numbered))"
same "and a directory of its own" "2 2 2" \
    "$(for i in 1 2 3; do ls numbered/a$i.processes | wc -l; done | xargs)"
rm numbered/a1.heaptap
mv numbered/a2.processes numbered/left
heaptap run --quiet -o numbered/a%n.heaptap -- ./tests
same "new with regard to both, and no directory for nobody" \
    "a2.heaptap a3.heaptap a4.heaptap" "$(cd numbered && echo a*.heaptap)"
check "no directory for nobody" test ! -e numbered/a4.processes
for i in 1 2 3 4 5 6; do
    heaptap run --quiet -o numbered/b%n.heaptap -- sh -c './tests; :' &
done
wait
same "runs at once" 6 "$(find numbered -name 'b?.heaptap' | wc -l)"
same "runs at once: of each the others" "1 1 1 1 1 1" \
    "$(for i in 1 2 3 4 5 6; do ls numbered/b$i.processes | wc -l; done | xargs)"
heaptap run --quiet -o "numbered/%%n%n.%p.heaptap" -- ./tests
check "beside a process id and a percent sign" ls numbered/%n1.*.heaptap
printf '#!/no/such/interpreter\n' >unstarted && chmod +x unstarted
heaptap run --quiet -o numbered/c%n.heaptap -- ./unstarted 2>err
check "not started: nothing stays" test ! -e numbered/c1.processes

echo "# -o a hidden file"
mkdir hidden
for name in .x.heaptap .x .heaptap hidden/.x.heaptap; do
    gives "$name: within" 0 "" heaptap run --quiet -o $name --fail-on leaks=1000 -- ./one 1
    check "$name: packed" test "$(stat -c %s $name)" -lt 50000
    gives "$name: the first process leaks" 99 "one (pid" heaptap run --quiet --force -o $name \
        --only one --fail-on leaks=1000 -- sh -c './one 1; exec ./one 5000'
    gives "$name: a child leaks" 99 "one (pid" heaptap run --quiet --force -o $name \
        --only one --fail-on leaks=1000 -- sh -c './one 5000; exec ./one 1'
done
heaptap run --force -o hidden/.x.heaptap -- ./one 1 2>err
check "a hidden file: in the summary" grep -q "^heaptap: profile hidden/.x.heaptap (" err
heaptap run --quiet --no-pack -o hidden/.s.heaptap --snapshot-every 0.1 -- \
    "$PROG/slowleak" 12000 20000 >slow.out
check "a hidden file: snapshots" \
    test "$(heaptap report --json hidden/.s.heaptap | jq '.snapshots | length')" -gt 0

echo "# -o a directory"
mkdir many
cp new.heaptap many/heaptap.tests.1.heaptap
heaptap run --quiet --force -o many -- ./tests 2>err
same "a directory only gets more" 2 "$(ls many | wc -l)"
gives "no such program" 127 "" heaptap run --quiet --force -o new.heaptap -- ./nothing
check "no such program: the old profile stays" heaptap report new.heaptap
gives "no such language" 2 "" \
    heaptap run --quiet --force -o new.heaptap --language pyhton -- ./tests
check "no such language: the old profile stays" heaptap report new.heaptap
finish
