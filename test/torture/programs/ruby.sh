# ruby.sh: the collector (conservative, it also scans the recorder's frames), fibers on separate
# stacks, threads, fork, deep recursion that ends in SystemStackError by a guard page and SIGSEGV.
# Behind the entry of a fiber libunwind takes a stray word for a frame, so the oracle is not used.
#
# foreign: yes
# needs: ruby
# limit: 400
prepare() {
    cp "$INPUTS/ruby_work.rb" work.rb
}

run() {
    ruby work.rb
    echo "status $?"
    ruby -e 'raise "the end"' 2>&1
}

"$@"
