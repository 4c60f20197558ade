# heaptap: the build. GNU make, one file, not recursive. Needs what tools/setup lists.
#
#   make            build/heaptap, build/libheaptap.so (the recorder), and the recorder to link in:
#                   build/libheaptap.a, build/libheaptap_static.a, build/musl/libheaptap_static.a,
#                   build/libheaptap_attach.so for heaptap attach, and adapters for languages,
#                   build/libheaptap_*.so
#   make test       install the tests' requirements, build, run everything; the last line is
#                   "N passed, N failed, N skipped"; ONLY=regex picks tests by name
#   make scopes     which function is called where several are in reach, on this C library and
#                   on another release's of the distribution; GLIBC=trixie
#   make torture    large real programs, bare and recorded, in a table; half an hour; ONLY=regex
#   make foreign    programs and test suites of others, with a counter behind the recorder; half an
#                   hour; ONLY=regex
#   make bench      the cost of recording, next to other profilers; BENCH=quick|full,
#                   ROUNDS=n, ONLY=regex and TOOLS=regex pick rows, BEFORE=dir is the build of
#                   another commit to compare with; results in build/bench
#   make check      the source rules alone (tools/tidy); also part of make test
#   make demo       record a real program and print the report
#   make fuzz       run every fuzz target with libFuzzer (clang), FUZZ_SECONDS=60 each
#   make fuzz-merge keep the finds of those runs, minimised, in test/fuzz/corpus
#   make fuzz-coverage   coverage of the parsers by the corpora, per source file (clang, llvm)
#   make lint       clang-tidy, cppcheck and gcc's analyzer on all of src; takes minutes
#   make install    into $(DESTDIR)$(PREFIX), PREFIX=/usr/local; make uninstall takes it away
#   make man        the man pages alone, into build/man
#   make dist       an archive of the committed sources, with the page made: build/heaptap-*.tar.gz
#   make setup      install the requirements of build, demo and tests; offer the message hook
#   make roots      make demo and make test in minimal roots of Debian, as root and as a user;
#                   ROOTS="bookworm trixie", SHORT=1 runs the tests that depend on them,
#                   ROOTS_DIR=dir (build/roots) keeps the roots
#   make examples   programs that use heaptap.h, into build/examples
#   make adapters   adapters for `run --adapter` that need a runtime's headers, into build/adapters
#   make programs   the programs of the tests, without running them
#   make clean
#
# Variables: CC=gcc|clang, DEVELOPER=1 (warnings are errors, the tools check their tables),
# SAN=address|undefined|thread (tools and unit tests, under build/$(SAN); never the recorder),
# BUILD=dir (instead of build), CFLAGS, LDFLAGS, V=1 (show commands).
#
# The design. Every source file found by the wildcards below is built, so adding a file needs no
# edit here. Scripts and styles in src/tool become strings in the command, and so does the page that
# node makes from src/page; without node the command has no page and says so. Objects go to
# build/obj/<config>/, where a config is a compiler and its sanitizer; headers are tracked by -MMD.
# Three kinds of stamp keep the rest up to date: *.flags changes when the flags do, *.list when a
# set of objects does, and both are rewritten only then.

# Decided first, because everything below depends on it.
ifeq ($(origin CC),default)
CC = gcc
endif
ifeq ($(origin CXX),default)
CXX = $(if $(findstring clang,$(CC)),clang++,g++)
endif
CLANG ?= clang
AR = ar
SAN ?=
ONLY ?=
GLIBC ?=
BUILD ?= build
FUZZ_SECONDS ?= 60
PAGE_DIR ?= build/page
PREFIX ?= /usr/local
DESTDIR ?=
ROOTS ?= bookworm trixie
ROOTS_DIR ?= $(BUILD)/roots

ifneq ($(filter-out address undefined thread,$(SAN)),)
$(error SAN is address, undefined or thread, not '$(SAN)')
endif

# Recipes of one make run in parallel unless the caller says how many.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all test scopes scope-programs torture foreign bench programs oracle-programs \
        harness-programs counter-programs bench-programs examples adapters check demo run-demo \
        roots fuzz fuzz-merge fuzz-coverage lint install uninstall man dist setup clean FORCE

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2))

# --- What there is -------------------------------------------------------------------------------

# Three parts, each with a separate include path: common to both, the recorder, the tools.
common_sources := $(wildcard src/common/*/*.c)
# Scripts and styles of the pages that the command writes.
embedded_sources := $(wildcard src/tool/*/*.js src/tool/*/*.css)
# Inputs of the page. An archive of a release contains the finished page, beside its sources.
page_sources := $(wildcard src/page/*.mjs src/page/*.html src/page/*.json src/page/*.js* \
                           src/page/*/*.js src/page/*/*.jsx src/page/*/*.css)
