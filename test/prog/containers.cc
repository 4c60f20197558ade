/* cflags: -std=c++17 */
/* containers.cc: an ordinary C++ program with maps, strings, streams, a regular expression,
 * exceptions, shared pointers and sorting, for comparison with the oracle. Prints a checksum that
 * does not depend on addresses. The number of allocations depends on the C++ library. */
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

struct node {
    std::vector<std::shared_ptr<node>> children;
    std::string name;
};

static std::shared_ptr<node>
grow(int depth, const std::string &name)
{
    auto n = std::make_shared<node>();

    n->name = name;
    for (int i = 0; depth > 0 && i < 3; i++)
        n->children.push_back(grow(depth - 1, name + "/" + std::to_string(i) + "-long-component"));
    return n;
}

static size_t
total(const node &n)
{
    size_t sum = n.name.size();

    for (const auto &c : n.children)
        sum += total(*c);
    return sum;
}

static size_t
words()
{
    std::map<std::string, std::vector<int>> index;
    std::unordered_map<int, std::string> back;
    std::ostringstream text;

    for (int i = 0; i < 2000; i++) {
        std::string key = "word number " + std::to_string(i * 7919 % 501);

        index[key].push_back(i);
        back[i] = key;
    }
    for (const auto &[key, places] : index)
        text << key << ' ' << places.size() << '\n';
    return text.str().size() + back.size();
}

static int
matches()
{
    std::regex pattern("([a-z]+)-([0-9]+)(\\.[a-z]{2,3})?");
    int count = 0;

    for (int i = 0; i < 100; i++) {
        std::smatch found;
        std::string s = "item-" + std::to_string(i) + (i % 3 ? ".txt" : "!");

        count += std::regex_match(s, found, pattern);
    }
    return count;
}

static int
failures()
{
    int count = 0;

    for (int i = 0; i < 200; i++) {
        try {
            if (i % 2)
                throw std::runtime_error("a message that is not small " + std::to_string(i));
            count += std::stoi("not a number");
        } catch (const std::logic_error &) {
            count++;
        } catch (const std::runtime_error &e) {
            count += static_cast<int>(std::string(e.what()).size());
        }
    }
    return count;
}

int
main()
{
    std::vector<std::string> v;

    for (int i = 0; i < 3000; i++)
        v.push_back("a string that is not small " + std::to_string(i * 104729 % 3001));
    std::sort(v.begin(), v.end());
    std::cout << v[17] << ' ' << total(*grow(5, "root")) << ' ' << words() << ' ' << matches()
              << ' ' << failures() << std::endl;
    return 0;
}
