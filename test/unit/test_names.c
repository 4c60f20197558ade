/* test_names.c: names for readers: demangled, and shortened to fit into a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>
#include <string.h>

#include "symbol/demangle.h"

/* If this fails, names of some language stay mangled. */
static void
mangled_names_are_demangled(void **state)
{
    static const struct {
        const char *linkage, *name;
    } cases[] = {
        { "main", "main" },
        { "_ZNSt6vectorIiSaIiEE9push_backERKi",
          "std::vector<int, std::allocator<int> >::push_back(int const&)" },
        { "_ZL4workv.part.0", "work() [clone .part.0]" },
        { "_ZN1r4deep2er3two17h575284eaa27a5553E", "r::deep::er::two" },
        { "_RINvNtNtCs6GmmlP4bgsG_1r4deep2er3twojEB6_", "r::deep::er::two::<usize>" },
        { "_D3std5stdio7writelnFZv", "std.stdio.writeln()" },
        { "memcpy@@GLIBC_2.14", "memcpy" },
        { "_Znwm@GLIBCXX_3.4", "operator new(unsigned long)" },
        { "..@4.crc_loop", "..@4.crc_loop" },
        { "_Z", "_Z" },
        { "_ZN", "_ZN" },
        { "", "" },
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < countof(cases); i++)
        assert_string_equal(demangle(&arena, cases[i].linkage), cases[i].name);
    assert_string_equal(demangle_strip_clone(&arena, "_ZL4workv.part.0"), "_ZL4workv");
    assert_string_equal(demangle_strip_clone(&arena, ".hidden"), ".hidden");
    arena_release(&arena);
}

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#define CLASS(name, type)                                                                          \
    "std::__cxx11::basic_" name "<" type ", std::char_traits<" type ">, std::allocator<" type "> >"
#define VIEW(type) "std::basic_string_view<" type ", std::char_traits<" type "> >"
#define MT32(type, u)                                                                              \
    "std::mersenne_twister_engine<" type ", 32" u ", 624" u ", 397" u ", 31" u ", 2567483615" u    \
    ", 11" u ", 4294967295" u ", 7" u ", 2636928640" u ", 15" u ", 4022730752" u ", 18" u          \
    ", 1812433253" u ">"
#define MT64                                                                                       \
    "mersenne_twister_engine<unsigned long long, 64ull, 312ull, 156ull, 31ull, "                   \
    "13043109905998158313ull, 29ull, 6148914691236517205ull, 17ull, 8202884508482404352ull, "      \
    "37ull, 18444473444759240704ull, 43ull, 6364136223846793005ull>"

