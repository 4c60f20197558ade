# go.sh: the go tool builds a program and runs it. Both are static and have an allocator and stacks
# of their own: there is nothing to record, and it must stay harmless. With cgo there is.
#
# needs: go gcc
# hide: \d+(\.\d+)?s$
# limit: 500

export GOFLAGS=-mod=mod GO111MODULE=on GOTOOLCHAIN=local

prepare() {
    mkdir -p "$HOME/cache"
    cat >go.mod <<'END'
module work
go 1.18
END
    cat >main.go <<'END'
package main

/*
#include <stdlib.h>
static int twice(int v) { void *p = malloc(v); free(p); return 2 * v; }
*/
import "C"
import (
	"fmt"
	"os"
	"sync"
)

func main() {
	var w sync.WaitGroup
	var sums [8]int
	for t := range sums {
		w.Add(1)
		go func(t int) {
			defer w.Done()
			for i := 0; i < 5000; i++ {
				sums[t] += int(C.twice(C.int(i)))
			}
		}(t)
	}
	w.Wait()
	fmt.Println(sums)
	func() {
		defer func() { fmt.Println(recover()) }()
		var p *int
		*p = 1
	}()
	os.Exit(6)
}
END
}

run() {
    export GOCACHE=$HOME/cache
    go vet ./... && go build -o program . && ./program
    echo "status $?"
}

"$@"
