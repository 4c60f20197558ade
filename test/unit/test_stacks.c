/* test_stacks.c: sites turned into stacks: expanding, merging, filtering and folding, and the
 * tree. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/callgraph.h"
#include "analyse/fold.h"
#include "analyse/stacks.h"
#include "build_profile.h"
#include "wrapper/wrapper_name.h"

static struct arena arena;

static struct stacks
test_stacks_build(const struct profile *p, struct stacks_options options)
{
    struct stacks s;
    struct err err;

    assert_int_equal(stacks_build(p, &options, &arena, &s, &err), 0);
    return s;
}

static const char *
function_at(const struct profile *p, const struct stack *s, uint32_t i)
{
    return profile_string(p, p->frames[s->frames[i]].function);
}

/* If this fails, a stack that allocates two sizes is shown as two sites. */
static void
size_classes_are_one_stack(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(2, 32, 0, 0), "f@a.c:1", "main@a.c:9", NULL);
    build_site(p, build_counters(1, 5000, 1, 5000), "f@a.c:1", "main@a.c:9", NULL);
    s = test_stacks_build(p, (struct stacks_options){0});
    assert_int_equal(s.count, 1);
    assert_int_equal(s.v[0].counters.allocations, 3);
    assert_int_equal(s.v[0].counters.allocated_bytes, 5032);
    assert_int_equal(s.v[0].counters.size_min, 16);
    assert_int_equal(s.v[0].counters.size_max, 5000);
    assert_int_equal(s.total.frees, 1);
    profile_free(p);
}

/* If this fails, inlined functions are missing or in the wrong order. */
static void
inlined_frames_are_expanded(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "+in@a.h:1", "out@a.c:2", "main@a.c:3", NULL);
    s = test_stacks_build(p, (struct stacks_options){0});
    assert_int_equal(s.v[0].depth, 3);
    assert_string_equal(function_at(p, &s.v[0], 0), "in");
    assert_string_equal(function_at(p, &s.v[0], 1), "out");
    assert_int_equal(s.v[0].locations[0], s.v[0].locations[1]);
    assert_int_not_equal(s.v[0].locations[1], s.v[0].locations[2]);
    profile_free(p);
}

/* If this fails, operator new and xmalloc head every list, or stacks that are equal after folding
 * are not merged. */
static void
wrappers_are_charged_to_their_caller(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "operator new(unsigned long)", "f@a.c:1", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "strdup", "xstrdup@x.c:1", "f@a.c:1", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "xmalloc@x.c:1", "xcalloc@x.c:2", NULL);
    s = test_stacks_build(p, (struct stacks_options){0});
    assert_int_equal(s.count, 2);
    assert_string_equal(function_at(p, &s.v[0], 0), "f");
    assert_int_equal(s.v[0].counters.allocations, 2);
    assert_int_equal(s.v[1].depth, 1);
    assert_string_equal(function_at(p, &s.v[1], 0), "xcalloc");
    assert_int_equal(s.site_stacks[1], 1);
    s = test_stacks_build(p, (struct stacks_options){.no_fold = true});
    assert_int_equal(s.count, 3);
    profile_free(p);
}

/* If this fails, folding removes frames in the middle of a stack. */
static void
only_innermost_wrappers_fold(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "hook@h.c:1", "xmalloc@x.c:1", "f@a.c:1", NULL);
    s = test_stacks_build(p, (struct stacks_options){0});
    assert_int_equal(s.v[0].depth, 3);
    s = test_stacks_build(p, (struct stacks_options){.fold = "^hook$"});
    assert_int_equal(s.v[0].depth, 1);
    s = test_stacks_build(p, (struct stacks_options){.fold = "^hook$", .no_fold = true});
    assert_int_equal(s.v[0].depth, 2);
    profile_free(p);
}

