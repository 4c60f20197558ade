# yjit.sh: ruby with code generated at run time, which calls the interpreter and is called by it. So
# most stacks have frames without unwind tables in their middle.
#
# needs: ruby
# broken: code made by the interpreter has no unwind tables

prepare() {
    cp "$INPUTS/yjit_work.rb" work.rb
}

run() {
    ruby --yjit --yjit-call-threshold=2 work.rb
    echo "status $?"
}

"$@"
