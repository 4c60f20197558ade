# yjit.sh: ruby with code made at run time that calls the interpreter and is called by it, so frames
# without tables lie in the middle of most stacks.
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
