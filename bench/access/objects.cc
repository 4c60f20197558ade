/* objects.cc: typical parts of C++ programs: maps of strings to vectors, objects with virtual
 * functions, sorted lists. */
#include <algorithm>
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct shape {
    virtual ~shape() = default;
    virtual long area() const = 0;
    long tag = 0;
};

struct box : shape {
    long w, h;
    box(long a, long b) : w(a), h(b) {}
    long area() const override { return w * h; }
};

struct disc : shape {
    long r;
    char note[40] = {};
    explicit disc(long a) : r(a) {}
    long area() const override { return 3 * r * r; }
};

int main() {
    long sum = 0;

    for (int turn = 0; turn < 6; turn++) {
        std::map<std::string, std::vector<int>> keys;
        std::unordered_map<int, std::unique_ptr<shape>> shapes;
        std::list<std::string> words;

        for (int i = 0; i < 60000; i++) {
            keys["key number " + std::to_string(i % 7001)].push_back(i);
            if (i & 1)
                shapes[i].reset(new box(i, turn));
            else
                shapes[i].reset(new disc(i));
            if (i % 5 == 0)
                words.push_back(std::to_string(i * 31) + " and some more text");
        }
        words.sort();
        for (auto &k : keys) {
            std::sort(k.second.begin(), k.second.end(), std::greater<int>());
            for (int v : k.second)
                sum += v;
        }
        for (auto &s : shapes)
            sum += s.second->area();
        for (auto &w : words)
            sum += static_cast<long>(w.size());
    }
    std::printf("%ld\n", sum);
}
