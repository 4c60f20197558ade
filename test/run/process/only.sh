#!/usr/bin/env bash
# only.sh: `run --only SCRIPT` and the interpreter that runs the script, started by the kernel, by
# env or by hand. If it fails, a script is not recorded, or a command that only mentions it is.
. "$SRCDIR/test/run/lib.subr"
export INTERPRETER=bash OPTION=-e
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

# Each form of a line that env accepts. The words in front of the interpreter are for env.
while IFS= read -r words; do
    chosen "by env $words" "bash " "#!/usr/bin/env $words" ./chosen.sh a
done <<'END'
-Sbash -e
-vSbash -e
--split-string=bash -e
-S 'bash' "-e"
-S "bash" '-e'
-S bash\_-e
-S -u X bash -e
-S --unset X bash -e
-S --unset=X bash -e
-S -C . bash -e
-S A='x y' B="it's" bash -e
-S -- bash -e
-S env bash -e
-S env -S "bash -e"
-S env -S bash\_-e
-S bash -e # a comment
-S ${INTERPRETER} -e
-S bash ${OPTION} -u
-S /bin/bash -e
END
chosen "by env -S, not another interpreter" "" "#!/usr/bin/env -S bash -e" \
    perl -e 1 ./chosen.sh
chosen "by env -S, not another script" "" "#!/usr/bin/env -S -u X bash -e" \
    bash -e other.sh ./chosen.sh
chosen "by env -S, not an option of env" "" "#!/usr/bin/env -S -u bash perl -c" \
    bash -c : ./chosen.sh

# Such a script without the recorder's variables is counted under its name.
for words in "-S -i bash -e" "-iS bash" "-S - bash" "-S -u LD_PRELOAD bash -e"; do
    printf '#!/usr/bin/env %s\n:\n' "$words" >chosen.sh
    "$HEAPTAP" run --quiet --force -o gate.heaptap --only chosen.sh --fail-on leaks -- \
        bash -c './chosen.sh; :' 2>err
    same "env $words: exit status" 99 $?
    check "env $words: message" \
        grep -q '^heaptap: chosen.sh: --fail-on cannot judge it: started without LD_PRELOAD' err
    "$HEAPTAP" run --quiet --force -o gate.heaptap --only another.sh,bash --fail-on inuse=1G -- \
        perl -e 'system "./chosen.sh"' 2>err
    check "env $words: named like the interpreter if that is chosen" \
        grep -q '^heaptap: bash: --fail-on cannot judge it: started without LD_PRELOAD' err
done

# Programs that env starts, and their names in the summary.
cp "$(command -v sleep)" chosen.sh
for words in "A=1 ./chosen.sh 0" "-u X ./chosen.sh 0" "env -S './chosen.sh 0'"; do
    for option in -S --split-string=; do
        rm -rf session
        "$HEAPTAP" run --no-pack -o session/ --only chosen.sh -- env "$option$words" 2>err
        same "env $option$words: exit status" 0 $?
        check "env $option$words: described" \
            grep -q '^heaptap: profile session/heaptap.chosen.sh.[0-9]*.heaptap' err
    done
done
: >chosen.sh
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
