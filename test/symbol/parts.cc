/* parts.cc: classes for test_structures.c, which knows their layouts. It is compiled twice: with
 * HOME, it defines the functions of a class that the other unit only declares. */
struct Keyed {
    virtual void run();
    long n;
};

#ifdef HOME
void
Keyed::run()
{
}
#else
struct Pool {
    long n;
};

// Members for which compilers write no size.
struct Node {
    long key;
    Pool &pool;
    long n;
};
struct Movable {
    Pool &&from;
    char last;
};
struct Pointers {
    long Pool::*field;
    long (Pool::*method)();
    char last;
};
struct Text {
    long n;
    char bytes[];
};
struct Null {
    decltype(nullptr) none;
    long n;
};

// These alignments do not follow from sizes.
struct Queue {
    alignas(64) long head;
    alignas(64) long tail;
};
typedef long Wide __attribute__((aligned(32)));
struct Wides {
    char first;
    Wide wide;
};
typedef float Vector __attribute__((vector_size(16)));
struct Vectors {
    char first;
    Vector v;
};
struct Holder {
    char c;
    Keyed keyed;
    char d;
};

// Nested structures, bases, and a structure without members.
struct Inside {
    long a;
    unsigned f : 1;
};
struct Outside {
    Inside i;
    char x;
};
struct alignas(64) Hot {
    long n;
};
struct Cold {
    char c;
    Hot hot;
    char d;
};
struct Less {
};
struct Sorted {
    Less less;
    long a, b;
};
struct Derived : Less {
    long a;
};
struct Unique {
    [[no_unique_address]] Less less;
    long a;
};
struct Base {
    long a;
    char b;
    Base() : a(1), b(2)
    {
    }
};
struct Reusing : Base {
    char c;
};

// Bases defined in the other unit, and virtual bases.
struct Elsewhere {
    long n;
    Elsewhere();
    virtual void run();
};
struct Native : Elsewhere {
    long a;
};
struct Owner {
    long a;
    Elsewhere there;
};
struct Common {
    virtual void run()
    {
    }
    long n;
};
struct Own : Common {
    long a;
};
struct Virtual : virtual Common {
    char v;
};
struct Diamond : Virtual, virtual Common {
    long d;
};
struct Calls {
    virtual void run()
    {
    }
};
struct Called : virtual Calls {
    long c;
};
struct Foreign : virtual Elsewhere {
    long f;
};
struct Second {
    virtual void run()
    {
    }
    long m;
};
struct Two : virtual Common, virtual Second {
    long t;
};
struct Nested : virtual Virtual, virtual Second {
    long e;
};
struct Sharing : virtual Calls, virtual Second {
    long s;
};
struct Padded {
    long n;
    char p;
};
struct Unsure : virtual Padded, virtual Second {
    long u;
};

Pool pool;
Node node = {1, pool, 2};
Movable movable = {static_cast<Pool &&>(pool), 'x'};
Pointers pointers;
Text text;
Null null;
Queue queue;
Wides wides;
Vectors vectors;
Holder holder;
Outside outside;
Cold cold;
Sorted sorted;
Derived derived;
Unique unique;
Reusing reusing;
Native native;
Owner owner;
Own own;
Virtual virtual_;
Diamond diamond;
Called called;
Foreign foreign;
Two two;
Nested nested;
Sharing sharing;
Unsure unsure;
#endif
