/* lines.cc: 100 lines of text, which std::string puts on the heap: most of the calls of operator
 * new are in the C++ library. */
#include <cstdio>
#include <string>

__attribute__((noinline)) static std::string
make_line(int number)
{
    std::string line = "a line that is too long to have a place in the string itself: ";

    line += static_cast<char>('0' + number % 10);
    return line;
}

int
main()
{
    std::size_t length = 0;

    for (int i = 0; i < 100; i++)
        length += make_line(i).size();
    std::printf("%zu\n", length);
    return length == 0;
}
