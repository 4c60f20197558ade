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
