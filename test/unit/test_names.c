/* test_names.c: names for readers: demangled, and shortened to fit into a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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
    { 12, "<Type as Trait<U>>::f", "<…>::f" },
    // Noise is removed at any width.
    { 80, STRING "::_M_create(unsigned long&, unsigned long)",
      "std::string::_M_create(unsigned long&, unsigned long)" },
    { 80, "std::vector<int, std::allocator<int> >::push_back(int const&)",
      "std::vector<int>::push_back(int const&)" },
    { 99, "std::vector<" STRING ", std::allocator<" STRING " > >::reserve(unsigned long)",
      "std::vector<std::string>::reserve(unsigned long)" },
    { 99, "std::map<int, A, std::less<int>, std::allocator<std::pair<int, A> > >::at(int)",
      "std::map<int, A>::at(int)" },
    { 99, "std::unordered_set<K, std::hash<K>, std::equal_to<K>, std::allocator<K> >::clear()",
      "std::unordered_set<K>::clear()" },
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
    // "<locals>" in Python's names of nested functions is kept.
    { 20, "make.<locals>.<listcomp>", "make.<locals>.<list…" },
    { 99, "my::std::allocator<int>::f()", "my::std::allocator<int>::f()" },
    { 99, "f(int) [clone .isra.0] [clone .cold]", "f(int)" },
    { 99, "name[abi:cxx11]()", "name()" },
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
      "run(…)::{lambda(…)#1}::operat…" },
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
        cmocka_unit_test(long_names_are_cut_where_it_hurts_least),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
