# test.mk: build the tests' programs, and define the targets that run them: test, scopes, torture,
# foreign, bench, check, lint and the fuzz targets. The Makefile includes this file; its opening
# comment lists the targets, and its variables (OUT, BUILD, the flags of each config) are used here.
#
# Programs are found by wildcard, so a new file in test/unit, test/prog, test/oracle, test/fuzz,
# test/fault, test/interrupt, bench or examples needs no edit. The scripts of test/run are not
# built; test/runner/drive.py finds them.

# A test program states additional flags and libraries on separate lines near its top:
#   /* cflags: -O0 */    /* libs: -lpthread */
directive-of = $$(sed -n '1,8s|^/\* $(1): \(.*\) \*/$$|\1|p' $(2))
directive = $(call directive-of,$(1),$<)
prog_flags := -O2 -g -fomit-frame-pointer -Wall -D_GNU_SOURCE -Isrc/common -Iinclude
# The programs use attributes that clang does not have.
ifneq ($(findstring clang,$(CC)),)
prog_flags += -Wno-unknown-attributes -Wno-unknown-warning-option
prog_cxx_flags := -fsized-deallocation -std=gnu++17
endif

unit_tests := $(patsubst test/unit/%.c,$(OUT)/test/unit/%,$(wildcard test/unit/test_*.c))
prog_all := $(wildcard test/prog/*.c test/prog/*.cc)
prog_lib_sources := $(filter test/prog/lib%,$(prog_all))
prog_libs := $(patsubst test/prog/%,$(BUILD)/test/prog/%.so,$(basename $(prog_lib_sources)))
prog_mains := $(filter-out $(prog_lib_sources),$(prog_all))
progs := $(patsubst test/prog/%,$(BUILD)/test/prog/%,$(basename $(prog_mains)))
oracle_tools := $(patsubst test/oracle/%.c,$(OUT)/test/oracle/%,$(wildcard test/oracle/tool_*.c))
oracle_sources := $(filter-out test/oracle/tool_%.c,$(wildcard test/oracle/*.c))
oracle := $(if $(oracle_sources),$(OUT)/test/oracle/liboracle.so)
counters := $(BUILD)/test/counter/libcounter.so $(BUILD)/test/counter/libcounter_operators.so
unwind_diff := $(if $(wildcard test/unwind/*.c),$(BUILD)/test/unwind/stackdiff)
fault_tools := $(patsubst test/%.c,$(BUILD)/test/%,$(wildcard test/fault/*.c))
interrupters := $(patsubst test/%.c,$(BUILD)/test/%,$(wildcard test/interrupt/*.c))
fuzz_names := $(patsubst test/fuzz/fuzz_%.c,%,$(wildcard test/fuzz/fuzz_*.c))
replays := $(fuzz_names:%=$(BUILD)/test/fuzz/replay_%)
fuzzers := $(fuzz_names:%=$(BUILD)/test/fuzz/fuzz_%)
covers := $(fuzz_names:%=$(BUILD)/test/fuzz/cover_%)

# Compilers are resolved here, so that a change of CC affects the tests as well.
$(BUILD)/test.flags: FORCE
	@$(call write-if-changed,$@,$(CC) $(CXX) $(tool_flags) $(prog_flags))

$(OUT)/test/unit/%.o: test/unit/%.c $(BUILD)/test.flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(tool_flags) $(werror) -Isrc/recorder -Itest/unit -MMD -MP \
	    $(call directive,cflags) -c -o $@ $<
unit_support := $(patsubst test/%.c,$(OUT)/test/%.o,$(wildcard test/unit/build_profile.c))
$(unit_tests): %: %.o $(unit_support) $(tool_archive)
	$(call say,TEST,$@)
	$(Q)$(CC) $(tool_flags) -o $@ $< $(unit_support) $(tool_archive) -lcmocka $(tool_libs) \
	    $(call directive-of,libs,$(@:$(OUT)/%=%.c))

$(BUILD)/test/prog/%.so: test/prog/%.c $(BUILD)/test.flags
	$(call say,PROG,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(prog_flags) -fPIC -shared -MMD -MP -MF $@.d $(call directive,cflags) -o $@ $< \
	    -L$(@D) $(call directive,libs)

$(BUILD)/test/prog/%.so: test/prog/%.cc $(BUILD)/test.flags
	$(call say,PROG,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(prog_flags) $(prog_cxx_flags) -fPIC -shared -MMD -MP -MF $@.d \
	    $(call directive,cflags) -o $@ $< -L$(@D) $(call directive,libs)

# These libraries are linked with other programs.
$(BUILD)/test/prog/libscope_needy.so: $(BUILD)/test/prog/libscope_one.so
$(BUILD)/test/prog/libscope_version.so: $(BUILD)/test/prog/libscope_versioned.so

$(BUILD)/test/prog/%: test/prog/%.c $(BUILD)/test.flags $(prog_libs)
	$(call say,PROG,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(prog_flags) -MMD -MP -MF $@.d $(call directive,cflags) -o $@ $< -L$(@D) \
	    $(call directive,libs)

$(BUILD)/test/prog/%: test/prog/%.cc $(BUILD)/test.flags $(prog_libs)
	$(call say,PROG,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(prog_flags) $(prog_cxx_flags) -MMD -MP -MF $@.d $(call directive,cflags) -o $@ $< \
	    -L$(@D) $(call directive,libs)

# This library is preloaded into programs like the recorder, so it is never built with a sanitizer.
$(OUT)/test/oracle/liboracle.so: $(oracle_sources) $(wildcard test/oracle/*.h) $(BUILD)/test.flags
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_flags) $(werror) -O1 -g -fPIC -shared -Itest/oracle -o $@ $(oracle_sources)

$(OUT)/test/oracle/tool_%: test/oracle/tool_%.c $(tool_archive) $(BUILD)/test.flags
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(tool_flags) $(werror) -Itest/oracle -MMD -MP -MF $@.d -o $@ $< \
	    $(tool_archive) $(tool_libs) $(call directive,libs)

# This library is preloaded after the recorder. If an allocator has its own operators, the variant
# with operators is used.
$(counters): $(BUILD)/test/counter/%.so: $(wildcard test/counter/*.[ch]) $(BUILD)/test.flags
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_flags) $(werror) $(no_builtins) -O2 -g -fPIC -fexceptions -shared -o $@ \
	    test/counter/counter.c $(if $(findstring operators,$@),test/counter/operators.c)

# The fault tools and interrupters run programs under ptrace, and do not examine their memory.
$(fault_tools) $(interrupters): $(BUILD)/test/%: test/%.c $(wildcard test/interrupt/*.h) \
                                $(BUILD)/test.flags
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_flags) $(werror) -O1 -g -MMD -MP -MF $@.d -o $@ $<

unwind_cc := $(wildcard test/unwind/*.cc)
unwind_c := $(wildcard test/unwind/*.c)
unwind_sources := $(call without,dynamic,$(wildcard src/common/unwind/*.c))
$(BUILD)/test/unwind/%.o: test/unwind/%.c $(BUILD)/test.flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_flags) $(werror) -O2 -g -MMD -MP -Isrc/recorder -Itest/unwind \
	    $(call directive,cflags) -c -o $@ $<
$(BUILD)/test/unwind/%.o: test/unwind/%.cc $(BUILD)/test.flags
	@mkdir -p $(@D)
	$(Q)$(CXX) $(cxx_warnings) -D_GNU_SOURCE -Isrc/common -Isrc/recorder -O2 -g -MMD -MP \
	    $(call directive,cflags) -c -o $@ $<
unwind_objects := $(patsubst test/%,$(BUILD)/test/%.o,$(basename $(unwind_c) $(unwind_cc))) \
                  $(call objects,$(compiler)-recorder,$(unwind_sources))
# libgcc_s comes first: libunwind has functions of the same names, and exceptions must not use
# those.
$(BUILD)/test/unwind/stackdiff: $(unwind_objects)
	$(call say,LINK,$@)
	$(Q)$(CXX) -o $@ $(unwind_objects) -lgcc_s -lunwind -lm

$(BUILD)/test/fuzz/%.o: test/fuzz/%.c $(BUILD)/obj/$(compiler)-replay/all.flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(replay_flags) $(werror) -Isrc/recorder -MMD -MP -c -o $@ $<
replay_common := $(BUILD)/test/fuzz/replay.o $(replay_archive)
$(replays): $(BUILD)/test/fuzz/replay_%: $(BUILD)/test/fuzz/fuzz_%.o $(replay_common)
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(replay_flags) -o $@ $< $(replay_common) $(tool_libs)

$(fuzzers): $(BUILD)/test/fuzz/fuzz_%: test/fuzz/fuzz_%.c $(fuzz_archive)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(fuzz_flags) -Isrc/recorder -fsanitize=fuzzer -MMD -MP -MF $@-fuzzer.d -o $@ \
	    $< $(fuzz_archive) $(tool_libs)

intercepted := shim unload rlimit_interposed
# harness-rules CONFIG,SANITIZER FLAGS: the intercepted functions get the prefix tap_, so that they
# do not clash with the functions of the program and the sanitizer.
define harness-rules
$(BUILD)/test/harness/$(1)/%.o: test/harness/%.c $(BUILD)/obj/$(compiler)-harness-$(1)/all.flags
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(harness_flags) $(2) $$(werror) -MMD -MP -c -o $$@ $$<
$(BUILD)/test/harness/$(1)/tap_%.o: \
        $(BUILD)/obj/$(compiler)-harness-$(1)/recorder/entry/%.o test/abi/exported.txt
	@mkdir -p $$(@D)
	@sed -n 's/^[^#].*/& tap_&/p' test/abi/exported.txt >$$@.names
	$$(Q)objcopy --redefine-syms=$$@.names $$< $$@
$(BUILD)/test/harness/harness_$(1): \
        $(patsubst test/harness/%.c,$(BUILD)/test/harness/$(1)/%.o,$(harness_mains)) \
        $(intercepted:%=$(BUILD)/test/harness/$(1)/tap_%.o) \
        $(filter-out $(intercepted:%=\%/%.o),$(call harness_objects,$(1)))
	$$(call say,TEST,$$@)
	$$(Q)$$(CC) $(2) -Wl,--wrap=sys_gettid,--wrap=sys_tgkill -o $$@ $$^ -lzstd -ldl -lm -lpthread
$(BUILD)/test/harness/own_$(1): \
        $(BUILD)/test/harness/$(1)/own_harness.o $(BUILD)/test/harness/$(1)/harness_heap.o \
        $(BUILD)/test/harness/$(1)/harness_valid.o \
        $(intercepted:%=$(BUILD)/test/harness/$(1)/tap_%.o) \
        $(filter-out $(intercepted:%=\%/%.o),$(call harness_objects,$(1)))
	$$(call say,TEST,$$@)
	$$(Q)$$(CC) $(2) -Wl,--wrap=sys_gettid,--wrap=sys_tgkill -o $$@ $$^ -lzstd -ldl -lm -lpthread
endef

harness_mains := $(wildcard test/harness/harness*.c)
harness_plugin := $(BUILD)/test/harness/libharness_plugin.so
harnesses := $(if $(harness_mains),$(harness_plugin) \
                 $(BUILD)/test/harness/harness_memory $(BUILD)/test/harness/harness_thread \
                 $(BUILD)/test/harness/own_memory $(BUILD)/test/harness/own_thread)
$(eval $(call harness-rules,memory,$(memory_flags)))
$(eval $(call harness-rules,thread,$(call san_flags,thread)))

$(harness_plugin): test/harness/libharness_plugin.c $(BUILD)/test.flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_flags) -O1 -g -fPIC -shared -fno-optimize-sibling-calls -o $@ $<