static const struct {
    size_t width;
    const char *name, *wanted;
} shorten_cases[] = {
    { 80, "main", "main" },
    { 80, "", "" },
    // The angle brackets in Python's names are no template arguments.
    { 24, "Order.__init__.<locals>.<listcomp>", "Order.__init__.<locals>…" },
    { 8, "<module>", "<module>" },
    { 5, "<module>", "<mod…" },
    { 20, "<genexpr> and 1 more function", "<genexpr> and 1 mor…" },
    { 22, "<module> (import zipfile)", "<module> (import zipf…" },
    { 22, "native (no Python frame)", "native (no Python fra…" },
    { 12, "<Type as Trait<U>>::f", "<…>::f" },
    // Noise is removed at any width.
    { 80, STRING "::_M_create(unsigned long&, unsigned long)",
      "std::string::_M_create(unsigned long&, unsigned long)" },
    { 80, "std::vector<int, std::allocator<int> >::push_back(int const&)",
      "std::vector<int>::push_back(int const&)" },
    { 99, "std::vector<" STRING ", std::allocator<" STRING " > >::reserve(unsigned long)",
      "std::vector<std::string>::reserve(unsigned long)" },
    { 99, "std::map<int, A, std::less<int>, std::allocator<std::pair<int const, A> > >::at(int)",
      "std::map<int, A>::at(int)" },
    { 99, "std::unordered_set<K, std::hash<K>, std::equal_to<K>, std::allocator<K> >::clear()",
      "std::unordered_set<K>::clear()" },
    // Arguments that are not the default for the element are kept.
    { 99, "std::map<int, A, std::less<void>, std::allocator<std::pair<int const, A> > >::clear()",
      "std::map<int, A, std::less<void>>::clear()" },
    { 99, "std::set<int, std::less<long>, std::allocator<int> >::clear()",
      "std::set<int, std::less<long>>::clear()" },
    { 99, "std::vector<int, std::allocator<long> >::clear()",
      "std::vector<int, std::allocator<long>>::clear()" },
    { 99, "std::map<int, A, std::less<int>, std::allocator<std::pair<int const, B> > >::clear()",
      "std::map<int, A, std::less<int>, std::allocator<std::pair<int const, B>>>::clear()" },
    { 99, "std::map<int, A, std::less<int>, std::allocator<std::pair<long const, A> > >::clear()",
      "std::map<int, A, std::less<int>, std::allocator<std::pair<long const, A>>>::clear()" },
    { 99, "std::unordered_set<K, std::hash<J>, std::equal_to<K>, std::allocator<K> >::clear()",
      "std::unordered_set<K, std::hash<J>>::clear()" },
    { 99, "std::unique_ptr<A, std::default_delete<B> >::reset(A*)",
      "std::unique_ptr<A, std::default_delete<B>>::reset(A*)" },
    { 99, "std::basic_string<char, std::char_traits<wchar_t>, std::allocator<char> >::clear()",
      "std::basic_string<char, std::char_traits<wchar_t>>::clear()" },
    { 99, "std::map<int, A, std::less<int>, std::allocator<std::pair<const int, A>>>::clear()",
      "std::map<int, A>::clear()" },
    { 99, "std::multimap<" STRING ", A<int, B<C> >, std::less<" STRING " >, "
          "std::allocator<std::pair<" STRING " const, A<int, B<C> > > > >::clear()",
      "std::multimap<std::string, A<int, B<C>>>::clear()" },
    { 140, "std::_Rb_tree<int, std::pair<int const, A>, std::_Select1st<std::pair<int const, A> >, "
           "std::less<int>, std::allocator<std::pair<int const, A> > >::_M_insert_(A*)",
      "std::_Rb_tree<int, std::pair<int const, A>, std::_Select1st<std::pair<int const, A>>>"
      "::_M_insert_(A*)" },
    { 99, "std::map<int, A, std::less<int>, Pool<A> >::clear()",
      "std::map<int, A, std::less<int>, Pool<A>>::clear()" },
    { 99, "std::pair<int, std::allocator<int> >::swap()",
      "std::pair<int, std::allocator<int>>::swap()" },
    { 99, "std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>&, long)",
      "std::allocator_traits<std::allocator<int>>::allocate(std::allocator<int>&, long)" },
    { 99, "std::unique_ptr<A, std::default_delete<A> >::reset(A*)",
      "std::unique_ptr<A>::reset(A*)" },
    { 99, "std::__1::vector<int, std::__1::allocator<int>>::clear()",
      "std::vector<int>::clear()" },
    { 99, "std::filesystem::__cxx11::path::parent_path() const",
      "std::filesystem::path::parent_path() const" },
    { 99, "mystd::__1::f()", "mystd::__1::f()" },
    { 99, "std::__8::set<int, std::__8::allocator<int> >::clear()", "std::set<int>::clear()" },
    { 99, "std::__debug::vector<int, std::allocator<int> >::clear()", "std::vector<int>::clear()" },
    { 99, "std::__8::__debug::list<int, std::__8::allocator<int> >::clear()",
      "std::list<int>::clear()" },
    { 99, "std::__cxx1998::deque<int, std::allocator<int> >::clear()", "std::deque<int>::clear()" },
    { 99, "my::__8::f(my::__debug::A)", "my::__8::f(my::__debug::A)" },
    // Strings, streams and the usual engines have short names.
    { 99, "f(" CLASS("string", "char8_t") ", " CLASS("string", "char16_t") ")",
      "f(std::u8string, std::u16string)" },
    { 99, "f(" CLASS("string", "char32_t") ", " CLASS("string", "wchar_t") ")",
      "f(std::u32string, std::wstring)" },
    { 99, "f(" VIEW("char") ", " VIEW("wchar_t") ", " VIEW("char8_t") ")",
      "f(std::string_view, std::wstring_view, std::u8string_view)" },
    { 99, "f(" VIEW("char16_t") ", " VIEW("char32_t") ", " VIEW("int") ")",
      "f(std::u16string_view, std::u32string_view, std::basic_string_view<int>)" },
    { 99, "f(" CLASS("stringstream", "char") ", " CLASS("ostringstream", "wchar_t") ")",
      "f(std::stringstream, std::wostringstream)" },
    { 99, "f(" CLASS("stringbuf", "char") ", " CLASS("stringstream", "char16_t") ")",
      "f(std::stringbuf, std::basic_stringstream<char16_t>)" },
    { 99, "std::basic_ifstream<char, std::char_traits<char> >::open(char const*)",
      "std::ifstream::open(char const*)" },
    { 99, "std::basic_filebuf<wchar_t, std::char_traits<wchar_t> >::_M_allocate_internal_buffer()",
      "std::wfilebuf::_M_allocate_internal_buffer()" },
    { 99, "std::basic_string<char, std::char_traits<char>, Pool<char> >::clear()",
      "std::basic_string<char, std::char_traits<char>, Pool<char>>::clear()" },
    { 99, "my::basic_string<char>::clear()", "my::basic_string<char>::clear()" },
    { 99, "f(" MT32("unsigned long", "ul") "&)", "f(std::mt19937&)" },
    { 99, "f(" MT32("unsigned int", "") "&)", "f(std::mt19937&)" },
    { 99, "f(std::__1::" MT64 "&)", "f(std::mt19937_64&)" },
    // Another engine differs in its last number.
    { 199, "f(std::mersenne_twister_engine<int,32,624,397,31,2567483615,11,4294967295,7,2636928640,"
           "15,4022730752,18,1812433254>)",
      "f(std::mersenne_twister_engine<int,32,624,397,31,2567483615,11,4294967295,7,2636928640,"
      "15,4022730752,18,1812433254>)" },
    // "<locals>" in Python's names of nested functions is kept.
    { 20, "make.<locals>.<listcomp>", "make.<locals>.<list…" },
    { 99, "my::std::allocator<int>::f()", "my::std::allocator<int>::f()" },
    { 99, "f(int) [clone .isra.0] [clone .cold]", "f(int)" },
    { 99, "name[abi:cxx11]()", "name()" },
    { 99, "name[abi:[abi:cxx11]()", "name[abi:()" },
    { 99, "alloc::vec::Vec<u8,alloc::alloc::Global>::push", "alloc::vec::Vec<u8>::push" },
    { 99, "core::ptr::drop_in_place::h0123456789abcdef", "core::ptr::drop_in_place" },
    { 99, "core::ptr::h0123456789abcdefg", "core::ptr::h0123456789abcdefg" },
    // Parameters are removed first, from the inside out.
    { 30, "work(std::function<void (int, char)>, long)", "work(…)" },
    { 38, "work(std::function<void (int, char)>, long)",
      "work(std::function<void (…)>, long)" },
    { 20, "work(std::function<void (int, char)>, long)", "work(…)" },
    { 20, "ns::Table<int, long, char>::f(int)", "ns::Table<…>::f(…)" },
    { 27, "a::B<C<D, E>, F<G> >::run(int)", "a::B<C<D, E>, F<G>>::run(…)" },
    { 25, "a::B<C<D, E>, F<G> >::run(int)", "a::B<C<…>, F<G>>::run(…)" },
    { 18, "a::B<C<D, E>, F<G> >::run(int)", "a::B<…>::run(…)" },
    { 40, "f()", "f()" },
    // The return type of a template is removed first.
    { 30, "unsigned long zoo::feed<long>(zoo::Cage<long> const&)", "zoo::feed<long>(…)" },
    { 70, "unsigned long zoo::feed<long>(zoo::Cage<long> const&)",
      "unsigned long zoo::feed<long>(zoo::Cage<long> const&)" },
    { 28, "non-virtual thunk to Foo<int>::bar(Something)", "non-virtual thunk to Foo<…>…" },
    // Operators and the anonymous namespace are not taken for brackets.
    { 99, "operator<<(std::ostream&, A const&)", "operator<<(std::ostream&, A const&)" },
    { 16, "operator<<(std::ostream&, A const&)", "operator<<(…)" },
    { 16, "operator<(Alpha const&, Beta const&)", "operator<(…)" },
    { 22, "bool operator< <int, long>(A<int>&, A<long>&)", "operator< <…>(…)" },
    { 24, "Compare::operator()(Alpha const&, Beta const&) const", "Compare::operator()(…) …" },
    { 30, "Compare::operator()(Alpha const&, Beta const&) const",
      "Compare::operator()(…) const" },
    { 20, "Pointer<Something>::operator->() const", "Pointer<…>::operato…" },
    { 33, "Pointer<SomethingLong>::operator->() const", "Pointer<…>::operator->() const" },
    { 40, "(anonymous namespace)::Box::grow(int, long)",
      "(anonymous namespace)::Box::grow(…)" },
    { 12, "operator new(unsigned long)", "operator ne…" },
    { 16, "operator new(unsigned long)", "operator new(…)" },
    { 20, "f<(Kind)3, (1>0)>(int, int, int, int)", "f<(Kind)3, (1>0)>(…)" },
    { 24, "<T as core::fmt::Debug>::fmt", "<…>::fmt" },
    { 30, "run(int)::{lambda(Aaaaaaa, Bbbb)#1}::operator()() const",
      "run::{lambda(…)#1}::operator()" },
    // The number of a lambda outlasts parameters and scopes around it.
    { 33, "run(int)::{lambda(Aaaaaaa, Bbbb)#1}::operator()() const",
      "run(…)::{lambda(…)#1}::operator()" },
    { 40, "a::b::foo(int) const::{lambda(int)#2}::operator()(int) const",
      "a::b::foo::{lambda(…)#2}::operator()" },
    { 35, "a::b::foo(int) const::{lambda(int)#2}::operator()(int) const",
      "…::foo::{lambda(…)#2}::operator()" },
    { 30, "a::b::foo(int) const::{lambda(int)#2}::operator()(int) const",
      "…::{lambda(…)#2}::operator()" },
    { 27, "a::b::foo(int) const::{lambda(int)#2}::operator()(int) const",
      "{lambda(…)#2}::operator()" },
    { 22, "a::b::foo(int) const::{lambda(int)#2}::operator()(int) const",
      "{lambda#2}::operator()" },
    { 12, "a::b::foo(int) const::{lambda(int)#2}::operator()(int) const", "{lambda#2}:…" },
    { 11, "a::b::foo(int) const::{lambda(int)#2}::operator()(int) const", "{lambda#2}…" },
    { 8, "a::b::foo(int) const::{lambda(int)#2}::operator()(int) const", "{lambda…" },
    { 16, "main::{lambda#1}", "main::{lambda#1}" },
    { 15, "main::{lambda#1}", "…::{lambda#1}" },
    { 12, "main::{lambda#1}", "{lambda#1}" },
    { 45, "f()::{lambda()#1}::operator()() const::{lambda(int)#3}::operator()(int) const",
      "…::operator()::{lambda(…)#3}::operator()" },
    { 24, "core::iter::adapters::map::{closure#0}", "…::map::{closure#0}" },
    { 30, "std::function<void (long)>::f::{lambda()#1}::call", "…::f::{lambda()#1}::call" },
    // The last resort, and unusual input.
    { 5, "a_long_name", "a_lo…" },
    { 1, "a_long_name", "…" },
    { 0, "a_long_name", "" },
    { 9, "unbalanced<<<((>", "unbalanc…" },
    { 99, "bad\xff\x1b[0m", "bad??[0m" },
    { 4, "größer", "grö…" },
};