/* If this fails, --filter misses functions, files, modules or folded frames, or keeps too much. */
static void
a_filter_looks_at_all_frames(void **state)
{
    struct profile *p = build_profile_new();

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "xmalloc@x.c:1", "f@dir/a.c:1", NULL);
    build_site(p, build_counters(1, 16, 0, 0), "g!/lib/libz.so.1", "main@a.c:7", NULL);
    build_site(p, build_counters(1, 32, 0, 0), NULL);
    assert_int_equal(test_stacks_build(p, (struct stacks_options){.filter = "xmal+oc"}).count, 1);
    assert_int_equal(
        test_stacks_build(p, (struct stacks_options){.filter = "dir/"}).total.allocated_bytes, 8);
    assert_int_equal(
        test_stacks_build(p, (struct stacks_options){.filter = "libz"}).total.allocated_bytes, 16);
    assert_int_equal(test_stacks_build(p, (struct stacks_options){.filter = "nothing"}).count, 0);
    assert_int_equal(test_stacks_build(p, (struct stacks_options){.filter = "."}).count, 2);
    assert_true(test_stacks_build(p, (struct stacks_options){.filter = "dir/"}).filter_matched);
    assert_false(test_stacks_build(p, (struct stacks_options){.filter = "nothing"}).filter_matched);
    assert_int_equal(test_stacks_build(p, (struct stacks_options){.filter = "nothing"}).recorded,
                     3);
    assert_int_equal(test_stacks_build(p, (struct stacks_options){0}).count, 3);
    profile_free(p);

    p = build_profile_new();
    build_site(p, build_counters(1, 8, 0, 0), "@a.c:1", "@a.c:2", "main@a.c:5", NULL);
    assert_int_equal(
        test_stacks_build(p, (struct stacks_options){.fold_recursion = true}).v[0].depth, 3);
    for (size_t i = 0; i < p->location_count; i++)
        p->locations[i].function_start = 64; // The two calls are in one function without a name.
    assert_int_equal(
        test_stacks_build(p, (struct stacks_options){.fold_recursion = true}).v[0].depth, 2);
    profile_free(p);
}

/* If this fails, a short --filter takes all memory: regcomp expands repetitions. */
static void
a_filter_that_repeats_too_much_is_refused(void **state)
{
    static const struct {
        const char *pattern;
        int status;
    } cases[] = {
        {"((a{1,255}){1,255}){1,255}", HEAPTAP_USAGE},
        {"((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)", HEAPTAP_USAGE},
        {"(a|b){2048}", HEAPTAP_USAGE},
        {"a{18446744073709551615}", HEAPTAP_USAGE},
        {"a{30}{30}{30}", HEAPTAP_USAGE},
        {"a{2,}{2000}", HEAPTAP_USAGE},
        {"[[:alpha:]{9}]{4000}", 0}, // This is one set, repeated.
        {"[]{9,9}]\\{4000}", 0},
        {"xmal+oc|make(_a)?_c{1,20}", 0},
    };
    struct profile *p = build_profile_new();

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "xmalloc@x.c:1", "f@a.c:1", NULL);
    for (size_t i = 0; i < countof(cases); i++) {
        struct stacks_options filter = {.filter = cases[i].pattern};
        struct stacks_options fold = {.fold = cases[i].pattern};
        struct err err = {""};
        struct stacks s;

        assert_int_equal(stacks_build(p, &filter, &arena, &s, &err), cases[i].status);
        assert_int_equal(strstr(err.text, "--filter: ") != NULL, cases[i].status != 0);
        assert_int_equal(stacks_build(p, &fold, &arena, &s, &err), cases[i].status);
    }
    profile_free(p);
}

/* If this fails, a mistyped --filter is taken for a broken profile or ignored. */
static void
a_bad_regex_is_a_usage_error(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks_options options = {.filter = "a", .fold = "("};
    struct stacks s;
    struct err err;

    (void)state;
    assert_int_equal(stacks_build(p, &options, &arena, &s, &err), HEAPTAP_USAGE);
    assert_non_null(strstr(err.text, "--fold"));
    profile_free(p);
}

/* If this fails, all addresses of a stripped library are treated as one place. */
static void
unnamed_frames_stay_apart(void **state)
{
    struct profile *p = build_profile_new();

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "!/lib/a.so", "f@a.c:1", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "!/lib/b.so", "f@a.c:1", NULL);
    assert_int_equal(test_stacks_build(p, (struct stacks_options){0}).count, 2);
    profile_free(p);
}

