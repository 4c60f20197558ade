# bash.sh: subshells, traps, a coprocess, job control, process substitution, arrays and functions
# that recurse. Nearly all processes come from fork without exec.
#
# hide: \d+ Killed
# short: yes
# oracle: yes

prepare() {
    seq "${SHORT:-3000}" >numbers
}

deep() {
    [ "$1" -eq 0 ] && { echo "bottom $BASH_SUBSHELL"; return; }
    deep $(($1 - 1))
}

run() {
    set -m
    trap 'echo "trapped USR1"' USR1
    trap 'echo "leaving"' EXIT
    (trap 'echo inner; exit 3' TERM; kill -TERM $BASHPID; sleep 1)
    echo "inner: $?"
    kill -USR1 $$
    deep "${SHORT:-300}"
    local i sum=0 lines
    for i in $(seq "${SHORT:-60}"); do
        sum=$((sum + $(bash -c 'echo $(($1 * 2))' - "$i") + $(echo "$i" | tr 1 2)))
    done
    echo "$sum"
    mapfile -t lines <numbers
    declare -A table
    for i in "${lines[@]}"; do table[$((i % 97))]+=" $i"; done
    echo "${#table[@]} ${#table[5]}"
    coproc { while read -r line; do echo "${line^^}"; done; }
    echo "to the coprocess" >&"${COPROC[1]}"
    read -r i <&"${COPROC[0]}"
    echo "$i"
    kill "$COPROC_PID"
    wait "$COPROC_PID" 2>/dev/null
    diff <(sort -n numbers) <(sort numbers) | wc -l
    (sleep 0.2; exit 7) &
    wait $!
    echo "job: $?"
    bash -c 'kill -SEGV $$' 2>/dev/null
    echo "killed: $?"
    (exec -a other bash -c 'echo $0')
    yes | head -n 100000 | md5sum
    ulimit -n 10 && ls >/dev/null && cat numbers | tail -n 1
    exit 5
}

"$@"