page_made := src/page/made/page.html
# A file with one of these suffixes is in the given products only; every other is in all of them.
#
#   _preloaded   libheaptap.so
#   _linked      the archives, which become part of the program
#   _attached    libheaptap_attach.so, which heaptap attach maps into a running program
#   _dynamic     libheaptap.so, libheaptap_attach.so and libheaptap.a, where there is a dynamic
#                linker; also the tools
#   _static      the archives for static executables; _glibc and _musl: for those with that libc
#   _interposed  libheaptap.so and libheaptap.a, whose functions come first in link order
#   _direct      all others: calls lead to the recorder's functions whatever the order is
kinds := preloaded linked attached dynamic static interposed direct glibc musl
without = $(filter-out $(patsubst %,\%_%.c,$(filter-out $(1),$(kinds))),$(2))
operators_source := src/recorder/allocator/operators_static.c
access_sources := $(wildcard src/recorder/access/*.c)
# Adapters for languages: src/recorder/language/adapter_NAME.c, with NAME_*.c beside it, becomes
# libheaptap_NAME.so; others are below.
language_sources := $(wildcard src/recorder/language/*.c)
adapter_sources := $(wildcard src/recorder/language/adapter_*.c)
# Files with large tables among their variables come last, so that all other variables are on a few
# neighbouring pages: each page that a process touches costs it a microsecond or two.
large_sources := $(addprefix src/recorder/,event/mode.c platform/selection.c event/start.c \
                   platform/output.c event/filter.c event/heap.c account/label.c \
                   annotation/annotated_map.c)
every_recorder_source := $(filter-out $(operators_source) $(access_sources) $(large_sources) \
                           src/recorder/language/%,$(common_sources) \
                           $(wildcard src/recorder/*/*.c)) $(large_sources)
