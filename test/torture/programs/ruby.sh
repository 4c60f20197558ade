# ruby.sh: the conservative collector, which also scans the recorder's frames; fibers on separate
# stacks, threads, fork, and deep recursion that a guard page and SIGSEGV turn into
# SystemStackError. The oracle is not used, because libunwind mistakes a stray word for a frame
# outside the entry of a fiber.
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
