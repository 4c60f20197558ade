#!/usr/bin/env bash
# processes.sh: processes of every kind. Each image has a separate profile with exactly its numbers;
# the script also checks which processes are recorded, where their profiles are, and that no other
# files are left. If it fails, a child is counted as its parent, a process is lost, or the user's
# directory is littered.
. "$SRCDIR/test/run/lib.subr"
need python3
what="python3 $area/processes.py"
family=$PROG/family
first="family image later=10 parent=100"
forked="family forked child=50 inherited=30"
image="family image child=50"

# kinds MODE WANTED [ARGUMENT]: check that a session of `family MODE ARGUMENT` has the lines WANTED.
kinds() {
    mkdir "$1"
    timeout 300 "$HEAPTAP" run --quiet -o "$1/" -- "$family" "$1" ${3:+"$3"} >"$1.out" 2>"$1.err"
    status=$?
    if [ $status = 77 ]; then
        echo "ok - $1 # SKIP not permitted here"
        return
    fi
    same "$1: exit status" 0 $status
    same "$1: each process has its own" "$2" "$($what "$1")"
}

lines() {
    printf '%s\n' "$@" | LC_ALL=C sort
}

for mode in fork handler clone failed_exec reaper namespace; do
    kinds $mode "$(lines "$forked" "$first")"
done
for mode in vfork clone_vm; do
    kinds $mode "family image child=50 freed=30 later=10 parent=100"
done
for mode in vfork_exec spawn; do
    kinds $mode "$(lines "$image" "$first")"
done
for mode in exec exec_thread; do
    kinds $mode "$(lines "$image" "family image parent=100")"
done
kinds quiet "$first"
kinds generations "$(lines "$forked later=10" "family forked child=50 freed=30 later=10" \
    "family forked child=50 freed=30 later=10" "$first")"

# The shell in between may allocate or not.
for mode in system popen; do
    mkdir $mode
    "$HEAPTAP" run --quiet -o $mode/ -- "$family" $mode
    same "$mode: exit status" 0 $?
    same "$mode: each process has its own" "$(lines "$image" "$first")" \
        "$($what $mode | grep '^family')"
done

kinds daemon "$(lines "family forked child=50 grow=20000 inherited=30" "$first")" \
    "$PWD/daemon.file"
check "daemon: nothing in the file that has descriptor 2 now" test ! -s daemon.file

chmod 711 .
kinds nobody "$first"
check "nobody: one message at most" test "$(wc -l <nobody.err)" -le 1
kinds nobody_reused "$first" "$PWD/nobody.file"
check "nobody_reused: nothing in the file that has descriptor 2 now" test ! -s nobody.file

# A root without the profile's directory: the existing data stays, and is marked as incomplete.
mkdir root
kinds_chroot() {
    mkdir chroot
    timeout 300 "$HEAPTAP" run --quiet -o chroot/ -- "$family" chroot "$PWD/root" 2>chroot.err
    status=$?
    [ $status != 77 ] || { echo "ok - chroot # SKIP not permitted here"; return; }
    same "chroot: exit status" 0 $status
    check "chroot: cut, and reported" grep -q '^family forked child=50 cut=1 .*inherited=30' \
        <($what chroot)
    same "chroot: one message for each process" 2 "$(grep -c '^heaptap: ' chroot.err)"
    same "chroot: nothing left there" "" "$(ls root)"
}
if [ "$(id -u)" = 0 ]; then
    kinds_chroot
else
    echo "ok - chroot # SKIP not permitted here"
fi

# The program forks many times while other threads allocate, start and end, and tables grow.
mkdir threads
timeout 600 "$HEAPTAP" run --quiet --no-pack -o threads/ -- "$family" threads 1000 2>threads.err
same "threads: exit status" 0 $?
same "threads: a profile for each process" 1001 "$(find threads -name '*.heaptap' | wc -l)"
same "threads: the parent's are all there" "family image grow=1000 later=10 parent=100" \
    "$($what "threads/$(ls -S threads | head -n 1)")"

