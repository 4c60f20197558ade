# java.sh: a virtual machine that catches SIGSEGV to find null pointers, stack overflows and safe
# points, compiles in threads, collects in others, and exits with threads running.
#
# needs: java javac
# broken: code made by the virtual machine has no unwind tables
# hide: ^#.*$|0x[0-9a-f]+|pid \d+
# limit: 400

prepare() {
    cp "$INPUTS/java_work.java" Work.java
}

run() {
    javac -J-Xmx256m Work.java
    echo "javac $?"
    java -Xmx128m Work
    echo "status $?"
    java -Xmx128m -XX:+UseSerialGC -Xint -cp . Work | tail -n 2
    java -XX:ErrorFile=/dev/null -XX:-CreateCoredumpOnCrash -Xmx64m -version 2>&1 | head -n 1
}

"$@"
