# gdb.sh: a recorded debugger, with python inside, which runs a recorded program, stops it in the
# middle of malloc and calls functions in it.
#
# foreign: yes
# needs: gdb gcc
# broken: the frame from which gdb calls a function has no caller
# hide: 0x[0-9a-f]+|process \d+|LWP \d+|pid \d+
# hide: ^warning: Error disabling address space.*$
# hide: ^#\d+ .*$

prepare() {
    cat >debugged.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int
twice(int v)
{
    char *p = malloc((size_t)v);
    memset(p, 1, (size_t)v);
    free(p);
    return 2 * v;
}
int main(void)
{
    int sum = 0;
    for (int i = 1; i < 50; i++) sum += twice(i);
    printf("%d\n", sum);
    return 3;
}
END
    cat >script.gdb <<'END'
set pagination off
set confirm off
break twice if v == 20
run
print v
print twice(21)
print (long) malloc(100) != 0
python print([s.name for s in gdb.selected_frame().block().function.symtab.global_block()][:3])
python import json; print(len(json.dumps(list(range(5000)))))
delete
watch v
continue
continue
delete
catch syscall exit_group
continue
info inferiors
continue
END
    gcc -g -O0 -o debugged debugged.c
}

run() {
    gdb -nx -q -batch -x script.gdb ./debugged
    echo "status $?"
}

"$@"
