/* stackdiff_cxx.cc: C++ frames for the differential unwinder test: callbacks from the standard
 * library's templates, virtual calls, destructors run by an exception, and handlers. */
#include "stackdiff.h"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct sampling_guard {
    unsigned n;
    ~sampling_guard() { diff_sample(); }
};

struct shape {
    virtual ~shape() {}
    virtual unsigned area(unsigned n) const = 0;
};

struct square : shape {
    unsigned area(unsigned n) const override
    {
        diff_sample();
        return n * n;
    }
};

__attribute__((noinline)) unsigned
throws(unsigned depth)
{
    sampling_guard guard{depth};

    if (depth == 0)
        throw std::runtime_error("a message long enough to be allocated on the heap");
    return throws(depth - 1) + guard.n;
}

} // namespace

extern "C" void
workload_cxx(unsigned seed)
{
    std::vector<unsigned> v(40);
    std::map<std::string, unsigned> names;
    square s;
    std::function<unsigned(unsigned)> f = [&s](unsigned n) { return s.area(n); };

    for (unsigned i = 0; i < v.size(); i++)
        v[i] = i * 2654435761u + seed;
    std::sort(v.begin(), v.end(), [&f](unsigned a, unsigned b) {
        if ((a ^ b) % 16 == 0)
            f(a);
        return a < b;
    });
    std::stable_sort(v.begin(), v.end(), std::greater<unsigned>());
    for (unsigned i = 0; i < 10; i++)
        names["a name beyond the short string " + std::to_string(i * seed)] = i;
    try {
        throws(seed % 6);
    } catch (const std::exception &e) {
        diff_sample();
    }
}
