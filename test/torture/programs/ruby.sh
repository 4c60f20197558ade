# ruby.sh: the collector (conservative, it scans our frames too), fibers with stacks of their own,
# Behind the entry of a fiber libunwind takes a stray word for a frame, so the oracle stays away.
# threads, fork, deep recursion that ends in SystemStackError by a guard page and SIGSEGV.
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