/* If this fails, wrappers are not recognised if C++ or Rust decorates their names. */
static void
plain_names_lose_their_decoration(void **state)
{
    static const char *const names[][2] = {
        {"operator new(unsigned long)", "operator new"},
        {"operator new[](unsigned long, std::nothrow_t const&)", "operator new[]"},
        {"std::_Vector_base<int, std::allocator<int> >::_M_allocate(unsigned long)",
         "std::_Vector_base::_M_allocate"},
        {"void std::vector<A<(B)1> >::f<int>(int&&)", "std::vector::f"},
        {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<<"},
        {"(anonymous namespace)::pool::pool()", "(anonymous namespace)::pool::pool"},
        {"node::Buffer::(anonymous namespace)::Make(int)",
         "node::Buffer::(anonymous namespace)::Make"},
        {"void* (anonymous namespace)::N::make<int>(int)", "(anonymous namespace)::N::make"},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
        {"f() const::{lambda()#1}::operator()() const", "f::{lambda()#1}::operator()"},
        {"C::f(int) const volatile &&::local::g() const &", "C::f::local::g"},
        {"C::f() const", "C::f"},
        {"C::f() constant", "C::f"},
        {"auto run(int)::{lambda(auto:1, char)#2}::operator()<int>(int, char) const",
         "run::{lambda(auto:1, char)#2}::operator()"},
        {"main::$_0::operator()(int) const", "main::$_0::operator()"},
        {"zoo::{unnamed type#1}::feed()", "zoo::{unnamed type#1}::feed"},
        {"alloc::vec::f::{{closure}}", "alloc::vec::f::{{closure}}"},
        {"<alloc::vec::Vec<T> as core::clone::Clone>::clone",
         "<alloc::vec::Vec<T> as core::clone::Clone>::clone"},
        {"make.<locals>.<listcomp>", "make.<locals>.<listcomp>"},
        {"plain", "plain"},
        {"", ""},
        {"broken<", "broken"},
    };
    char name[FOLD_NAME_MAX];

    (void)state;
    for (size_t i = 0; i < countof(names); i++) {
        fold_plain_name(names[i][0], name);
        assert_string_equal(name, names[i][1]);
    }
}

/* Check that IS_WRAPPER holds for the YES_COUNT names YES and for none of the NO_COUNT names NO. */
static void
check_wrappers(bool (*is_wrapper)(const char *name), const char *const *yes, size_t yes_count,
               const char *const *no, size_t no_count)
{
    for (size_t i = 0; i < yes_count; i++)
        if (!is_wrapper(yes[i]))
            fail_msg("%s is a wrapper", yes[i]);
    for (size_t i = 0; i < no_count; i++)
        if (is_wrapper(no[i]))
            fail_msg("%s is no wrapper", no[i]);
}

/* If this fails, a family of wrappers is no longer folded, or too much is. */
static void
wrappers_are_known_by_name(void **state)
{
    static const char *const yes[] = {
        "malloc",
        "g_malloc0_n",
        "operator new(unsigned long, std::align_val_t)",
        "std::__new_allocator<int>::allocate(unsigned long, void const*)",
        "std::allocator_traits<std::allocator<int> >::allocate(std::allocator<int>&)",
        "std::shared_ptr<A> std::make_shared<A, int>(int&&)",
        "alloc::raw_vec::RawVec<T,A>::allocate_in",
        "__rust_alloc",
        "__GI___strdup",
        "void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int*, int&&)",
        "std::vector<int>::push_back(int&&)",
        "zmalloc",
        "ztrymalloc_usable_internal",
        "zcalloc_num",
        "git__strndup",
        "ggc_internal_cleared_alloc(unsigned long, void (*)(void*), unsigned long)",
        "_PyMem_RawMalloc",
        "xreallocarray",
        "CRYPTO_zalloc",
        "OPENSSL_malloc",
        "av_mallocz",
        "PyObject_Malloc",
        "PyMem_Malloc",
        "_PyObject_Malloc",
        "pymalloc_alloc",
        "_PyObject_GC_Alloc",
        "_PyMem_RawWcsdup",
        "mem_malloc",
        "obj_realloc", "uv__malloc",
        "safe_realloc",
        "je_malloc",
    };
    static const char *const no[] = {"main",
                                     "malloc_stats_print",
                                     "mystd::vector<int>::push_back(int&&)",
                                     "malloc_trim_pages",
                                     "shopmalloc",
                                     "node_alloc",
                                     "internal_alloc",
                                     "Malloc::Malloc(int)",
                                     "strdup_all",
                                     "strdup_all_names",
                                     "operator new_thing",
                                     "xmalloc_init",
                                     "dump_raw_all",
                                     "tree_size_a",
                                     "app::realloc_buffers",
                                     "mem_alloc_init",
                                     "matrix_calloc",
                                     "gsl_matrix_calloc",
                                     "PyUnicode_New",
                                     "PyList_New",
                                     "obj_malloc_init",
                                     "table_realloc",
                                     "imageMalloc",
                                     "array_calloc",
                                     "std2::vector<int>::push_back(int&&)",
                                     ""};

    (void)state;
    check_wrappers(fold_is_wrapper, yes, countof(yes), no, countof(no));
}

/* If this fails, tables name functions of a library instead of the code that called it, or leave
 * out functions of a program with similar names. */
static void
wrappers_of_libraries_are_known_by_name(void **state)
{
    static const char *const yes[] = {
        "alloc::raw_vec::finish_grow",
        "alloc::alloc::exchange_malloc",
        "__rdl_alloc_zeroed",
        "__rustc::__rust_alloc",
        "alloc::vec::Vec<T,A>::push",
        "<alloc::vec::Vec<u64>>::push",
        "<alloc::vec::Vec<shop::Item> as core::clone::Clone>::clone",
        "<&mut alloc::vec::Vec<u8> as std::io::Write>::write",
        "<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem::<alloc::alloc::Global>",
        "<shop::Item as alloc::string::ToString>::to_string",
        "<i32 as core::fmt::Display>::fmt",
        "<[u8]>::to_vec",
        "<u64 as <[_]>::to_vec_in::ConvertVec>::to_vec::<alloc::alloc::Global>",
        "<hashbrown::raw::RawTable<(u64, shop::Item)>>::reserve_rehash::<shop::hash>",
        "hashbrown::raw::RawTable<T,A>::new_uninitialized",
        "core::iter::traits::iterator::Iterator::collect",
        "llvm::allocate_buffer(unsigned long, unsigned long)",
        "llvm::safe_malloc(unsigned long)",
        "llvm::BumpPtrAllocatorImpl<llvm::MallocAllocator, 4096ul>::StartNewSlab()",
        "llvm::SmallVectorBase<unsigned int>::grow_pod(void*, unsigned long, unsigned long)",
        "QArrayData::allocate(QArrayData**, long long, long long, long long)",
        "QArrayData::reallocateUnaligned(QArrayData*, void*, long long)",
        "QListData::detach_grow(int*, int)",
        "qMallocAligned(unsigned long, unsigned long)",
        "void* absl::lts_20220623::container_internal::Allocate<8ul, A>(A*, unsigned long)",
        "absl::container_internal::Allocate",
        "folly::checkedMalloc(unsigned long)",
        "folly::fbvector<int>::push_back(int const&)",
        "<alloc::alloc::Global as core::alloc::Allocator>::allocate",
    };
    static const char *const no[] = {
        "<shop::Item as core::clone::Clone>::clone",
        "<shop::Items as core::iter::Iterator>::next",
        "<shop::Item>::new",
        "<shop::Item as shop::Make>::make::<alloc::vec::Vec<u8>>",
        "alloc::Arena::take",
        "core::Engine::run",
        "llvm::Module::create",
        "llvm::allocate_buffers",
        "QString::append",
        "absl::StrCat",
        "absl::lts_20220623",
        "folly::dynamic::array",
    };

    (void)state;
    check_wrappers(fold_is_wrapper, yes, countof(yes), no, countof(no));
}

/* If this fails, reports of PHP, Ruby, GCC and LLVM name their allocators instead of the functions
 * that requested the memory. */
static void
wrappers_of_runtimes_and_compilers_are_known_by_name(void **state)
{
    static const char *const yes[] = {
        "llvm::User::operator new(unsigned long, unsigned int)",
        "shop::Item::operator new[](unsigned long)",
        "_emalloc_large",
        "_safe_emalloc",
        "__zend_malloc",
        "zend_hash_real_init_mixed",
        "ruby_xmalloc2",
        "ruby_sized_xrealloc2",
        "objspace_xmalloc0",
        "xmalloc",
        "_obstack_begin",
        "_obstack_newchunk",
        "ggc_internal_alloc(unsigned long, void (*)(void*), unsigned long, unsigned long)",
        "ggc_alloc_string(char const*, int)",
        "void va_heap::reserve<int>(vec<int, va_heap, vl_embed>*&, unsigned int, bool)",
        "vec<tree_node*, va_heap, vl_ptr>::safe_grow_cleared(unsigned int, bool)",
        "hash_table<int_hash, false, xcallocator>::expand()",
    };
    static const char *const no[] = {
        "shop::Item::operator delete(void*)",
        "shop::operator newest",
        "shop::operator new::make",
        "zend_objects_new",
        "zend_hash_add_new",
        "ruby_init",
        "obstack_printf",
        "make_node(tree_code)",
        "vec3::reserve(unsigned long)",
        "hash_table<int>::insert(int)",
    };

    (void)state;
    check_wrappers(fold_is_wrapper, yes, countof(yes), no, countof(no));
}

/* If this fails, a site of --callers ends inside a library's allocation function, or outside of the
 * code that allocates. */
static void
wrappers_are_known_by_symbol(void **state)
{
    static const char *const yes[] = {
        "malloc",
        "xmalloc.part.0",
        "_Znwm",
        "_ZNSt6vectorIiSaIiEE9push_backERKi",
        "_ZN9__gnu_cxx13new_allocatorIiE8allocateEmPKv",
        "_Z7xmallocm",
        "_ZN5alloc5alloc15exchange_malloc17h0123456789abcdefE",
        "_ZN5alloc7raw_vec11finish_grow17h0123456789abcdefE",
        "_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE",
        "_ZN3std4sync4once4Once4call17h0123456789abcdefE",
        "_ZN67_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..clone..Clone$GT$5clone17h0E",
        "_ZN62_$LT$u8$u20$as$u20$alloc..vec..spec_from_elem..SpecFromElem$GT$9from_elem17h0E",
        "_ZN52_$LT$$RF$mut$u20$alloc..vec..Vec$LT$u8$GT$$GT$$u20$5writeE",
        "_ZN9hashbrown3raw21RawTable$LT$T$C$A$GT$14reserve_rehash17h0123456789abcdefE",
        "_RNvNtCslNYArtu3iFV_5alloc5alloc5alloc",
        "_RNvNtCs_5alloc5alloc5alloc",
        "_RNvMs1_NtCsgvbsrvnw3yD_9hashbrown3mapINtB5_7HashMapyyE6insertCs6x_1a",
        "_RINvMNtC5alloc3vecINtB2_3VechE4pushE",
        "_RNvXs_NtC5alloc3vecINtB4_3VechENtNtC4core5clone5Clone5clone",
        "_RNvCsdBezzDwma51_7___rustc12___rust_alloc",
        "_RINvYINtNtC4core3ops5RangelENtNtC4core4iter8Iterator7collectE",
        "_ZN4llvm15allocate_bufferEmm",
        "_ZN4llvm20BumpPtrAllocatorImplINS_15MallocAllocatorELm4096ELm4096ELm128EE12StartNewSlabEv",
        "_ZN4llvm15SmallVectorBaseIjE8grow_podEPvmm",
        "_ZN10QArrayData8allocateEPPS_xxxNS_16AllocationOptionE",
        "_Z14qMallocAlignedmm",
        "_ZN4absl12lts_2022062318container_internal8AllocateILm8ESaIcEEEPvPT0_m",
        "_ZN5folly13checkedMallocEm",
        "_ZN4llvm4UsernwEmj",
        "_ZN4ItemnaEm",
        "_Z18ggc_internal_allocmPFvPvEmm",
        "_obstack_newchunk",
        "ruby_xmalloc2",
        "_emalloc_56",
    };
    static const char *const no[] = {
        "main",
        "_Z4mainv",
        "_ZN5alloc5Arena4takeEv",
        "_ZN4core6Engine3runEv",
        "_ZN56_$LT$shop..Item$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE",
        "_RNvCs6xxl1lAjzDf_4shop4make",
        "_RNvMCs6xxl1lAjzDf_4shopNtB2_4Item3new",
        "_RNvXCs6xxl1lAjzDf_4shopNtB2_4ItemNtNtC4core5clone5Clone5clone",
        "_RINvCs6xxl1lAjzDf_4shop4makeINtNtC5alloc3vec3VechEE",
        "_ZN4llvm16allocate_buffersEmm",
        "_ZN4llvm6Module6createEv",
        "_ZN7QString6appendERKS_",
        "_ZN4absl6StrCatEv",
        "_ZN4llvm4UserdlEPv",
        "_ZN4llvm4User2nwEm",
        "_Z",
        "_ZN",
        "_ZN5al",
        "_ZN9999999999999999999999alloc",
        "_R",
        "_RN",
        "_RNv",
        "_RNvC",
        "_RNvCs",
        "_RNvC5allo",
        "",
    };

    (void)state;
    check_wrappers(wrapper_symbol_is, yes, countof(yes), no, countof(no));
}

/* If this fails, reports of a Python with symbols name its allocator instead of the code that
 * requested the memory. */
static void
the_allocators_of_python_are_folded(void **state)
{
    static const char *const ends[][3] = {
        {"obj_malloc@python_memory.c:1!/lib/libheaptap-python.so", "_PyMem_RawMalloc@obmalloc.c:1",
         "gc_alloc@gcmodule.c:1"},
        {"mem_calloc@python_memory.c:1!/lib/libheaptap-python.so", "+pymalloc_alloc@obmalloc.c:2",
         "_PyObject_Malloc@obmalloc.c:2"},
        {"obj_realloc@python_memory.c:1!/lib/libheaptap-python.so", "PyObject_Malloc@obmalloc.c:3",
         "_PyObject_GC_New@gcmodule.c:2"},
        {"PyMem_Calloc@obmalloc.c:4", "arena_map_get@obmalloc.c:4",
         "allocate_from_new_pool@obmalloc.c:5"},
        {"PyMem_Malloc@obmalloc.c:4", "_PyType_AllocNoTrack@typeobject.c:1",
         "PyType_GenericAlloc@typeobject.c:2"},
    };

    (void)state;
    for (size_t i = 0; i < countof(ends); i++) {
        struct profile *p = build_profile_new();
        struct stacks stacks;

        build_site(p, build_counters(1, 8, 0, 0), ends[i][0], ends[i][1], ends[i][2],
                   "PyList_New@listobject.c:1", "main@a.c:1", NULL);
        stacks = test_stacks_build(p, (struct stacks_options){0});
        assert_int_equal(stacks.count, 1);
        assert_int_equal(stacks.v[0].depth, 2);
        assert_string_equal(profile_string(p, p->frames[stacks.v[0].frames[0]].function),
                            "PyList_New");
        profile_free(p);
    }
}

/* If this fails, --fold '^app::' misses templates, whose names begin with the return type. */
static void
fold_matches_behind_the_return_type(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "void app::grow<int>(int&&)@a.c:1", "main@a.c:2",
               NULL);
    s = test_stacks_build(p, (struct stacks_options){.fold = "^app::grow$"});
    assert_string_equal(function_at(p, &s.v[0], 0), "main");
    s = test_stacks_build(p, (struct stacks_options){.fold = "^void app::grow<int>"});
    assert_string_equal(function_at(p, &s.v[0], 0), "main");
    profile_free(p);
}