tool_sources := $(call without,dynamic,$(common_sources)) $(wildcard src/tool/*/*.c) \
                $(embedded_sources)
recorder_sources := $(call without,preloaded dynamic interposed,$(every_recorder_source))
linked_sources := $(call without,linked dynamic interposed,$(every_recorder_source))
static_sources := $(call without,linked static direct glibc,$(every_recorder_source))
musl_sources := $(call without,linked static direct musl,$(every_recorder_source))
# The attached recorder starts when the tool calls it, and the program does not know its API.
attached_sources := $(filter-out $(addprefix src/recorder/entry/,constructor.c announce.c api.c \
                      languages.c),$(call without,attached dynamic direct,$(every_recorder_source)))
# The library that counts accesses has all of the recorder's sources, built once more, and one more
# room.
access_preloaded_sources := $(recorder_sources) $(call without,dynamic,$(access_sources))
access_linked_sources := $(linked_sources) $(call without,dynamic,$(access_sources))
access_static_sources := $(static_sources) $(call without,static,$(access_sources))
# Adapters for runtimes, each a separate library: for programs on the collector libgc, and for Lisp
# on ECL, whose headers that one needs.
gc_sources := $(wildcard src/recorder/language/gc_*.c)
ecl_sources := $(gc_sources) $(wildcard src/recorder/language/ecl_*.c)
main_source := src/tool/command/main.c
version := $(shell sed -n 's/^\#define HEAPTAP_VERSION "\(.*\)"/\1/p' src/common/base/version.h)

OUT := $(BUILD)$(if $(SAN),/$(SAN))
compiler := $(notdir $(firstword $(CC)))
config := $(compiler)$(if $(SAN),-$(SAN))

# --- Flags ---------------------------------------------------------------------------------------

warnings := -Wall -Wextra -Wconversion -Wshadow -Wmissing-prototypes -Wvla \
            -Werror=implicit-function-declaration
cxx_warnings := -Wall -Wextra -Wshadow
werror := $(if $(DEVELOPER),-Werror)
# Builds that search for internal errors walk tables to find them: src/tool/util/ensure.h.
ensure_tables := -DENSURE_TABLES
CFLAGS ?= -O2 -g
# heaptap attach decodes instructions with Zydis 4 or later; without it, attach is unavailable.
has_zydis := $(shell printf '\043include <Zydis/Zydis.h>\nint n[ZYDIS_STACK_WIDTH_64 + 1];\n' | \
                 $(CC) -fsyntax-only -x c - >/dev/null 2>&1 && echo y)
# heaptap serve answers requests with libmicrohttpd; without it, serve is unavailable.
has_microhttpd := $(shell printf '\043include <microhttpd.h>\nenum MHD_Result r;\n' | \
                      $(CC) -fsyntax-only -x c - >/dev/null 2>&1 && echo y)
base_flags := -std=gnu11 -D_GNU_SOURCE -Isrc/common -Iinclude $(warnings) \
              $(if $(has_zydis),-DHEAPTAP_ZYDIS)
san_flags = -fsanitize=$(1) -fno-sanitize-recover=all -fno-omit-frame-pointer
# heaptap top draws with ncurses; without it, only its screen is unavailable.
has_curses := $(shell pkg-config --exists ncursesw 2>/dev/null && echo y)
tool_base := $(base_flags) $(if $(has_curses),-DHEAPTAP_CURSES) \
             $(if $(has_microhttpd),-DHEAPTAP_MICROHTTPD) -Isrc/tool
tool_flags := $(tool_base) $(CFLAGS) $(if $(SAN),$(call san_flags,$(SAN))) \
              $(if $(SAN)$(DEVELOPER),$(ensure_tables))

comma := ,
memory_flags := $(call san_flags,address$(comma)undefined)
replay_flags := $(tool_base) -O1 -g $(memory_flags) $(ensure_tables)
fuzz_flags := $(replay_flags) -fsanitize=fuzzer-no-link
cover_flags := $(tool_base) -O1 -g -fprofile-instr-generate -fcoverage-mapping

# The recorder calls the host's malloc by its real name, so the compiler must not make assumptions
# about it.
no_builtins := $(addprefix -fno-builtin-,malloc calloc realloc free aligned_alloc memalign \
                 posix_memalign valloc pvalloc reallocarray malloc_usable_size)
# Vector stores of two neighbouring words, read back one by one, cost more than they save here. And
# the speed of a loop must not depend on the size of the functions before it.
recorder_flags := $(base_flags) -Isrc/recorder -O2 -fno-tree-vectorize -falign-functions=32 \
                 -g -fPIC \
                 -fvisibility=hidden -U_FORTIFY_SOURCE -ftls-model=initial-exec -fno-plt \
                 -fomit-frame-pointer -fno-stack-protector -fexceptions $(no_builtins) \
                 $$(call registers,$$<)
# A program may call malloc with a misaligned stack, where a store of 16 bytes from a vector
# register faults. So only files that need these registers use them.
floating_sources := src/recorder/event/errors.c src/common/sampling/draw.c \
                    src/common/unwind/cfi_program.c src/recorder/access/% \
                    src/recorder/language/%
registers = $(if $(filter $(floating_sources),$(1)),,-mgeneral-regs-only)
access_flags := $(recorder_flags) -DHEAPTAP_ACCESS
# Nobody resolves names for the attached recorder except the tool, which knows a few of libc's.
attached_link := -shared -Wl,-z,now -Wl,--no-undefined -Wl,-Bsymbolic -nostartfiles \
                 -Wl,--version-script=src/recorder/entry/attached.map \
                 -Wl,-soname,libheaptap_attach.so -nodefaultlibs -lc
recorder_link := -shared -Wl,-z,now -Wl,--no-undefined \
                -Wl,--version-script=src/recorder/entry/versions.map \
                -Wl,-soname,libheaptap.so -nodefaultlibs -lc

adapter_link := -shared -Wl,-z,now -Wl,--no-undefined

# The recorder's sources in a program with a sanitizer: test/harness.
harness_flags := $(base_flags) -Isrc/recorder -Isrc/tool -O1 -g -fexceptions \
                 -ftls-model=initial-exec -fno-optimize-sibling-calls $(no_builtins) \
                 -DBASE_STACK_UNCHECKED $(ensure_tables)

# Evaluated when first used, so that `make setup` and `make clean` work without pkg-config.
packages := libdw libelf zlib libzstd $(if $(has_curses),ncursesw)
tool_libs = $(eval tool_libs := $$(shell pkg-config --libs $(packages)) $(if $(has_zydis),-lZydis) \
                                $$(if $(has_microhttpd),-lmicrohttpd) \
                                -liberty -lm)$(tool_libs)

# --- Stamps and objects --------------------------------------------------------------------------

# write-if-changed FILE,TEXT
write-if-changed = mkdir -p $(dir $(1)) && echo '$(2)' | cmp -s - $(1) || echo '$(2)' >$(1)

# objects CONFIG,SOURCES: a.c becomes a.o, and a.js becomes a.js.o.
objects = $(patsubst src/%,$(BUILD)/obj/$(1)/%.o,$(2:.c=))

# tool-objects CONFIG: the objects of all the tools' sources except main's, and of the page.
page-object = $(BUILD)/obj/$(1)/page.html.o
tool-objects = $(call objects,$(1),$(library_sources)) $(call page-object,$(1))

# embed FILE: a C source with the file's text, unchanged, as a string with the file's name
# (flame_page.js becomes flame_page_js). Question marks are escaped, or two of them would begin a
# trigraph. Not .incbin or ld -b binary: their objects lack the properties that the compiler's flags
# give to all others (link time optimisation, control flow marks, the note that the stack is not
# executable).
embed = { echo 'const char $(subst .,_,$(notdir $(1)))[] = ""'; \
          sed 's/["\\?]/\\&/g; s/.*/"&\\n"/' $(1); echo ';'; }

# The page, or nothing where there is no node, or the packages from tools/setup are missing. make
# demo and make test run tools/setup, which reports that, and then make once more.
page := $(BUILD)/gen/page.html
page_packages := $(wildcard $(PAGE_DIR)/node_modules/.package-lock.json)
node_is_new := process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)
$(page): $(page_sources) $(page_packages) $(wildcard $(page_made))
	$(call say,PAGE,$@)
	@mkdir -p $(@D)
	@if [ -n '$(page_packages)' ] && node -e '$(node_is_new)' >/dev/null 2>&1; then \
	    node src/page/bundle.mjs $@ $(PAGE_DIR)/node_modules && exit 0; \
	    [ -z '$(DEVELOPER)' ] || exit 1; \
	fi; \
	[ ! -f $(page_made) ] || exec cp $(page_made) $@; \
	[ '$(MAKELEVEL)' != 0 ] || \
	    echo "make: heaptap html will have no page: tools/setup build fetches what it needs" >&2; \
	: >$@

