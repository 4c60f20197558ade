#!/usr/bin/env bash
# width.sh: the width of text and its characters. If it fails, lines wrap or are truncated
# unnecessarily, legends lose their end, or a terminal of another locale shows garbage.
#
# No line of a view is wider than the terminal, in display columns. Names, paths, commands and
# source code are cut. Sentences and legends are wrapped between words: all their words are there at
# any width. The layouts of --classic have the widths of the paper on mprof, except for leaks.
. "$SRCDIR/test/run/lib.subr"
need python3 strip

record containers.heaptap "$PROG/containers"
record history.heaptap "$PROG/slowleak" 120000 20000
record umlaut.heaptap "$PROG/umlaut"
record heaps.heaptap "$PROG/own_heaps" labels
record python.heaptap python3 -S -c 'print(len({str(i): [i] * 3 for i in range(3000)}))'
for mode in "sample 4K" "callers 1/8"; do
    rm -f "${mode% *}.heaptap"
    HEAPTAP_SEED=1 "$HEAPTAP" run --quiet "--${mode% *}" "${mode#* }" -o "${mode% *}.heaptap" -- \
        "$PROG/containers" >/dev/null 2>&1
done
# The program's name, and so its module's, has wide characters.
cp "$PROG/wide_names" 測試程式
record wide.heaptap ./測試程式
record recursion.heaptap ./測試程式 again
# A session's title has its command line.
record session.heaptap bash -c '"$1"; "$2" 1000 2000; exit 0' - "$PROG/containers" \
    "$PROG/slowleak" "an argument that is too long for any line of text that these views may write"
run_python "$area/access_made.py" "$PROG/access_structs" fields.heaptap
for name in containers history umlaut heaps python sample callers wide recursion session fields; do
    check "$name is recorded" [ -s $name.heaptap ]
done
check "the session has several processes" "$HEAPTAP" report session.processes

# Every view, one per line.
echo "peak <= 1M" >rules
echo "allocations of main == 0" >>rules
views() {
    local by
    echo "report containers.heaptap"
    echo "report --tree containers.heaptap"
    echo "report heaps.heaptap"
    for by in function line file module thread size type heap label; do
        echo "report --by $by heaps.heaptap"
    done
    echo "report python.heaptap"
    for by in containers heaps python sample callers; do
        echo "report --site 1 $by.heaptap"
    done
    echo "report --site 2 --no-fold --native python.heaptap"
    echo "report --at peak python.heaptap"
    echo "leaks --paths python.heaptap"
    for by in report "report --full" "report --tree" "report --by function" "report --by size" \
        functions callgraph; do
        echo "$by sample.heaptap"
    done
    echo "report --at end --by function callers.heaptap"
    echo "sizes callers.heaptap"
    echo "report --between start..end history.heaptap"
    echo "report --full containers.heaptap"
    echo "report --full heaps.heaptap"
    for by in function line type; do
        echo "report --by $by --no-fold --limit 99 --alloc containers.heaptap"
    done
    echo "leaks containers.heaptap"
    echo "leaks --paths containers.heaptap"
    echo "leaks --call-sites containers.heaptap"
    echo "leaks --classic containers.heaptap"
    for by in report leaks timeline; do
        echo "$by session.processes"
    done
    echo "access --fields fields.heaptap"
    echo "timeline history.heaptap"
    echo "sizes --all containers.heaptap"
    echo "sizes --between start..end history.heaptap"
    echo "functions --no-fold containers.heaptap"
    echo "callgraph --no-fold --limit 20 containers.heaptap"
    echo "callgraph --function main containers.heaptap"
    echo "source main containers.heaptap"
    echo "diff history.heaptap containers.heaptap"
    echo "diff --by function history.heaptap containers.heaptap"
    echo "budget --budget rules containers.heaptap"
    echo "top --batch -n 1 containers.heaptap"
    echo "--help"
    for by in run attach detach control snapshot pack merge report leaks timeline bins direct \
        callgraph source diff export; do
        echo "$by --help"
    done
    echo "export --list"
    echo "nothing"
    echo "report nothing.heaptap"
}
views >views

# Views of names that are not ASCII, in any locale.
wide_views() {
    local by
    for by in function line file module; do
        echo "report --by $by --alloc wide.heaptap"
    done
    for by in report "report --tree" "report --full" leaks "leaks --paths" functions callgraph \
        sizes; do
        echo "$by wide.heaptap"
    done
    echo "leaks --paths recursion.heaptap"
    echo "leaks --classic recursion.heaptap"
    echo "diff --by function umlaut.heaptap wide.heaptap"
}
wide_views >wide_views

