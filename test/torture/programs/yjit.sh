# yjit.sh: ruby with code made at run time that calls the interpreter and is called by it, so frames
# without tables lie in the middle of most stacks.
#
# needs: ruby
# broken: code made by the interpreter has no unwind tables

prepare() {
    cat >work.rb <<'END'
def build(n) = n.zero? ? [] : [build(n - 1), "x" * n, { n => build(n - 1) }]
20.times { build(9) }
puts build(3).inspect.size
100.times { |i| begin; raise "e#{i}"; rescue => e; e.backtrace.size; end }
puts (0..3000).map { |i| "#{i}".to_sym.to_proc rescue nil }.compact.size
END
}

run() {
    ruby --yjit --yjit-call-threshold=2 work.rb
    echo "status $?"
}

"$@"
