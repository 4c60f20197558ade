#!/usr/bin/env bash
# only.sh: `run --only SCRIPT` and the interpreter that runs the script, started by the kernel, by
# env or by hand. If it fails, a script is not recorded, or a command that only mentions it is.
. "$SRCDIR/test/run/lib.subr"
need env perl

# chosen NAME WANTED LINE COMMAND...: run COMMAND with `--only chosen.sh`. The script begins with
# LINE. WANTED is the program of each profile.
chosen() {
    local name=$1 wanted=$2
    printf '%s\n: "${x:=y}"\n' "$3" >chosen.sh
    shift 3
    rm -rf session
    "$HEAPTAP" run --quiet -o session/ --only chosen.sh -- "$@" >out 2>err </dev/null
    same "$name: exit status" 0 $?
    same "$name" "$wanted" \
        "$(find session -name '*.heaptap' | sed 's/.*heaptap\.\(.*\)\.[0-9]*\.heaptap/\1/' |
            LC_ALL=C sort | tr '\n' ' ')"
}

: >chosen.sh
chmod +x chosen.sh
mkdir path
ln -s ../chosen.sh path/chosen.sh
printf ': "${x:=y}"\n' >other.sh
bash=$(command -v bash)

chosen "by the kernel" "bash " "#!$bash" ./chosen.sh
chosen "by env" "bash " "#!/usr/bin/env bash" ./chosen.sh
chosen "by env, with a blank" "bash " "#! /usr/bin/env  bash" ./chosen.sh a b c
chosen "by env -S" "bash " "#!/usr/bin/env -S bash -e -u" ./chosen.sh a
chosen "by env -S, with a variable" "bash " "#!/usr/bin/env -S A=b bash -e" ./chosen.sh
chosen "by env, found in PATH" "bash " "#!/usr/bin/env bash" \
    env PATH="$PWD/path:$PATH" chosen.sh
chosen "by hand" "bash " "#!/usr/bin/env bash" bash ./chosen.sh a b
chosen "by hand, without env" "bash " "#!$bash -e" bash chosen.sh
chosen "by hand, a child" "bash " "#!$bash -e" bash -c 'bash chosen.sh; :'
chosen "a child that has left the directory" "bash bash " "#!/usr/bin/env bash
x=\$(cd / && echo y)" ./chosen.sh

chosen "not grep" "" "#!/usr/bin/env bash" grep -q bash chosen.sh
chosen "not cat" "" "#!/usr/bin/env bash" cat chosen.sh
chosen "not another script" "" "#!/usr/bin/env bash" bash other.sh chosen.sh
chosen "not another script with the options of this one" "" "#!/usr/bin/env -S bash -e" \
    bash -e other.sh chosen.sh
chosen "not a command with its name as an argument" "" "#!/usr/bin/env bash" \
    bash -c : chosen.sh
chosen "not another interpreter" "" "#!/usr/bin/env bash" perl -e 1 chosen.sh
chosen "not a file without an interpreter" "" ":" bash chosen.sh
chosen "not a file with half a line" "" "#!" bash chosen.sh

finish