# widest WIDTH ARGUMENTS...: print the lines of this view that are wider than WIDTH columns.
widest() {
    local width=$1
    shift
    COLUMNS=$width LC_ALL=C.UTF-8 "$HEAPTAP" "$@" 2>/dev/null </dev/null |
        run_python -c 'import sys, unicodedata
def columns(text):
    return sum(1 - bool(unicodedata.combining(c)) + (unicodedata.east_asian_width(c) in "WF")
               for c in text)
for line in sys.stdin:
    if columns(line.rstrip("\n")) > int(sys.argv[1]):
        print("#  ", *sys.argv[1:], line, end="")' "$width" "$@"
}

# The minimum is 60 columns: narrower views do not truncate numbers, so their lines wrap.
for width in 40 60 80 120; do
    while read -r arguments; do
        case $arguments in
        *help | export* | nothing | *nothing.heaptap) continue ;;
        esac
        # shellcheck disable=SC2086
        [ "$width" != 40 ] && widest "$width" $arguments
        # shellcheck disable=SC2086
        [ "$width" = 40 ] && cmp <(COLUMNS=40 "$HEAPTAP" $arguments 2>/dev/null) \
            <(COLUMNS=60 "$HEAPTAP" $arguments 2>/dev/null)
    done < <(cat views wide_views) >exceed.$width
    name="no view exceeds $width columns"
    [ "$width" = 40 ] && name="40 columns are treated as 60"
    if [ -s "exceed.$width" ]; then failed "$name" && cat "exceed.$width"; else passed "$name"; fi
done

# Every command that shows a profile is among the views. core, check, rawdump, rss and retain show
# memory; serve shows nothing.
# run/rss and run/retain measure the width of these two.
for command in $("$HEAPTAP" --help | awk '/^  [a-z+]+  / { print $1 }'); do
    case $command in
    heaptap | run | attach | detach | cc | c++ | record | snapshot | pack | merge | core | check | \
        rawdump | rss | retain | html | export | serve | help) ;;
    *) check "$command is among the views" grep -q "^$command .*heaptap$" views ;;
    esac
done

# Views with sentences and legends. Each one's output, without a limit and at each width, is in
# unlimited.N and narrow.WIDTH.N, by the line N of the list.
grep -vE 'help$|^export|^nothing|nothing\.heaptap|^source|session|--classic' views >with_prose
n=0
while read -r arguments; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    env -u COLUMNS LC_ALL=C.UTF-8 "$HEAPTAP" $arguments >unlimited.$n 2>/dev/null </dev/null
    for width in 60 80 120; do
        # shellcheck disable=SC2086
        COLUMNS=$width LC_ALL=C.UTF-8 "$HEAPTAP" $arguments >narrow.$width.$n 2>/dev/null </dev/null
    done
done <with_prose

# prose WIDTH: print the sentences and legends that lack words at WIDTH. A line is one if it has
# four words of small letters in a row, no name of code, and no columns, which have two blanks
# between them; the first line of a view has the command.
prose() {
    run_python - "$1" <<'END'
import re, sys
def text_of(name):
    with open(name, encoding="utf-8") as file:
        return file.read()
seen = 0
for n, view in enumerate(text_of("with_prose").splitlines(), 1):
    narrow = " ".join(text_of(f"narrow.{sys.argv[1]}.{n}").split())
    for line in map(str.strip, text_of(f"unlimited.{n}").splitlines()[1:]):
        if (re.search("([a-z]{2,}[,;:.]? ){3}[a-z]{2}", line) and
                not re.search("[_<·]|::|  ", line)):
            seen += 1
            if line not in narrow:
                print("#  ", view, "lacks:", line)
if seen < 50:
    print("#   only", seen, "sentences")
END
}
for width in 60 80 120; do
    prose $width >cut.$width
    name="no sentence or legend is cut at $width columns"
    if [ -s "cut.$width" ]; then failed "$name" && cat "cut.$width"; else passed "$name"; fi
done

check "wide characters do not move the next column" run_python - <(
    COLUMNS=80 LC_ALL=C.UTF-8 "$HEAPTAP" leaks wide.heaptap) <<'END'
import sys, unicodedata
with open(sys.argv[1], encoding="utf-8") as f:
    names = [line.split(" prog/wide_names.c:")[0] for line in f if " prog/wide_names.c:" in line]
wide = [sum(unicodedata.east_asian_width(c) in "WF" for c in name) for name in names]
columns = [len(name) + more for name, more in zip(names, wide)]
assert len(names) == 3 and wide[0] == 4 and wide[1] > 20 and wide[2] == 0, names
assert len(set(columns)) == 1, columns
END

# Without a limit, a long name does not move the columns of other rows.
check "a pipe pads no row to the longest name" run_python - <(
    env -u COLUMNS "$HEAPTAP" report --by function --no-fold --limit 99 \
        --alloc containers.heaptap) <<'END'
import re, sys
rows = [line.rstrip("\n") for line in open(sys.argv[1], encoding="utf-8")]
assert max(map(len, rows)) > 140, max(map(len, rows))
assert not [row for row in rows if re.search("[^ ] {70}", row)]
END