/* If this fails, C++ names fill the screen or are cut so that they cannot be recognised. */
static void
long_names_are_cut_where_it_hurts_least(void **state)
{
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < countof(shorten_cases); i++) {
        const char *got = symbol_shorten(&arena, shorten_cases[i].name, shorten_cases[i].width);

        if (strcmp(got, shorten_cases[i].wanted) != 0)
            fail_msg("\"%s\" in %zu: \"%s\", not \"%s\"", shorten_cases[i].name,
                     shorten_cases[i].width, got, shorten_cases[i].wanted);
    }
    arena_release(&arena);
}

/* If this fails, a hostile name occupies the report for seconds. */
static void
unclosed_remarks_cost_no_more_than_their_length(void **state)
{
    enum { REMARKS = 400 * 1000 };
    static const char remark[] = "[abi:";
    const size_t length = sizeof remark - 1;
    struct arena arena = {0};
    char *name = arena_alloc(&arena, REMARKS * length + 1);
    clock_t start;

    (void)state;
    for (size_t i = 0; i < REMARKS; i++)
        memcpy(name + i * length, remark, length + 1);
    start = clock();
    assert_string_equal(symbol_shorten(&arena, name, 6), "[abi:…");
    assert_true(clock() - start < 3 * CLOCKS_PER_SEC); // Quadratic: half a minute.
    arena_release(&arena);
}