/* If this fails, recursion gets a row for each depth, or functions vanish that do not recur. */
static void
recursion_folds_to_one_stack(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "leaf@a.c:9", "f@a.c:1", "main@a.c:5", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "leaf@a.c:9", "f@a.c:1", "f@a.c:2", "f@a.c:3",
               "main@a.c:5", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "leaf@a.c:9", "f@a.c:1", "g@a.c:4", "f@a.c:2",
               "g@a.c:4", "f@a.c:2", "main@a.c:5", NULL);
    s = test_stacks_build(p, (struct stacks_options){.fold_recursion = true});
    assert_int_equal(s.count, 2);
    assert_int_equal(s.v[0].counters.allocations, 2);
    assert_int_equal(s.v[0].depth, 3);
    assert_int_equal(p->frames[s.v[0].frames[1]].line, 1);
    assert_int_equal(s.v[1].depth, 5);
    assert_string_equal(function_at(p, &s.v[1], 2), "g");
    assert_string_equal(function_at(p, &s.v[1], 4), "main");
    assert_int_equal(test_stacks_build(p, (struct stacks_options){0}).count, 3);
    profile_free(p);
}

/* If this fails, "number three" of one view is another stack in the next. */
static void
numbers_belong_to_the_profile(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 100, 0, 0), "small@a.c:1", "main@a.c:5", NULL);
    build_site(p, build_counters(9, 9000, 9, 9000), "churn@a.c:2", "main@a.c:5", NULL);
    build_site(p, build_counters(3, 300, 0, 0), "malloc@a.c:2", "large@a.c:3", "main@a.c:5", NULL);
    s = test_stacks_build(p, (struct stacks_options){.merge_labels = true});
    stack_numbers(p, &s);
    assert_int_equal(s.v[0].number, 3); // This stack holds a quarter of the peak.
    assert_int_equal(s.v[1].number, 1); // This stack allocated nearly everything.
    assert_int_equal(s.v[2].number, 2);
    s = test_stacks_build(p, (struct stacks_options){.no_fold = true, .filter = "large"});
    stack_numbers(p, &s);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.v[0].number, 2);
    s = test_stacks_build(p, (struct stacks_options){.fold = "small|churn"});
    stack_numbers(p, &s);
    // After folding, main is the innermost frame of both stacks.
    assert_int_equal(s.v[0].number, 1);
    profile_free(p);
}

