# go.sh: the go tool builds a program and runs it. Both are static and have a private allocator and
# private stacks: there is nothing to record, and it must stay harmless. With cgo there is.
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