# compile-rules CONFIG,COMPILER,FLAGS: how objects of one config are built.
define compile-rules
$(BUILD)/obj/$(1)/all.flags: FORCE
	@$$(call write-if-changed,$$@,$(2) $(3))
$(BUILD)/obj/$(1)/%.o: src/%.c $(BUILD)/obj/$(1)/all.flags
	$$(call say,CC,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(2) $(3) $$(werror) -MMD -MP -c -o $$@ $$<
$(call objects,$(1),$(embedded_sources)): $(BUILD)/obj/$(1)/%.o: src/% $(BUILD)/obj/$(1)/all.flags
	$$(call say,EMBED,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(call embed,$$<) | $(2) $(3) $$(werror) -x c -c -o $$@ -
$(call page-object,$(1)): $(page) $(BUILD)/obj/$(1)/all.flags
	$$(call say,EMBED,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(call embed,$$<) | $(2) $(3) $$(werror) -x c -c -o $$@ -
endef

# archive-rules ARCHIVE,OBJECTS: rebuilt when the set of objects changes.
define archive-rules
$(1).list: FORCE
	@$$(call write-if-changed,$$@,$(2))
$(1): $(2) $(1).list
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $(2)
endef

library_sources := $(filter-out $(main_source),$(tool_sources))
tool_objects := $(call tool-objects,$(config))
main_object := $(call objects,$(config),$(main_source))
recorder_objects := $(call objects,$(compiler)-recorder,$(recorder_sources))
harness_sources := $(filter-out %/real_calls_interposed.c %/real_interposed.c %/guard.c \
                                %/bypass_interposed.c %/libc_interposed.c %/bytes.c \
                                %/errno_dynamic.c,\
                     $(recorder_sources)) \
                   $(wildcard src/tool/util/*.c src/tool/profile/*.c src/tool/load/*.c)
harness_objects = $(call objects,$(compiler)-harness-$(1),$(harness_sources))
replay_objects := $(call tool-objects,$(compiler)-replay)
fuzz_objects := $(call tool-objects,clang-fuzz)
cover_objects := $(call tool-objects,clang-cover)

tool_archive := $(BUILD)/obj/$(config)/libtool.a
replay_archive := $(BUILD)/obj/$(compiler)-replay/libtool.a
fuzz_archive := $(BUILD)/obj/clang-fuzz/libtool.a
cover_archive := $(BUILD)/obj/clang-cover/libtool.a

$(eval $(call compile-rules,$(config),$(CC),$(tool_flags)))
$(eval $(call compile-rules,$(compiler)-recorder,$(CC),$(recorder_flags)))
$(eval $(call compile-rules,$(compiler)-access,$(CC),$(access_flags)))
$(eval $(call compile-rules,$(compiler)-replay,$(CC),$(replay_flags)))
$(eval $(call compile-rules,clang-fuzz,$(CLANG),$(fuzz_flags)))
$(eval $(call compile-rules,clang-cover,$(CLANG),$(cover_flags)))
$(eval $(call compile-rules,$(compiler)-harness-memory,$(CC),$(harness_flags) $(memory_flags)))
$(eval $(call compile-rules,$(compiler)-harness-thread,$(CC),$(harness_flags) \
    $(call san_flags,thread)))
$(eval $(call archive-rules,$(tool_archive),$(tool_objects)))
$(eval $(call archive-rules,$(replay_archive),$(replay_objects)))
$(eval $(call archive-rules,$(fuzz_archive),$(fuzz_objects)))
$(eval $(call archive-rules,$(cover_archive),$(cover_objects)))

# --- The products --------------------------------------------------------------------------------

linked := $(BUILD)/libheaptap.a $(BUILD)/libheaptap_static.a $(BUILD)/musl/libheaptap_static.a \
          $(BUILD)/libheaptap_static.opt
access := $(BUILD)/libheaptap-access.so $(BUILD)/libheaptap-access.a $(BUILD)/granule_mark.h \
          $(BUILD)/libheaptap-access_static.a $(BUILD)/libheaptap-access_static.opt
# The libraries that gcc links for -fsanitize=thread, and their replacements.
access_gcc := $(BUILD)/access-gcc/libtsan.a $(BUILD)/access-gcc/libtsan_preinit.o
single_adapters := \
    $(adapter_sources:src/recorder/language/adapter_%.c=$(BUILD)/libheaptap_%.so)
adapters := $(single_adapters)
all: $(OUT)/heaptap $(OUT)/libheaptap.so $(OUT)/libheaptap_attach.so $(linked) $(access) \
     $(access_gcc) $(adapters) $(OUT)/preload/stamp

# An adapter that needs a runtime's headers is built only if they are installed.
has_header = $(shell printf '\043include <%s>\n' $(1) | $(CC) -E -x c - >/dev/null 2>&1 && echo y)
adapters += $(BUILD)/libheaptap_gc.so
ifneq ($(filter all programs install %/libheaptap_ecl.so,$(or $(MAKECMDGOALS),all)),)
ifeq ($(call has_header,ecl/ecl.h),y)
adapters += $(BUILD)/libheaptap_ecl.so
else
$(info make: no adapter for Lisp, libheaptap_ecl.so: libecl-dev is not installed)
endif
endif
all: $(adapters)

# adapter-rules NAME,SOURCES
define adapter-rules
$(BUILD)/libheaptap_$(1).so: $(call objects,$(compiler)-recorder,$(2))
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) -o $$@ $$^ $(adapter_link) -Wl,-soname,libheaptap_$(1).so
endef
$(eval $(call adapter-rules,gc,$(gc_sources)))
$(eval $(call adapter-rules,ecl,$(ecl_sources)))

# The compiler and flags of the product, since several configs share its name.
$(OUT)/heaptap.list: FORCE
	@$(call write-if-changed,$@,$(config) $(LDFLAGS))
$(BUILD)/libheaptap.so.list: FORCE
	@$(call write-if-changed,$@,$(recorder_objects))

$(OUT)/heaptap: $(main_object) $(tool_archive) $(OUT)/heaptap.list
	$(call say,LINK,$@)
	$(Q)$(CC) $(tool_flags) $(LDFLAGS) -o $@ $(main_object) $(tool_archive) $(tool_libs)

$(BUILD)/libheaptap.so: $(recorder_objects) src/recorder/entry/versions.map \
                        $(BUILD)/libheaptap.so.list
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $(recorder_objects) $(recorder_link)

attached_objects := $(call objects,$(compiler)-recorder,$(attached_sources))
$(BUILD)/libheaptap_attach.so.list: FORCE
	@$(call write-if-changed,$@,$(attached_objects))
$(BUILD)/libheaptap_attach.so: $(attached_objects) src/recorder/entry/attached.map \
                               $(BUILD)/libheaptap_attach.so.list
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $(attached_objects) $(attached_link)

# Each identifies its runtime by headers or by built-in layouts, and the recorder by language.h
# alone. It stays loaded, like the recorder: it is called until the very end.
adapter_flags := -std=gnu11 -D_GNU_SOURCE -Iinclude -Isrc/common -Isrc/recorder $(warnings) -O2 -g \
                 -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-plt -fno-stack-protector
$(single_adapters): $(BUILD)/libheaptap_%.so: $(language_sources) $(wildcard \
             src/recorder/language/*.h include/heaptap/*.h src/common/base/*.h \
             src/common/format/*.h) Makefile
	$(call say,LINK,$@)
	$(Q)$(CC) $(adapter_flags) $(werror) -shared -Wl,-z,nodelete -Wl,-z,now \
	    -Wl,-soname,$(notdir $@) -o $@ \
	    $(filter src/recorder/language/adapter_$*.c src/recorder/language/$*_%.c,$^)

# Adapters for `run --adapter`. They depend on the headers of the installed runtime, so they are
# built on request, where the headers are. initial-exec: any other model may call malloc, which
# would call the adapter.
adapters:
	$(Q)mkdir -p $(BUILD)/adapters
	$(Q)if includes=$$(php-config --includes 2>/dev/null); then \
	    $(CC) -std=gnu11 -O2 -g -Wall -fPIC -fvisibility=hidden -ftls-model=initial-exec -shared \
	        -Wl,-z,nodelete -Iinclude $$includes -o $(BUILD)/adapters/libheaptap_php.so \
	        adapters/php.c; \
	else \
	    echo "adapters/php.c is left out: it needs php-config (php-dev)"; \
	fi
	$(Q)if includes=$$(ruby -rrbconfig -e 'c = RbConfig::CONFIG; d = c["rubyhdrdir"]; \
	        exit 1 unless File.exist?(d + "/ruby.h"); \
	        print "-I#{d} -I#{c["rubyarchhdrdir"]}"' 2>/dev/null); then \
	    $(CC) -std=gnu11 -O2 -g -Wall -fPIC -fvisibility=hidden -ftls-model=initial-exec -shared \
	        -Wl,-z,nodelete -Iinclude $$includes -o $(BUILD)/adapters/libheaptap_ruby.so \
	        adapters/ruby.c; \
	else \
	    echo "adapters/ruby.c is left out: it needs ruby and its headers (ruby-dev)"; \
	fi

# The linkable recorder is one object in which all names are local except those that it interposes.
# In a static executable these are __wrap_malloc and so on (--wrap). Exceptions are functions whose
# other paths in libc lead to a wrapped one, and unloading, which is not seen there. The operators
# are in a separate object, and lead to the first one's.
unwrapped := heaptap_.*|dl(close|open|mopen|sym|vsym)|__libc_.*|s?signal|bsd_signal|sysv_signal|\
f?execv?[elp]*(at)?|posix_spawnp?|\
__sysv_signal|sigset

$(BUILD)/linked/dynamic.names: $(BUILD)/libheaptap.so Makefile
	@mkdir -p $(@D)
	@nm -D --defined-only $< | sed -n 's/.* [^A] \([^@]*\).*/\1/p' >$@
	@: >$(@D)/dynamic.renamed
$(BUILD)/linked/wrapped.names: $(BUILD)/linked/dynamic.names
	@grep -vxE '$(subst $() ,,$(unwrapped))' $< >$@
$(BUILD)/linked/static.names: $(BUILD)/linked/wrapped.names
	@sed 's/^_Z/heaptap_wrap&/;t;s/^/__wrap_/' $< >$@
	@paste -d' ' $< $@ >$(@D)/static.renamed
	@echo '__restore __restore_rt' | tr ' ' '\n' >>$@ # restorer_musl.c
	@grep '^heaptap_' $(BUILD)/linked/dynamic.names >>$@ || true

# linked-rules KIND,NAMES,SOURCES,ARCHIVE,OTHER MEMBERS. Exceptions that pass through the recorder
# need a personality function; every C++ program has it in the C++ library's form, and none in the C
# library's.
define linked-rules
$(BUILD)/linked/$(1).list: FORCE
	@$$(call write-if-changed,$$@,$(3))
$(BUILD)/linked/$(1).o: $(call objects,$(compiler)-recorder,$(3)) $(BUILD)/linked/$(1).list \
                        $(BUILD)/linked/$(2).names
	$$(Q)$$(CC) -r -nostdlib -Wl,--force-group-allocation -o $$@.all \
	    $(call objects,$(compiler)-recorder,$(3))
	$$(Q)objcopy --redefine-syms=$(BUILD)/linked/$(2).renamed \
	    --redefine-sym __gcc_personality_v0=__gxx_personality_v0 $$@.all
	$$(Q)objcopy --keep-global-symbols=$(BUILD)/linked/$(2).names $$@.all $$@
	@rm $$@.all
$(4): $(BUILD)/linked/$(1).o $(5)
	$$(call say,AR,$$@)
	@mkdir -p $$(@D)
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $(BUILD)/linked/$(1).o $(5)
endef
operators_object := $(call objects,$(compiler)-recorder,$(operators_source))
$(eval $(call linked-rules,dynamic,dynamic,$(linked_sources),$(BUILD)/libheaptap.a))
$(eval $(call linked-rules,static,static,$(static_sources),\
    $(BUILD)/libheaptap_static.a,$(operators_object)))
$(eval $(call linked-rules,musl,static,$(musl_sources),\
    $(BUILD)/musl/libheaptap_static.a,$(operators_object)))

# The same for the library that counts accesses. In it, libc's functions that access the caller's
# memory must have libc's names, but the recorder already uses these names for its own copies of
# some. So there are two steps: those become local, and then counted_strlen becomes strlen.
access_objects := $(call objects,$(compiler)-access,$(access_preloaded_sources))
counted_objects := $(call objects,$(compiler)-access,$(addprefix src/recorder/access/counted_,\
                       calls.c rows.c numbers.c print.c))
bytes_object := $(call objects,$(compiler)-access,src/recorder/platform/bytes.c)
$(BUILD)/access/own.renamed: $(bytes_object)
	@mkdir -p $(@D)
	@nm --defined-only -g $< | sed -n 's/.* T \(.*\)/\1 heaptap_own_\1/p' >$@
$(BUILD)/access/counted.renamed: $(counted_objects)
	@mkdir -p $(@D)
	@nm --defined-only -g $^ | sed -n 's/.* T counted_\(.*\)/counted_\1 \1/p' >$@

# access-object FILE,OBJECTS: all of them as one.
define access-object
$(1).list: FORCE
	@$$(call write-if-changed,$$@,$(2))
$(1): $(2) $(1).list $(BUILD)/access/own.renamed $(BUILD)/access/counted.renamed
	$$(Q)$$(CC) -r -nostdlib -Wl,--force-group-allocation -o $$@.all $(2)
	$$(Q)objcopy --redefine-syms=$(BUILD)/access/own.renamed $$@.all
	$$(Q)objcopy --redefine-syms=$(BUILD)/access/counted.renamed $$@.all $$@
	@rm $$@.all
endef
access_linked_objects := $(call objects,$(compiler)-access,$(access_linked_sources))
$(eval $(call access-object,$(BUILD)/access/preloaded.o,$(access_objects)))
$(eval $(call access-object,$(BUILD)/access/linked.o,$(access_linked_objects)))
$(BUILD)/libheaptap-access.so: $(BUILD)/access/preloaded.o src/recorder/entry/versions.map
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< $(subst libheaptap.so,libheaptap-access.so,$(recorder_link))
$(BUILD)/access/dynamic.names: $(BUILD)/libheaptap-access.so Makefile
	@nm -D --defined-only $< | sed -n 's/.* [^A] \([^@]*\).*/\1/p' >$@
$(BUILD)/access/named.o: $(BUILD)/access/linked.o $(BUILD)/access/dynamic.names
	$(Q)objcopy --redefine-sym __gcc_personality_v0=__gxx_personality_v0 \
	    --keep-global-symbols=$(BUILD)/access/dynamic.names $< $@
	$(Q)cut -d' ' -f2 $(BUILD)/access/counted.renamed >$@.weak
	$(Q)objcopy --weaken-symbols=$@.weak $@
$(BUILD)/libheaptap-access.a: $(BUILD)/access/named.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $<

# In a static executable the functions that instrumented code calls keep their names, and libc's are
# wrapped.
access_called := __(memprof|tsan|heaptap)_.*
access_static_objects := $(call objects,$(compiler)-access,$(access_static_sources))
$(eval $(call access-object,$(BUILD)/access/static.o,$(access_static_objects)))
$(BUILD)/access/wrapped.names: $(BUILD)/access/dynamic.names
	@grep -vxE '$(subst $() ,,$(unwrapped))|$(access_called)' $< >$@
$(BUILD)/access/static.names: $(BUILD)/access/wrapped.names
	@sed 's/^_Z/heaptap_wrap&/;t;s/^/__wrap_/' $< >$@
	@paste -d' ' $< $@ >$(@D)/static.renamed
	@grep -xE 'heaptap_.*|$(access_called)' $(BUILD)/access/dynamic.names >>$@
$(BUILD)/access/static_named.o: $(BUILD)/access/static.o $(BUILD)/access/static.names
	$(Q)objcopy --redefine-syms=$(BUILD)/access/static.renamed \
	    --redefine-sym __gcc_personality_v0=__gxx_personality_v0 $< $@.all
	$(Q)objcopy --keep-global-symbols=$(BUILD)/access/static.names $@.all $@
	@rm $@.all
$(BUILD)/libheaptap-access_static.a: $(BUILD)/access/static_named.o $(operators_object)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/libheaptap-access_static.opt: $(BUILD)/access/wrapped.names
	@{ echo '-u __wrap_malloc'; echo '--eh-frame-hdr'; sed 's/^/--wrap=/' $<; } >$@

$(BUILD)/access-gcc/libtsan.a:
	@mkdir -p $(@D)
	@rm -f $@ && $(AR) rcs $@
$(BUILD)/access-gcc/libtsan_preinit.o:
	@mkdir -p $(@D)
	@echo '.section .note.GNU-stack,"",@progbits' | $(CC) -x assembler -c -o $@ -

# heaptap cc puts this at the beginning of each file of a program.
$(BUILD)/granule_mark.h: src/recorder/access/granule_mark.h
	@cp $< $@

# Options for the linker of a static executable. Unwind tables are not found without their header.
$(BUILD)/libheaptap_static.opt: $(BUILD)/linked/wrapped.names
	@{ echo '-u __wrap_malloc'; echo '--eh-frame-hdr'; sed 's/^/--wrap=/' $<; } >$@

# LD_PRELOAD names these, with $PLATFORM for the directory: links to the libraries for 64-bit
# programs, and an empty library for 32-bit programs, whose dynamic linker would print an error
# about a 64-bit one. The directories are all values of $PLATFORM that the kernel and glibc have.
preload_64 := x86_64 haswell xeon_phi
preload_32 := i386 i486 i586 i686
preload_names = libheaptap.so $(notdir $(adapters))
$(OUT)/preload/stamp: $(OUT)/heaptap Makefile
	$(call say,LINK,$(@D))
	@mkdir -p $(addprefix $(@D)/,$(preload_64) $(preload_32))
	@$(OUT)/heaptap generate stub32 >$@
	@for name in $(preload_names); do \
	    for to in $(preload_64); do ln -sfn ../../$$name $(@D)/$$to/$$name || exit 1; done; \
	    for to in $(preload_32); do ln -sfn ../stub32.so $(@D)/$$to/$$name || exit 1; done; \
	done
	@mv $@ $(@D)/stub32.so && touch $@

# The command looks for the recorder beside itself.
ifneq ($(SAN),)
$(OUT)/libheaptap.so $(OUT)/libheaptap_attach.so: $(OUT)/%: $(BUILD)/%
	@mkdir -p $(@D) && ln -sf ../$* $@
endif

# --- Tests ---------------------------------------------------------------------------------------

include test/test.mk

# --- Demo, setup, install ------------------------------------------------------------------------

setup:
	@tools/setup build demo unit test hooks

demo:
	@tools/setup build demo
	@$(MAKE) --no-print-directory run-demo

run-demo: all
	@HEAPTAP=$(OUT)/heaptap demo/demo.sh

# A release contains the sources, and the page, so that a build needs no node for it.
dist_name := heaptap-$(version)
dist: $(page)
	@[ -s $(page) ] || { echo "make: there is no page to put into the archive" >&2; exit 1; }
	@git archive --prefix=$(dist_name)/$(dir $(page_made)) --add-file=$(page) \
	    --prefix=$(dist_name)/ -o $(BUILD)/$(dist_name).tar.gz HEAD
	@echo $(BUILD)/$(dist_name).tar.gz

# The command prints the pages and completions from its own tables.
man: $(BUILD)/man/stamp
$(BUILD)/man/stamp: $(BUILD)/heaptap
	@rm -rf $(BUILD)/man && mkdir -p $(BUILD)/man
	@$(BUILD)/heaptap generate man $(BUILD)/man
	@touch $@
$(BUILD)/completion/%: $(BUILD)/heaptap
	@mkdir -p $(@D)
	@$(BUILD)/heaptap generate completion $* >$@

to := $(DESTDIR)$(PREFIX)
pkgconfig_names := $(patsubst pkgconfig/%.in,%,$(wildcard pkgconfig/*.pc.in))
public_headers := $(wildcard include/heaptap/*.h)
install: all $(BUILD)/man/stamp $(BUILD)/completion/bash $(BUILD)/completion/zsh
	install -d $(to)/bin $(to)/lib/heaptap $(to)/lib/pkgconfig $(to)/share/man/man1
	install -d $(to)/share/bash-completion/completions $(to)/share/zsh/site-functions
	install -m 755 $(BUILD)/heaptap $(to)/bin/heaptap
	install -m 755 $(BUILD)/libheaptap.so $(to)/lib/heaptap/libheaptap.so
	install -m 755 $(BUILD)/libheaptap_attach.so $(adapters) $(to)/lib/heaptap/
	cp -RPf $(BUILD)/preload $(to)/lib/heaptap/ && rm $(to)/lib/heaptap/preload/stamp
	chmod -R u=rwX,go=rX $(to)/lib/heaptap/preload
	install -m 644 $(BUILD)/libheaptap.a $(BUILD)/libheaptap_static.a $(to)/lib/
	install -m 644 $(access) $(to)/lib/heaptap/
	install -d $(to)/lib/heaptap/access-gcc
	install -m 644 $(access_gcc) $(to)/lib/heaptap/access-gcc/
	install -m 644 $(BUILD)/libheaptap_static.opt $(to)/lib/heaptap/static.opt
	install -d $(to)/lib/heaptap/musl
	install -m 644 $(BUILD)/musl/libheaptap_static.a $(to)/lib/heaptap/musl/
	install -m 644 $(BUILD)/man/*.1 $(to)/share/man/man1/
	install -m 644 $(BUILD)/completion/bash $(to)/share/bash-completion/completions/heaptap
	install -m 644 $(BUILD)/completion/zsh $(to)/share/zsh/site-functions/_heaptap
	install -d $(to)/share/heaptap/embedded
	install -m 644 $(wildcard src/embedded/*.[ch]) $(to)/share/heaptap/embedded/
	install -m 644 src/gdb/heaptap-gdb.py src/lisp/heaptap.lisp src/lisp/heaptap_gcl.c \
	  src/python/heaptap.py $(to)/share/heaptap/
	install src/lisp/heaptap-gcl $(to)/share/heaptap/
	$(if $(public_headers),install -d $(to)/include/heaptap)
	$(if $(public_headers),install -m 644 $(public_headers) $(to)/include/heaptap/)
	for name in $(pkgconfig_names); do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(version)|' pkgconfig/$$name.in \
	        >$(to)/lib/pkgconfig/$$name || exit 1; \
	done

uninstall:
	rm -f $(to)/bin/heaptap $(to)/lib/libheaptap.a $(to)/lib/libheaptap_static.a
	rm -f $(pkgconfig_names:%=$(to)/lib/pkgconfig/%)
	rm -f $(to)/share/man/man1/heaptap.1 $(to)/share/man/man1/heaptap-*.1
	rm -f $(to)/share/bash-completion/completions/heaptap $(to)/share/zsh/site-functions/_heaptap
	rm -rf $(to)/lib/heaptap $(to)/include/heaptap $(to)/share/heaptap

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -path $(ROOTS_DIR) -prune -o -type f -name '*.d' -print 2>/dev/null)
