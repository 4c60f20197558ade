# go.sh: the go tool builds a program and runs it. Both are static and have a private allocator and
# private stacks, so the recorder sees no events and must do no harm. With cgo, there are events.
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
    cp "$INPUTS/go_work.go" main.go
}

run() {
    export GOCACHE=$HOME/cache
    go vet ./... && go build -o program . && ./program
    echo "status $?"
}

"$@"
