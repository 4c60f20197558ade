# python_modules.sh: python with extension modules written in C++, C and Fortran: plug-ins for a C
# host, with their own libraries and thread pools.
#
# each: test/foreign/inputs/python/*.py
# limit: 120
# hide: (0x[0-9a-f]+)

export OPENBLAS_NUM_THREADS=2 MPLCONFIGDIR=$PWD/mpl XDG_RUNTIME_DIR=$PWD

prepare() {
    mkdir mpl
    # This run writes the files that python keeps between runs, such as a list of fonts.
    /usr/bin/python3 "$1" >/dev/null 2>&1
    true
}

run() {
    /usr/bin/python3 "$1"
}

"$@"