/* If this fails, a stripped library's allocations are charged to an address within its malloc. */
static void
unsymbolized_parts_of_wrappers_fold(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "!/lib/a.so", "zmalloc!/lib/a.so", "f@a.c:1", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "!/lib/b.so", "zmalloc!/lib/a.so", "g@a.c:1", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "!/lib/a.so", "h!/lib/a.so", NULL);
    s = test_stacks_build(p, (struct stacks_options){0});
    assert_string_equal(function_at(p, &s.v[0], 0), "f");
    assert_string_equal(function_at(p, &s.v[1], 0), "");
    assert_string_equal(function_at(p, &s.v[2], 0), "");
    s = test_stacks_build(p, (struct stacks_options){.no_fold = true});
    assert_int_equal(s.v[0].depth, 3);
    profile_free(p);
}

/* If this fails, --filter and --fold do not accept the names that the report of a stripped program
 * shows. */
static void
unsymbolized_functions_match_by_what_is_shown(void **state)
{
    static const struct {
        const char *pattern;
        size_t count;
    } filters[] = {
        {"^prog\\+0x1f00\xe2\x80\xa6$", 2},
        {"^prog\\+0x1f00$", 2},
        {"^prog\\+0x1f0$", 0},
        {"^x.so\\+0x2fff$", 1},
        {"0x1f", 2},
    };
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "!/bin/prog", "f@a.c:1", "main@a.c:2", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "g@a.c:3", "!/bin/prog", "main@a.c:2", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "h@a.c:4", "!/lib/x.so", "main@a.c:2", NULL);
    for (size_t i = 1; i < p->location_count; i++) {
        struct profile_location *l = &p->locations[i];
        const char *path = p->modules[l->module].path;

        if (p->frames[l->first_frame].function != 0)
            continue;
        if (strcmp(path, "/bin/prog") == 0)
            l->function_start = p->modules[l->module].bias + 0x1f00;
        else
            l->address = p->modules[l->module].bias + 0x3000;
    }
    for (size_t i = 0; i < countof(filters); i++) {
        s = test_stacks_build(p, (struct stacks_options){.filter = filters[i].pattern});
        if (s.count != filters[i].count)
            fail_msg("'%s' keeps %zu stacks", filters[i].pattern, s.count);
    }
    s = test_stacks_build(p, (struct stacks_options){.fold = "^prog\\+0x1f00"});
    assert_string_equal(function_at(p, &s.v[0], 0), "f");
    assert_string_equal(function_at(p, &s.v[1], 0), "g");
    profile_free(p);
}

