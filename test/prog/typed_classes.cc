/* typed_classes.cc: like typed.c, in C++: new, containers, smart pointers, and classes in
 * namespaces and with bases. type_tables.py lists the type that each function allocates. */
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#define SITE __attribute__((noinline))

namespace shop
{

struct Shape {
    virtual ~Shape() = default;
    long area = 0;
};

struct Circle : Shape {
    explicit Circle(long r);
    long radius;
    long cache[4] = {};
};

SITE
Circle::Circle(long r)
    : radius(r)
{
}

struct Box : Shape {
    long sides[9] = {};
};

template <typename T> struct Pair {
    T first, second;
};

} // namespace shop

namespace
{

struct Hidden {
    long values[14] = {};
};

} // namespace

static volatile int three = 3;
static std::vector<void *> kept;

SITE static void
keep(void *p)
{
    kept.push_back(p);
}

SITE static void
known_new()
{
    keep(new shop::Circle(three));
}

SITE static void
known_new_base()
{
    shop::Shape *s = new shop::Box;

    s->area = three;
    keep(s);
}

SITE static void
known_new_template()
{
    auto *p = new shop::Pair<double[5]>();

    p->first[0] = three;
    keep(p);
}

SITE static void
known_new_hidden()
{
    keep(new Hidden);
}

SITE static void
known_new_array()
{
    keep(new Hidden[static_cast<size_t>(three)]);
}

SITE static void
known_vector()
{
    auto *v = new std::vector<Hidden>;

    v->resize(static_cast<size_t>(three));
    v->resize(static_cast<size_t>(three) * 5);
}

SITE static void
known_map()
{
    static std::map<int, shop::Box> m;

    m[static_cast<int>(m.size())].area = three;
}

SITE static void
known_shared()
{
    static std::vector<std::shared_ptr<Hidden>> v(10);
    static size_t n;

    v[n++] = std::make_shared<Hidden>();
}

SITE static void
known_unique()
{
    keep(std::make_unique<Hidden>().release());
}

SITE static void
known_string()
{
    static std::string s;

    s = std::string(static_cast<size_t>(three) * 20, 'x');
}

int
main()
{
    kept.reserve(100);
    for (int i = 0; i < 3; i++) {
        known_new();
        known_new_base();
        known_new_template();
        known_new_hidden();
        known_new_array();
        known_vector();
        known_map();
        known_shared();
        known_unique();
        known_string();
    }
    return kept.empty();
}
