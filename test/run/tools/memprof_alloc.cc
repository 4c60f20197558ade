/* memprof_alloc.cc: two functions that each allocate with operator new. run/memprof makes a profile
 * where one is hot and one is cold, and checks the compiler's output for them. */
struct Hot {
    long a[4];
};
struct Cold {
    long a[64];
};

__attribute__((noinline)) Hot *
make_hot()
{
    return new Hot();
}

__attribute__((noinline)) Cold *
make_cold()
{
    return new Cold();
}

int
main()
{
    Hot *hot = make_hot();
    Cold *cold = make_cold();
    long sum = hot->a[0] + cold->a[0];

    delete hot;
    delete cold;
    return static_cast<int>(sum);
}