/* If this fails, every stack ends in the C library's start-up code, or some stack is shown
 * empty. */
static void
start_up_code_is_not_shown(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 8, 0, 0), "f@a.c:1", "main@a.c:2", "!/lib/libc.so.6", "_start",
               NULL);
    build_site(p, build_counters(1, 8, 0, 0), "_start", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "f@a.c:1", "!stripped", "__libc_start_main_impl",
               "!stripped", NULL);
    build_site(p, build_counters(1, 8, 0, 0), "work@a.c:3", "start_thread!/lib/libc.so.6",
               "__GI___clone3!/lib/libc.so.6", NULL);
    s = test_stacks_build(p, (struct stacks_options){0});
    assert_int_equal(stack_useful_depth(p, &s.v[0]), 2);
    assert_int_equal(stack_useful_depth(p, &s.v[1]), 1);
    assert_int_equal(stack_useful_depth(p, &s.v[2]), 2);
    assert_int_equal(stack_useful_depth(p, &s.v[3]), 1);
    profile_free(p);
}

/* If this fails, a tree's inclusive and self numbers or the order of children are wrong. */
static void
a_tree_adds_up(void **state)
{
    struct profile *p = build_profile_new();
    struct stacks s;
    struct tree t;
    uint32_t main_node, child;

    (void)state;
    build_site(p, build_counters(1, 10, 0, 0), "f@a.c:1", "main@a.c:5", NULL);
    build_site(p, build_counters(1, 30, 0, 0), "g@a.c:2", "main@a.c:6", NULL);
    build_site(p, build_counters(1, 5, 0, 0), "main@a.c:7", NULL);
    s = test_stacks_build(p, (struct stacks_options){0});
    tree_build(p, &s, TREE_TOP_DOWN, METRIC_ALLOC, &arena, &t);
    main_node = t.nodes[0].first_child;
    assert_int_equal(t.nodes[0].inclusive.allocated_bytes, 45);
    assert_int_equal(t.nodes[main_node].inclusive.allocated_bytes, 45);
    assert_int_equal(t.nodes[main_node].self.allocated_bytes, 5);
    assert_int_equal(t.nodes[main_node].next_sibling, 0);
    child = t.nodes[main_node].first_child;
    assert_int_equal(t.nodes[child].inclusive.allocated_bytes, 30);
    assert_int_equal(t.nodes[t.nodes[child].next_sibling].self.allocated_bytes, 10);
    tree_build(p, &s, TREE_BOTTOM_UP, METRIC_ALLOC, &arena, &t);
    assert_int_equal(t.nodes[t.nodes[0].first_child].inclusive.allocated_bytes, 30);
    profile_free(p);
}