/* If this fails, a template's row begins with its return type, and its name does not fit. */
static void
return_types_of_templates_are_removed(void **state)
{
    static const struct {
        const char *name, *wanted;
    } cases[] = {
        {"void* make<int>(int)", "make<int>(int)"},
        {"void* (anonymous namespace)::N::anon<int>(int)",
         "(anonymous namespace)::N::anon<int>(int)"},
        {"std::vector<int> const& a::(anonymous namespace)::f<B<C> >(D<E>)",
         "a::(anonymous namespace)::f<B<C> >(D<E>)"},
        {"auto main::{lambda(auto:1)#1}::operator()<int>(int) const",
         "main::{lambda(auto:1)#1}::operator()<int>(int) const"},
        {"unsigned long app::Q::operator()<int>(int)", "app::Q::operator()<int>(int)"},
        {"bool app::operator< <int>(app::Q const&)", "app::operator< <int>(app::Q const&)"},
        {"(anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>(int)"},
        {"plain(int)", "plain(int)"},
        {"non-virtual thunk to A<int>::f<int>(int)", "non-virtual thunk to A<int>::f<int>(int)"},
        {"operator new(unsigned long)", "operator new(unsigned long)"},
        {"main.<locals>.<lambda>", "main.<locals>.<lambda>"},
    };
    struct arena arena = {0};

    (void)state;
    for (size_t i = 0; i < countof(cases); i++)
        assert_string_equal(symbol_without_result(&arena, cases[i].name), cases[i].wanted);
    arena_release(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(return_types_of_templates_are_removed),
        cmocka_unit_test(mangled_names_are_demangled),
        cmocka_unit_test(unclosed_remarks_cost_no_more_than_their_length),
        cmocka_unit_test(long_names_are_cut_where_it_hurts_least),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
