#!/usr/bin/env bash
# outputs.sh: outputs on a full disk, outputs that replace a file or write to it, and the progress
# on a terminal. If it fails, refreshing a page or a picture on a full disk loses both the old and
# the new file, an output changes its rights, its links or another file, or a dumb terminal shows
# control sequences.
#
# The full disk is mounted in a separate mount namespace.
. "$SRCDIR/test/run/lib.subr"
. "$SRCDIR/test/run/namespace.subr"

"$HEAPTAP" run --quiet -o p.heaptap -- "$PROG/slowleak" 120000 20000 >slowleak.out
run_python "$area/access_made.py" "$PROG/access_structs" words.heaptap || skip_all "no profile"

# --- A full disk ---------------------------------------------------------------------------------

# OUTPUT is the old file on a full disk; NEW does not exist.
full_disk='mount -t tmpfs -o size=64k none "$1" || exit 90
    echo old >"$1/output"
    dd if=/dev/zero of="$1/filler" bs=4k 2>/dev/null
    for name in output new; do
        "${@:2}" "$1/$name"
        echo "status $?"
    done
    cat "$1/output"
    ls -A "$1"'

# unharmed COMMAND... OPTION: check that COMMAND fails on a full disk, says so, and leaves all files
# alone.
unharmed() {
    inside "$full_disk" "$HEAPTAP" "$@" >out 2>err
    if [ $? = 90 ]; then
        skipped "$*: a full disk" "cannot mount here: $(tail -n 1 err)"
        return
    fi
    same "$*: a full disk leaves the old file, no other" \
        "status 3 status 3 old filler output" \
        "$(tr '\n' ' ' <out | sed 's/ $//')"
    same "$*: both are reported" 2 "$(grep -c 'could not be written: No space left on device' err)"
}
unharmed export -f collapsed p.heaptap -o
unharmed export -f csv p.heaptap -o
unharmed timeline p.heaptap --svg
unharmed timeline p.heaptap --flame
unharmed diff p.heaptap p.heaptap --flamegraph
unharmed access words.heaptap --svg
if "$HEAPTAP" html -o - p.heaptap >page.html 2>why; then
    unharmed html p.heaptap -o
else
    skipped "html -o: a full disk" "$(tail -n 1 why)"
fi

# The beginning of the output still fits: a limit on file size stops the output in the middle, by an
# error or, if the limit's signal is not ignored, by death.
"$HEAPTAP" export -f csv -o whole.csv p.heaptap
stopped() {
    echo old >limited.csv
    bash -c 'ulimit -c 0 -f 1; trap "$1" XFSZ; "${@:2}"; exit $?' - "$1" \
        "$HEAPTAP" export -f csv -o limited.csv p.heaptap 2>err
    same "an output $2: status, old file" "$3 old" "$? $(cat limited.csv)"
    same "an output $2: nothing is left" limited.csv "$(echo limited*)"
}
stopped '' "stopped in the middle" 3
check "an output stopped in the middle: the reason" \
    grep -q "limited.csv could not be written: File too large" err
stopped - "killed in the middle" 153

# --- The file that is replaced -------------------------------------------------------------------

csv() {
    "$HEAPTAP" export -f csv -o "$1" p.heaptap
}

# state FILE...: print kind, rights and links of each file, and "whole" for a complete output.
state() {
    local file
    for file; do
        stat -c '%F %a %h' "$file" | tr '\n' ' '
        cmp -s whole.csv "$file" && echo whole
    done
}

mkdir -p rights && cd rights || exit 1
ln -s ../p.heaptap ../whole.csv .
(umask 027 && csv new.csv)
same "a new file has the rights of the umask" "regular file 640 1 whole" "$(state new.csv)"
echo old >kept.csv && chmod 604 kept.csv
(umask 077 && csv kept.csv)
same "a replaced file keeps its rights" "regular file 604 1 whole" "$(state kept.csv)"
echo old >read.csv && ln read.csv linked.csv
csv linked.csv
same "a hard link stays one" "regular file 644 2 whole" "$(chmod 644 read.csv && state read.csv)"
echo old >behind.csv && chmod 640 behind.csv && ln -s behind.csv link.csv
csv link.csv
same "a link stays, its file is replaced" "behind.csv regular file 640 1 whole" \
    "$(readlink link.csv) $(state behind.csv)"
