# tcl.sh: an interpreter with a separate allocator for each thread, on top of malloc.
#
# needs: tclsh
# oracle: yes

prepare() {
    cp "$INPUTS/tcl_work.tcl" work.tcl
}

run() {
    tclsh work.tcl
    echo "status $?"
}

"$@"