/* Return the bytes of T's nodes in pre-order, as text. */
static const char *
bytes_of_tree(const struct tree *t, uint32_t parent)
{
    const char *text = "";

    for (uint32_t c = t->nodes[parent].first_child; c != 0; c = t->nodes[c].next_sibling)
        text = arena_printf(&arena, "%s %" PRId64 "%s", text, t->nodes[c].inclusive.allocated_bytes,
                            bytes_of_tree(t, c));
    return text;
}

/* If this fails, -n and --depth of a tree show rows other than the largest, or a row without its
 * callers. */
static void
a_pruned_tree_keeps_the_largest_rows_and_their_callers(void **state)
{
    static const struct {
        size_t rows, depth;
        const char *left;
    } cases[] = {
        {0, 0, " 50 40 30 10 7 3 3"}, {7, 9, " 50 40 30 10 7 3 3"}, {1, 0, " 50"},
        {3, 0, " 50 40 30"},          {4, 0, " 50 40 30 10"},       {6, 0, " 50 40 30 10 7 3"},
        {0, 1, " 50 3"},              {0, 2, " 50 40 10 3"},        {3, 2, " 50 40 10"},
    };
    struct profile *p = build_profile_new();
    struct stacks s;

    (void)state;
    build_site(p, build_counters(1, 30, 0, 0), "f@a.c:1", "a@a.c:2", "main@a.c:5", NULL);
    build_site(p, build_counters(1, 10, 0, 0), "a@a.c:3", "main@a.c:5", NULL);
    build_site(p, build_counters(1, 7, 0, 0), "g@a.c:2", "b@a.c:3", "main@a.c:6", NULL);
    build_site(p, build_counters(1, 3, 0, 0), "h@a.c:2", "b@a.c:3", "main@a.c:6", NULL);
    build_site(p, build_counters(1, 3, 0, 0), "start@a.c:9", NULL);
    s = test_stacks_build(p, (struct stacks_options){0});
    for (size_t i = 0; i < countof(cases); i++) {
        struct tree t;

        tree_build(p, &s, TREE_TOP_DOWN, METRIC_ALLOC, &arena, &t);
        tree_prune(&t, METRIC_ALLOC, cases[i].rows, cases[i].depth, &arena);
        assert_string_equal(bytes_of_tree(&t, 0), cases[i].left);
        assert_int_equal(t.nodes[0].inclusive.allocated_bytes, 53);
    }
    profile_free(p);
}

