#!/usr/bin/env bash
# redirected.sh: processes that cannot write a profile and whose stderr is a pipe or file that the
# program reads, or is inherited from heaptap. If it fails, a recorded program reads heaptap's
# messages where it expects its child's, or its user never learns why a profile is missing.
. "$SRCDIR/test/run/lib.subr"
need python3 prlimit

# Start a child whose files may have 1 KB, too little for a profile, and print the child's output.
cat >parent.py <<'EOF'
import os
import subprocess
import sys

way, program = sys.argv[1:]
child = ["prlimit", "--fsize=1024", program]
if way == "pipe":
    print(subprocess.run(child, stderr=subprocess.PIPE, check=True).stderr)
elif way == "file":
    with open("child.err", "w+b") as file:
        subprocess.run(child, stderr=file, check=True)
        print(os.stat("child.err").st_size)
elif way == "closed":
    subprocess.run(child, check=True, preexec_fn=lambda: os.close(2))
else:
    subprocess.run(child, check=True)
EOF

# lines: print the number of heaptap's lines in err, and of all lines.
lines() {
    echo "$(grep -c '^heaptap: not recording: the limit on file size' err) of $(wc -l <err)"
}

# alike WAY: check that the program prints the same as alone, and that heaptap prints nothing.
alike() {
    rm -rf p.*
    python3 parent.py "$1" "$PROG/holes" >alone 2>err
    "$HEAPTAP" run --quiet --no-pack -o p.heaptap -- python3 parent.py "$1" "$PROG/holes" >out 2>err
    same "child's stderr $1: exit status" 0 $?
    same "child's stderr $1: what the program reads" "$(cat alone)" "$(cat out)"
    same "child's stderr $1: messages" "0 of 0" "$(lines)"
    check "child's stderr $1: the program is recorded" [ -s p.heaptap ]
}
alike pipe
alike file
alike closed

inherited() {
    same "$1" "1 of 1" "$(lines)"
}
run="$HEAPTAP run --quiet --no-pack --force -o p.heaptap --"
$run python3 parent.py inherited "$PROG/holes" >out 2>err
inherited "inherited, a file: the line is there"
{ $run python3 parent.py inherited "$PROG/holes" 2>&1 >/dev/null; } | cat >err
inherited "inherited, a pipe: the line is there"
python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))' \
    $run python3 parent.py inherited "$PROG/holes" </dev/null 2>&1 | tr -d '\r' >err
inherited "inherited, a terminal: the line is there"
$run prlimit --fsize=1024 "$PROG/holes" 2>err
inherited "the program itself: the line is there"

# If `run` has no stderr, the recorder writes to none.
$run python3 parent.py pipe "$PROG/holes" 2>&- >out
same "heaptap without stderr: what the program reads" "b''" "$(cat out)"

# If `heaptap run` runs inside another, it writes its processes' messages to the inner stderr.
HEAPTAP_STDERR=1:1 $run python3 parent.py inherited "$PROG/holes" >out 2>err
inherited "a run in a run: the line is there"

# Without `heaptap run`, the recorder writes to any stderr.
LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/hand.heaptap python3 parent.py pipe "$PROG/holes" >out 2>err
check "by hand: the line is in the pipe" grep -q "^b'heaptap: not recording: " out
HEAPTAP_STDERR=1:1 LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/silent.heaptap \
    prlimit --fsize=1024 "$PROG/holes" >out 2>err
same "by hand, with another file's numbers: silent" "0 of 0" "$(lines)"

# Adapters that do not know the runtime's version also print messages.
odd="$LIBHEAPTAP ${LIBHEAPTAP%/*}/libheaptap_python.so $PROG/libodd_python.so"
touch odd.same odd.other
for to in same other; do
    HEAPTAP_STDERR=$(stat -c %d:%i odd.same) LD_PRELOAD=$odd HEAPTAP_OUT=$PWD/odd.heaptap \
        /bin/true 2>>odd.$to
done
same "adapters: a message only if stderr is that file" "1 0" \
    "$(grep -c "^heaptap: Python .* is not supported" odd.same) $(wc -l <odd.other)"
finish
