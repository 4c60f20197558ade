# emacs.sh: emacs in batch mode: its conservative collector, a dumped heap, buffers that grow by
# mremap, a byte compiler and processes.
#
# needs: emacs

prepare() {
    cp "$INPUTS/emacs_work.el" work.el
}

run() {
    emacs -Q --batch -l work.el
    echo "status $?"
    emacs -Q --batch --eval '(byte-compile-file "work.el")' 2>&1 | tail -n 1
}

"$@"