# bench/NAME.c and NAME.cc become build/bench/bin/NAME; each program is linked with all shared
# objects.
bench_shared := bench/descent.c
bench_mains := $(filter-out $(bench_shared),$(wildcard bench/*.c))
bench_in_c := $(bench_mains:bench/%.c=$(BUILD)/bench/bin/%)
bench_in_cxx := $(patsubst bench/%.cc,$(BUILD)/bench/bin/%,$(wildcard bench/*.cc))
bench_programs := $(bench_in_c) $(bench_in_cxx)
$(bench_in_c): $(BUILD)/bench/bin/%: bench/%.c $(bench_shared) bench/descent.h \
                                         $(BUILD)/test.flags
	$(call say,BENCH,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(base_flags) $(werror) -O2 -g -o $@ $< $(bench_shared) -lpthread
$(bench_in_cxx): $(BUILD)/bench/bin/%: bench/%.cc $(BUILD)/test.flags
	$(call say,BENCH,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(prog_flags) $(prog_cxx_flags) $(werror) -o $@ $< -lpthread

# Programs like a user's, built with the public header alone.
examples := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))
example_flags := -O2 -g -Wall -Wextra -Iinclude
$(examples): $(BUILD)/%: %.c $(BUILD)/test.flags
	$(call say,PROG,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(example_flags) $(werror) -MMD -MP -MF $@.d $(call directive,cflags) -o $@ $< \
	    $(call directive,libs)

examples: all $(examples)

# Kinds of programs that test/runner/needs.py requests as a whole.
oracle-programs: $(oracle) $(oracle_tools)
harness-programs: $(harnesses)
counter-programs: $(counters)
bench-programs: all $(bench_programs)

programs: oracle-programs harness-programs counter-programs bench-programs \
          $(unit_tests) $(progs) $(prog_libs) $(unwind_diff) $(examples) \
          $(fault_tools) $(interrupters) $(replays)

# These steps are separate, because pkg-config finds only packages that an earlier step has
# installed. With ONLY, the matching jobs determine the packages and the programs.
drive := python3 test/runner/drive.py --out $(OUT) --build $(BUILD) --only '$(ONLY)'
test:
	@tools/setup build $(if $(ONLY),unit,unit test)
ifneq ($(ONLY),)
	@targets=$$($(drive) --needs) && \
	case " $$targets " in *" all "*) tools/setup test ;; esac && \
	$(MAKE) --no-print-directory $$targets
else
	@$(MAKE) --no-print-directory programs
endif
	@$(drive)

roots:
	@tools/setup roots
	@tools/roots --dir $(ROOTS_DIR) $(if $(SHORT),--short) $(if $(DEVELOPER),--developer) $(ROOTS)

scopes:
	@GLIBC='$(GLIBC)' GLIBC_DIR='$(BUILD)/glibc' tools/setup build unit test glibc
	@$(MAKE) --no-print-directory scope-programs
	@python3 test/runner/drive.py --out $(OUT) --build $(BUILD) --only '^run/scopes$$'; \
	    status=$$?; cat $(BUILD)/scopes-*.txt; exit $$status

scope-programs: all $(progs) $(prog_libs)

torture:
	@tools/setup build torture
	@$(MAKE) --no-print-directory all oracle-programs
	@python3 test/torture/torture.py --out $(OUT) --build $(BUILD) --only '$(ONLY)'

foreign:
	@tools/setup build foreign
	@$(MAKE) --no-print-directory all counter-programs oracle-programs
	@python3 test/torture/torture.py --group foreign --jobs $$(nproc) --out $(OUT) \
	    --build $(BUILD) --only '$(ONLY)'

bench:
	@tools/setup build bench
	@$(MAKE) --no-print-directory bench-programs
	@python3 bench/bench.py --out $(OUT) --build $(BUILD) --scope '$(or $(BENCH),quick)' \
	    --only '$(ONLY)' --tools '$(TOOLS)' --rounds '$(or $(ROUNDS),$(N),0)' --compiler '$(CC)' \
	    --before '$(BEFORE)'

check: all
	@tools/tidy --build $(BUILD)

lint:
	@tools/lint

fuzz: $(fuzzers)
	@for name in $(fuzz_names); do \
	    mkdir -p $(BUILD)/fuzz/$$name test/fuzz/corpus/$$name; \
	    echo "fuzzing $$name for $(FUZZ_SECONDS) s"; \
	    $(BUILD)/test/fuzz/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
	        -malloc_limit_mb=4096 -verbosity=0 -artifact_prefix=$(BUILD)/fuzz/$$name- \
	        $(BUILD)/fuzz/$$name test/fuzz/corpus/$$name || exit 1; \
	done

fuzz-merge: $(fuzzers)
	@for name in $(fuzz_names); do \
	    mkdir -p $(BUILD)/fuzz/$$name; \
	    python3 test/fuzz/merge.py --fuzzer $(BUILD)/test/fuzz/fuzz_$$name \
	        --found $(BUILD)/fuzz/$$name --corpus test/fuzz/corpus/$$name || exit 1; \
	done

$(covers): $(BUILD)/test/fuzz/cover_%: test/fuzz/fuzz_%.c test/fuzz/replay.c $(cover_archive)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(cover_flags) -Isrc/recorder -o $@ $< test/fuzz/replay.c $(cover_archive) \
	    $(tool_libs)

fuzz-coverage: $(covers)
	@python3 test/fuzz/coverage.py --programs $(BUILD)/test/fuzz \
	    --llvm-cov $(subst clang,llvm-cov,$(CLANG)) \
	    --llvm-profdata $(subst clang,llvm-profdata,$(CLANG)) $(fuzz_names)
