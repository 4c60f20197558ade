#!/usr/bin/env bash
# python_shares.sh: the calls and bytes of each Python function, compared with a count of all
# allocations of the same run by Python's C API (python_shares.c); also of Debian's pandas, django,
# sphinx, pylint and mypy. If it fails, blocks are charged to other functions than those that
# allocated.
. "$SRCDIR/test/run/lib.subr"
need python3 gcc
. "$area/pythons.subr"

gcc -O1 -shared -fPIC -ftls-model=initial-exec -o libshares.so "$area/python_shares.c" -ldl ||
    failed "build the counter"
export PYTHONMALLOC=malloc PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1

# shares NAME PYTHON PROGRAM
shares() {
    rm -rf counts profile source trees html
    LD_PRELOAD=$PWD/libshares.so SHARES_OUT=$PWD/counts \
        "$HEAPTAP" run --quiet -o profile -- "$2" "$area/python_shares.py" run "$3" >out 2>&1 \
        </dev/null
    run_python "$area/python_shares.py" "$HEAPTAP" profile counts >compared 2>&1
    same "$1: each function has its calls and bytes" 0 $?
    sed 's/^/#   /' compared
}

for python in $pythons; do
    name=$(label_of "$python")
    case $name in
    3.9.*) echo "ok - $name # SKIP needs PyGC_Disable, of 3.10" ;;
    *) shares "$name" "$python" library ;;
    esac
done
for package in pandas django sphinx pylint mypy; do
    if /usr/bin/python3 -c "import sys, $package; sys.exit(sys.version_info < (3, 10))" 2>/dev/null
    then
        shares "$package" /usr/bin/python3 $package
    else
        echo "ok - $package # SKIP needs Debian's python3-$package (mypy, pylint)"
    fi
done
finish
