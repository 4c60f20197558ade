#!/usr/bin/env bash
# ruby_adapter.sh: adapters/ruby.c, which shows the methods of Ruby. If it fails, blocks are charged
# to wrong methods of a script, or a Ruby of another version crashes.
. "$SRCDIR/test/run/lib.subr"
need gcc python3 ruby
ruby -rrbconfig -e 'exit File.exist?(RbConfig::CONFIG["rubyhdrdir"] + "/ruby.h")' ||
    skip_all "needs the headers of Ruby (ruby-dev)"

make -s -C "$SRCDIR" adapters BUILD="$PWD/built" >make.out 2>&1
check "make adapters" test -e built/adapters/libheaptap_ruby.so
adapter=built/adapters/libheaptap_ruby.so

cat >table.rb <<'END'
GC.disable
BYTES = "x" * 6500
class Table
  def fill(rows) 100.times { rows << String.new.concat(BYTES) } end
end
def make(rows) Table.new.fill(rows) end
make(ROWS = [])
Thread.new { make(ROWS) }.join
puts ROWS.size
$stdout.flush
puts `echo child`
exit 5
END
# status_of COMMAND...: run COMMAND, and print its output and status.
status_of() {
    local out status=0
    out=$("$@") || status=$?
    echo "$(echo "$out" | tr '\n' ' ')$status"
}
same "alone" "200 child 5" "$(status_of ruby table.rb)"
same "recorded: output and status" "200 child 5" "$(status_of \
    "$HEAPTAP" run --quiet -o table.heaptap --adapter $adapter -- ruby table.rb)"
"$HEAPTAP" export -f collapsed --language-only --metric alloc table.heaptap 2>/dev/null |
    grep -o '[^;]*;make;fill;.*' >stacks
each=$("$HEAPTAP" report --json --native table.heaptap 2>/dev/null | run_python -c '
import documents, sys
print(sum(site["allocated_bytes"] for site in documents.load(sys.stdin)["sites"]
          if [frame["function"] for frame in site["stack"]
              if frame.get("language")][:1] == ["concat"]) // 200)')
check "concat allocates at least its bytes" test "$each" -ge 6500
same "each string is charged to its methods, in each thread" \
    "<main>;make;fill;times;fill;concat $((200 * each))" \
    "$(grep -E '^<main>;make;fill;times;fill;concat [0-9]+$' stacks)"
"$HEAPTAP" report --full table.heaptap >full.txt 2>/dev/null
check "frames have file and line" grep -q 'fill .*table\.rb:4' full.txt

# Random calls, with blocks, fibers, enumerators, threads and exceptions.
printf 'class Late\n  moment\n  act(2)\nend\n' >loaded.rb
"$HEAPTAP" run --quiet -o moments.heaptap --adapter $adapter -- \
    ruby "$area/moments.rb" 1 "${RUBY_MOMENTS:-3000}" truth >moments.out 2>&1
same "moments: output and status" "0 " "$? $(cat moments.out)"
"$HEAPTAP" report --json --native moments.heaptap >moments.json 2>/dev/null
run_python "$area/moments.py" moments.json truth concat "[C]" >compared 2>&1
same "moments: chains are those of caller_locations" 0 $?
sed 's/^/#   /' compared

sed 's/ruby_api_version\[0\] ==/ruby_api_version[0] + 1 ==/' "$SRCDIR/adapters/ruby.c" >other.c
includes=$(ruby -rrbconfig -e '
    puts RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").map { |d| "-I" + d }')
check "build for another version" gcc -O2 -shared -fPIC "-I$SRCDIR/include" $includes \
    -o libheaptap_other.so other.c
same "another version: output and status" "200 child 5" "$(status_of \
    "$HEAPTAP" run --quiet -o other.heaptap --adapter libheaptap_other.so -- ruby table.rb)"
same "another version: no method" 0 \
    "$("$HEAPTAP" export -f collapsed other.heaptap 2>/dev/null | grep -c '<main>')"
same "programs that are not Ruby: output and status" "a 3" "$(status_of \
    "$HEAPTAP" run --quiet -o sh.heaptap --adapter $adapter -- sh -c 'echo a | sort; exit 3')"

finish
