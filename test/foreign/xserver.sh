# xserver.sh: a display server, whose renderer is a plug-in in C++, and programs that draw on it.
#
# needs: xvfb-run Xvfb wish
# as: nobody
# limit: 60

prepare() {
    true
}

run() {
    echo 'canvas .c; pack .c; for {set i 0} {$i < 300} {incr i} {.c create oval $i $i 50 60; update}
        puts [llength [.c find all]]; exit 3' >t.tcl
    xvfb-run -a -e errors wish t.tcl
    echo "status $?"
    grep -c Segmentation errors
    cat errors
    true
}

"$@"