ln -s nowhere.csv dangling.csv
csv dangling.csv
same "a link that leads nowhere: its file is made" "nowhere.csv whole" \
    "$(readlink dangling.csv) $(cmp whole.csv nowhere.csv && echo whole)"
exec 3<behind.csv
csv ./behind.csv
same "readers of the old file can continue" "whole" "$(cmp - whole.csv <&3 && echo whole)"
exec 3<&-
{
    csv /dev/stdout
    echo after
} >>through.csv
same "stdout by its name is the same file afterwards" "whole after" \
    "$(head -n -1 through.csv | cmp - whole.csv && echo whole) $(tail -n 1 through.csv)"
mkfifo fifo.csv
timeout 30 cat fifo.csv >read_from_fifo.csv &
reader=$!
csv fifo.csv
wait $reader
same "a FIFO is written, and stays" "fifo whole" \
    "$(stat -c %F fifo.csv) $(cmp whole.csv read_from_fifo.csv && echo whole)"
csv /dev/null
same "a device is written, and stays" 0 $?
same "nothing else is in the directory" "behind.csv dangling.csv fifo.csv kept.csv link.csv \
linked.csv new.csv nowhere.csv p.heaptap read.csv read_from_fifo.csv through.csv whole.csv" \
    "$(echo *)"
if [ "$(id -u)" = 0 ]; then
    echo old >kept.csv && chown 12345:54321 kept.csv
    csv kept.csv
    same "a replaced file keeps its owner" "12345 54321 regular file 604 1 whole" \
        "$(stat -c '%u %g' kept.csv) $(state kept.csv)"
else
    skipped "a replaced file keeps its owner" "needs root"
fi
cd ..

# The file is a mount point, as in a container, or /proc is missing.
mounted='echo old >under && echo old >over && mount --bind under over || exit 90
    "$2" export -f csv -o over p.heaptap
    status=$?
    cmp under whole.csv && echo "status $status"'
inside "$mounted" "$HEAPTAP" >out 2>err
if [ $? = 90 ]; then
    skipped "a mount point is written in place" "cannot mount here: $(tail -n 1 err)"
else
    same "a mount point is written in place" "status 0" "$(cat out)"
fi
blind='mount -t tmpfs none /proc || exit 90
    umask 026
    echo old >"$1/output" && chmod 604 "$1/output" && "$2" export -f csv -o "$1/output" p.heaptap &&
        "$2" export -f csv -o "$1/new" p.heaptap || exit
    cmp "$1/output" whole.csv && cmp "$1/new" whole.csv && (cd "$1" && stat -c "%n %a" *)'
inside "$blind" "$HEAPTAP" >out 2>err
if [ $? = 90 ]; then
    skipped "without /proc" "cannot mount here: $(tail -n 1 err)"
else
    same "without /proc: replaced and made" "new 640 output 604" \
        "$(tr '\n' ' ' <out | sed 's/ $//')"
fi

# --- The progress on a terminal ------------------------------------------------------------------

# progress TERM: print whether a merge on such a terminal shows progress and control sequences.
progress() {
    TERM=$1 run_python -c 'import pty, sys
pty.spawn(sys.argv[1:])' "$HEAPTAP" merge -o merged.heaptap p.heaptap words.heaptap \
        >terminal.out </dev/null
    echo "$(grep -c 'merged.heaptap: ' terminal.out)" "$(grep -c 'merging, 1 of 2' terminal.out)" \
        "$(grep -c $'\033' terminal.out)"
}
same "a terminal shows progress, and it is erased" "1 1 1" "$(progress xterm)"
same "a dumb terminal shows neither" "1 0 0" "$(progress dumb)"
finish
