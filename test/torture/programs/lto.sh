# lto.sh: link-time optimisation: collect2, the linker with a plugin that it loads and unloads,
# and lto1 once per partition, under a make that gcc starts itself.
#
# needs: gcc ar
# hide: /\S*?/cc\w+(\.\w+)*

prepare() {
    local i next
    for i in $(seq 30); do
        next=$((i % 30 + 1))
        echo "int f$next(int); int f$i(int x) { return x > 3 ? f$next(x - 1) * $i : x; }" >"f$i.c"
    done
    printf 'int f1(int); int main(void) { return f1(9) & 127; }\n' >main.c
}

run() {
    gcc -O2 -flto -c ./*.c
    gcc-ar rcs libf.a f*.o
    gcc -O2 -flto=2 -flto-partition=max -o program main.o libf.a
    ./program
    echo "status $?"
    gcc -O2 -flto -static -o static main.o libf.a && ./static
    echo "status $?"
}

"$@"