/* If this fails, --metric accepts words other than those that the views show. */
static void
metric_names_are_read_back(void **state)
{
    enum metric m;

    (void)state;
    for (int i = METRIC_INUSE; i <= METRIC_COUNT; i++) {
        assert_true(metric_parse(metric_name((enum metric)i), &m));
        assert_int_equal(m, i);
    }
    assert_false(metric_parse("bytes", &m));
}

/* If this fails, tables and pictures of a program that frees everything at its end show the few KiB
 * that are left, although the first screen shows the peak. */
static void
the_peak_comes_first_unless_it_is_still_live(void **state)
{
    struct profile *p = build_profile_new();
    struct counters c = build_counters(10, 1000, 1, 100);

    (void)state;
    c.peak_bytes = 1000;
    assert_int_equal(metric_first(p, &c), METRIC_INUSE);
    c.peak_bytes = 1001;
    assert_int_equal(metric_first(p, &c), METRIC_PEAK);
    c.partial = true;
    assert_int_equal(metric_first(p, &c), METRIC_INUSE);
    c.partial = false;
    p->extent = EXTENT_BETWEEN;
    assert_int_equal(metric_first(p, &c), METRIC_INUSE);
    profile_free(p);
}

static int
stacks_release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_classes_are_one_stack),
        cmocka_unit_test(inlined_frames_are_expanded),
        cmocka_unit_test(wrappers_are_charged_to_their_caller),
        cmocka_unit_test(only_innermost_wrappers_fold),
        cmocka_unit_test(a_filter_looks_at_all_frames),
        cmocka_unit_test(a_filter_that_repeats_too_much_is_refused),
        cmocka_unit_test(a_bad_regex_is_a_usage_error),
        cmocka_unit_test(unnamed_frames_stay_apart),
        cmocka_unit_test(plain_names_lose_their_decoration),
        cmocka_unit_test(wrappers_are_known_by_name),
        cmocka_unit_test(wrappers_of_libraries_are_known_by_name),
        cmocka_unit_test(wrappers_of_runtimes_and_compilers_are_known_by_name),
        cmocka_unit_test(wrappers_are_known_by_symbol),
        cmocka_unit_test(the_allocators_of_python_are_folded),
        cmocka_unit_test(fold_matches_behind_the_return_type),
        cmocka_unit_test(recursion_folds_to_one_stack),
        cmocka_unit_test(numbers_belong_to_the_profile),
        cmocka_unit_test(unsymbolized_parts_of_wrappers_fold),
        cmocka_unit_test(unsymbolized_functions_match_by_what_is_shown),
        cmocka_unit_test(start_up_code_is_not_shown),
        cmocka_unit_test(a_tree_adds_up),
        cmocka_unit_test(a_pruned_tree_keeps_the_largest_rows_and_their_callers),
        cmocka_unit_test(metric_names_are_read_back),
        cmocka_unit_test(the_peak_comes_first_unless_it_is_still_live),
    };

    return cmocka_run_group_tests(tests, NULL, stacks_release);
}