odd=0 wide=0 raw=0 shown=0
while read -r arguments; do
    # shellcheck disable=SC2086
    COLUMNS=72 LC_ALL=C "$HEAPTAP" $arguments >shown 2>shown.err </dev/null
    if [ -s shown ]; then shown=$((shown + 1)); else echo "#   nothing: $arguments"; fi
    LC_ALL=C grep -nH '[^ -~]' shown shown.err && odd=1 && echo "#   by $arguments"
    # Hints on stderr are one line each, and so are descriptions of examples.
    case $arguments in
    *help | export*) ;;
    *) grep -nHE '.{73}' shown && wide=1 && echo "#   by $arguments" ;;
    esac
    COLUMNS=72 LC_ALL=C.UTF-8 "$HEAPTAP" $arguments >shown.utf8 2>/dev/null </dev/null
    [ "$(wc -l <shown)" = "$(wc -l <shown.utf8)" ] || { raw=1 && echo "#   by $arguments"; }
done <views
same "all but the two mistakes show something" $(($(wc -l <views) - 2)) $shown

# The output of `heaptap run` when a program without symbols has ended.
cp "$PROG/slowleak" bare && strip bare
LC_ALL=C "$HEAPTAP" run -o bare.heaptap -- ./bare 1000 20000 2>summary
check "the summary names code without symbols" grep -q 'held by bare+0x' summary
check "the summary is plain where the locale is" bash -c "! LC_ALL=C grep '[^ -~]' summary"
same "in the C locale all text is ASCII" 0 $odd
same "and as wide as COLUMNS says" 0 $wide
same "and has the same lines" 0 $raw

# shows_ascii NAME WANTED VARIABLE...: check whether a report is in ASCII under these variables
# alone.
shows_ascii() {
    local name=$1 wanted=$2 got=no
    shift 2
    env -u LC_ALL -u LC_CTYPE -u LANG "$@" "$HEAPTAP" report umlaut.heaptap 2>/dev/null |
        grep -q '^pid [0-9]* | ' && got=yes
    same "ASCII: $name" "$wanted" "$got"
}
shows_ascii "without a locale" yes
shows_ascii "a UTF-8 locale" no LANG=C.UTF-8
shows_ascii "LC_ALL goes before" yes LANG=C.UTF-8 LC_ALL=C
shows_ascii "a UTF-8 locale that is not installed" no LANG=xx_XX.UTF-8
shows_ascii "another one that is not" yes LANG=xx_XX.ISO-8859-1
shows_ascii "HEAPTAP_ASCII=1" yes LANG=C.UTF-8 HEAPTAP_ASCII=1
shows_ascii "HEAPTAP_ASCII=0" no LC_ALL=C HEAPTAP_ASCII=0

# The user's names keep their letters, and output for programs is the same in every locale.
if LC_ALL=C.UTF-8 "$HEAPTAP" report umlaut.heaptap | grep -q 'größe_alloc'; then
    check "a name keeps its letters" grep -q 'größe_alloc' <(LC_ALL=C "$HEAPTAP" report \
        umlaut.heaptap)
else
    failed "a name has its letters"
fi
for arguments in "report --json umlaut.heaptap" "export -f collapsed umlaut.heaptap" \
    "export -f flamegraph containers.heaptap" "callgraph --dot umlaut.heaptap"; do
    # shellcheck disable=SC2086
    same "the same in every locale: $arguments" \
        "$(LC_ALL=C.UTF-8 "$HEAPTAP" $arguments 2>/dev/null | cksum)" \
        "$(LC_ALL=C "$HEAPTAP" $arguments 2>/dev/null | cksum)"
done

# A pipe gets whole lines unless COLUMNS is set.
check "a pipe is not cut" grep -q 'std::allocator<char> > >' <(
    env -u COLUMNS "$HEAPTAP" functions --no-fold -n 99 containers.heaptap)
check "but is when COLUMNS is set" test -z "$(COLUMNS=72 "$HEAPTAP" direct -n 99 \
    containers.heaptap | grep -E '.{73}')"

# Rows by line name the function, and `source` leaves most of a line for the text.
COLUMNS=80 "$HEAPTAP" report --by line umlaut.heaptap >lines.txt
check "by line: the line and the function" grep -qE 'umlaut\.c:10 +größe_alloc' lines.txt
check "by line: JSON has the function" python3 - <(
    "$HEAPTAP" report --by line --json umlaut.heaptap) <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert any(r["function"].endswith("e_alloc") and r["line"] == 10 for r in rows), rows
END
COLUMNS=80 "$HEAPTAP" source main history.heaptap >source.txt
check "source: at least 46 of 80 columns are the text's" python3 - source.txt <<'END'
import re, sys
lines = [line.rstrip("\n") for line in open(sys.argv[1], encoding="utf-8")]
titles = next(line for line in lines if re.match(r" *live +peak +alloc +calls +line$", line))
assert len(titles) + 2 <= 34, titles
assert all(len(line) <= 80 for line in lines)
END
finish