# If a process dies at any moment while it starts, it leaves a profile or no file. The last one is
# running.
mkdir dying
for seconds in $(seq -f 0.0%g 30) 300; do
    bash -c 'timeout -s KILL "$3" env HEAPTAP_OUT=$PWD/dying/ LD_PRELOAD="$1" "$2" fork; :' - \
        "$LIBHEAPTAP" "$family" "$seconds" >/dev/null 2>&1
done
only_profiles() {
    local file count=0
    for file in "$1"/*; do
        [ -e "$file" ] || continue
        count=$((count + 1))
        "$HEAPTAP" report --json "$file" >/dev/null || return
    done
    echo "$count profiles"
    [ $count -gt 0 ]
}
check "killed while starting: only profiles are left" only_profiles dying

# Without -o, one process gets one file; further ones get a directory beside it.
mkdir place
run_here() {
    (cd place && rm -rf ./* && "$HEAPTAP" run "$@" 2>../place.err >../place.out)
}
here() {
    (cd place && find . -type f | sed -E 's/\.[0-9]+/.N/g' | LC_ALL=C sort)
}
run_here "$family" quiet
same "default place: one process, one file" "./heaptap.family.N.heaptap" "$(here)"
run_here "$family" fork
same "default place: the others in a directory" \
    "$(lines ./heaptap.family.N.heaptap ./heaptap.family.N.processes/heaptap.family.N.heaptap)" \
    "$(here)"
command=$(sed -n 's/.*with: heaptap //p' place.err)
check "the summary gives the command for the sum" grep -q '2 processes: 160 allocations' \
    <(cd place && "$HEAPTAP" $command 2>/dev/null)
run_here --no-children "$family" fork
same "--no-children: only the first" "./heaptap.family.N.heaptap" "$(here)"
same "--no-children: its numbers" "$first" "$($what place/*.heaptap)"
run_here --no-children "$family" exec
same "--no-children: its next image too" 2 "$(here | wc -l)"
run_here --only 'nobody_*,fam?ly' sh -c "$family quiet; true"
same "--only: the program has the place of the first" "./heaptap.family.N.heaptap" "$(here)"
run_here --only nothing "$family" generations
same "--only: nothing is left by others" "" "$(here)"
printf '#!/bin/sh\n: "${x:=$(echo y)}"\n' >a_script_with_a_long_name
chmod +x a_script_with_a_long_name
run_here --only a_script_with_a_long_name ../a_script_with_a_long_name
check "--only: a script by its name" test "$(here | wc -l)" -gt 0
run_here sh -c 'exit 3'
same "exit status" 3 $?

# The run's main process gets the requested name: the program that the first process became by exec,
# or the child of a shell that did most of the work. All others are in the directory.
cat >execs.sh <<'E'
#!/bin/bash
x=$(echo 1)
exec "$@"
E
cat >starts.sh <<'E'
#!/bin/bash
"$@"
exit 5
E
chmod +x execs.sh starts.sh
# about FILE WANTED-STATUS SCRIPT [OPTION...]: run SCRIPT, which runs family, twice as a user would.
about() {
    local file=$1 wanted=$2 script=$3
    shift 3
    rm -rf "${file%.heaptap}"*
    "$HEAPTAP" run -o "$file" "$@" -- "./$script" "$PROG/swollen" malloc >about.out 2>about.err
    same "$script $*: exit status" "$wanted" $?
    check "$script $*: the name is the program's" grep -q 'swollen malloc$' \
        <("$HEAPTAP" report "$file" 2>/dev/null | head -n 1)
    same "$script $*: nothing else beside it" "$file" "$(ls -d "${file%.heaptap}"*heaptap)"
}
about became.heaptap 0 execs.sh
check "exec: reported" grep -q 'became.heaptap .* is of the program after exec, swollen' about.err
check "exec: the shell is in the directory" ls became.processes/heaptap.bash.*
check "exec: all are counted" grep -q '^3 processes: 4[89],' \
    <("$HEAPTAP" report became.processes 2>/dev/null)
held='^heaptap: at the peak most was held by take \(swollen\.c:[0-9]+\): 45\.8 MiB, 100\.0 %$'
check "exec: the largest holder" grep -Eq "$held" about.err
about child.heaptap 5 starts.sh
check "a shell's child: reported" grep -q 'child.heaptap .* is of what allocated most, swollen' \
    about.err
check "a shell's child: the shell is listed" \
    grep -q 'in child.processes: bash ./starts.sh' about.err
check "a shell's child: ten lines at most" test "$(wc -l <about.err)" -le 10
"$HEAPTAP" report child.heaptap >view.out 2>view.err
check "report: its run's other profiles are mentioned" \
    grep -Eq '^hint: its run has left [12] more profiles?: heaptap report child.processes$' view.err
"$HEAPTAP" report "$(ls child.processes/* | head -n 1)" >view.out 2>view.err
check "report: also of one of them" grep -q 'report child.processes$' view.err
"$HEAPTAP" run -o workers.heaptap -- "$PROG/workers" 2>about.err
check "workers: the summary is about the worker that grew," \
    grep -q 'peak 3.8 MiB; still live at end 3.8 MiB in 1,000 blocks$' about.err
held='^heaptap: at the peak most was held by answer \(workers\.c:[0-9]+\): 3\.8 MiB, 100\.0 %$'
check "workers: with its holder" grep -Eq "$held" about.err
check "workers: and in the file" grep -q 'Still live at end  3.8 MiB in 1,000 blocks' \
    <("$HEAPTAP" report workers.heaptap 2>/dev/null)
about raw.heaptap 0 execs.sh --no-pack
about some.heaptap 5 starts.sh --only swollen
about alone.heaptap 0 execs.sh --no-children
run_here ../execs.sh "$PROG/swollen" malloc
same "default place: the file has the program's name, the directory the command's" \
    "$(lines ./heaptap.execs.sh.N.processes/heaptap.bash.N.heaptap \
        ./heaptap.execs.sh.N.processes/heaptap.bash.N.heaptap ./heaptap.swollen.N.heaptap)" \
    "$(here)"
"$HEAPTAP" report place/heaptap.swollen.*.heaptap >view.out 2>view.err
check "default place: the directory is found by the session" \
    grep -q 'report place/heaptap.execs.sh.*processes$' view.err
mkdir both
"$HEAPTAP" run -o both/ -- ./starts.sh "$PROG/swollen" malloc >about.out 2>about.err
check "a directory: names stay, the headline is the program's" \
    grep -q '^heaptap: 48,000 allocations' about.err

# Views of a session.
table() {
    "$HEAPTAP" report "$@" 2>view.err | awk '/^[0-9]+ +[0-9]+ / {print $3, $10}' | sort
}
same "report: a line for each process" "$(lines "110 family" "50 family")" "$(table fork)"
check "report: within 80 columns" test "$("$HEAPTAP" report fork 2>/dev/null | wc -L)" -le 80
pid=$("$HEAPTAP" report fork 2>/dev/null | awk '$3 == 50 {print $1}')
check "--only PID" grep -q "^pid $pid " <("$HEAPTAP" report --only "$pid" fork)
# A target that holds only one profile gets the sum: 160 allocations, as merge prints them.
"$HEAPTAP" merge -o sum.heaptap fork >merge.out
"$HEAPTAP" report sum.heaptap >view.out 2>view.err
check "report: others are not mentioned of a sum" bash -c '! grep "its run" view.err'
"$HEAPTAP" export --alloc fork | LC_ALL=C sort >view.out
check "export: the sum of a session" cmp view.out \
    <("$HEAPTAP" export --alloc sum.heaptap | LC_ALL=C sort)
check "export: both processes are in it" grep -q ';child ' view.out
check "diff: nothing between a session and its sum" \
    grep -Eq '^calls +160 +160 +0$' <("$HEAPTAP" diff fork sum.heaptap)
check "diff --only" grep -Eq '^calls +50 +50 +0$' <("$HEAPTAP" diff --only "$pid" fork fork)
"$HEAPTAP" diff fork@start fork@end >view.out 2>view.err
same "diff: a session at two moments: exit status" 0 $?
check "diff: a session from its start to its end" grep -Eq '^calls +0 +160 +\+160$' view.out
check "diff: it names the moments" grep -q '^ *Each process as it was at start$' view.out
peak=$("$HEAPTAP" report --json sum.heaptap 2>/dev/null |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["peak_bytes"])')
same "diff: a session at its peaks" "peak 0 $peak" "$(
    "$HEAPTAP" diff --json fork@start fork@peak 2>/dev/null | python3 -c 'import json, sys
d = json.load(sys.stdin)
live = [d[side]["totals"]["live_bytes"] for side in ("before", "after")]
print(d["after"]["at"]["name"], *live)')"
check "timeline: the sum of a session" \
    grep -Eq '^ +Allocations +160 ' <("$HEAPTAP" timeline fork)
"$HEAPTAP" timeline --between ..5s fork >view.out 2>view.err
same "timeline --between: on the session's clock" 0 $?
check "export --only PID" grep -q ';inside\|child' <("$HEAPTAP" export --only "$pid" fork)
"$HEAPTAP" report --only nosuch fork >view.out 2>view.err
same "--only without a match: exit status" 3 $?
python3 - "$("$HEAPTAP" report --json fork)" <<'P'
import json, sys
d = json.loads(sys.argv[1])
good = d["totals"]["allocations"] == 160 == sum(p["allocations"] for p in d["processes"]) and \
    len(d["profiles"]) == 2 and {p["program"] for p in d["processes"]} == {"family"}
print("ok" if good else "not ok", "- report --json of a session")
sys.exit(not good)
P
failures=$((failures + $?))

# A process that outlives the run continues to record in place, and can be packed later.
rm -rf place/*
(cd place && "$HEAPTAP" run "$family" outlive ../done 2>../place.err)
check "outliving: the summary mentions it" grep -q 'still being written' place.err
file=$(find place -path '*processes*' -name '*.heaptap')
pid=$(echo "$file" | sed -E 's/.*\.([0-9]+)\.heaptap/\1/')
same "outliving: report PID" "$forked" "$($what "$pid")"
touch done
for _ in $(seq 200); do
    [ -d /proc/"$pid" ] || break
    sleep 0.1
done
check "outliving: packed later" "$HEAPTAP" pack "$file"
same "outliving: complete" "family forked child=50 inherited=30 later=10" "$($what "$file")"

# heaptap itself is killed: the program does not notice, and its profile is complete.
rm -f done killed.heaptap
"$HEAPTAP" run -q -o killed.heaptap -- "$family" linger done &
run=$!
for _ in $(seq 200); do
    grep -q "$forked" <($what killed.processes 2>/dev/null) && break
    sleep 0.1
done
kill -KILL $run
wait $run 2>/dev/null
touch done
for _ in $(seq 200); do
    grep -q later <($what killed.heaptap) && break
    sleep 0.1
done
same "run killed: the profiles are complete" "$(lines "$forked later=10" "$first")" \
    "$($what killed.processes)"
check "run killed: pack works" "$HEAPTAP" pack killed.heaptap

# `heaptap run` is killed while it packs: only profiles are left, packed or not. The first run is
# not killed.
"$HEAPTAP" run -q -o packing/ -- "$family" generations
for i in $(seq 8); do
    "$HEAPTAP" run -q -o packing/ -- "$family" generations &
    run=$!
    sleep "0.$i"
    kill -KILL $run 2>/dev/null
    wait $run 2>/dev/null
done
same "killed while packing: no other files" "" "$(ls packing | grep -v '\.heaptap$')"
check "killed while packing: profiles" only_profiles packing

# In the process's mount namespace, the profile has the same path; heaptap finds the file through
# the process.
if unshare -m true 2>/dev/null; then
    rm -f done
    mkdir inner
    unshare -m sh -c "mount -t tmpfs none inner && exec '$HEAPTAP' run -q -o inner/ -- \
        '$family' outlive '$PWD/done'"
    pid=$(pgrep -n -f "^$family outlive")
    same "mount namespace: nothing here" "" "$(ls inner)"
    same "mount namespace: report PID" "$forked" "$($what "$pid")"
    touch done
else
    echo "ok - mount namespace # SKIP not permitted here"
fi
finish
