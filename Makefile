# Turnstile: `make help` lists the targets and the options.

VERSION := 0.2.0

CXX ?= g++
# What was compiled once, with the same flags, is not compiled again. Other folders share it too.
CACHED := $(shell command -v ccache)
PYTHON ?= /usr/bin/python3
SANITIZE ?=
FUZZ_SECONDS ?= 60
TIDY_NODES ?= 20000
FUZZ_SEED ?= 0
BUILD := build$(if $(SANITIZE),/$(SANITIZE))

# UNITY=1 compiles each folder of sources as one file, in a third of the CPU time, but an edit compiles all of its folder
# again. It is set where nobody edits yet: for everything but `make`, until `make` has compiled each file alone in this
# folder. The objects of both modes lie apart.
LINKED_FROM := $(file <$(BUILD)/linked-from)
ifneq ($(filter-out $(if $(filter 0,$(MAKELEVEL)),all),$(MAKECMDGOALS)),)
UNITY ?= $(if $(filter files,$(LINKED_FROM)),,1)
endif
AREA := $(BUILD)$(if $(UNITY),/unity)

# What make setup-dev has installed.
export PATH := $(PATH):$(CURDIR)/build/tools/bin
needs = $(Q)command -v $(1) >/dev/null || { echo '$@: there is no $(1) here; make setup-dev installs it' >&2; exit 1; }
# V=1 shows each command instead of a short line for it.
Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)")
PROGRAMS := authserver fileserver loadgen
PEERS := two_hop event_hop auth_service paced durable_put ftp_bare one_get

PACKAGES := fmt spdlog libsodium libssl libcrypto libseccomp sqlite3 expat zlib hiredis mysqlclient
CXXFLAGS ?= -O2 -g$(if $(UNITY),1)
# Warnings are errors only where WERROR is set, as in CI. A newer compiler with new warnings must not break the build.
# A switch that misses a value of its enumeration is always one: it names each place that a new value needs.
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -Werror=switch $(if $(WERROR),-Werror)
override CPPFLAGS += -I. -Ilib -I$(AREA)/generated -MMD -MP
override CPPFLAGS += $(patsubst -I%,-isystem%,$(shell pkg-config --cflags $(PACKAGES) 2>/dev/null))
override CXXFLAGS += -std=c++20 -pthread -fno-omit-frame-pointer $(WARNINGS)
# All functions are found when a program starts. When they are found at their first call instead, the registers are put
# on the stack then, and with them a part of a password.
override LDFLAGS += -Wl,-z,relro,-z,now
override LDLIBS += $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lboost_context
ifneq ($(findstring clang,$(CXX)),)
override CXXFLAGS += -Wthread-safety
endif
ifeq ($(SANITIZE),address)
override CPPFLAGS += -DTURNSTILE_SANITIZE_ADDRESS
override CXXFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined
# With this sanitizer, g++ 12 warns about uninitialised memory in the <regex> that Catch2 includes.
override CXXFLAGS += $(if $(findstring clang,$(CXX)),,-Wno-maybe-uninitialized)
endif
ifeq ($(SANITIZE),thread)
override CPPFLAGS += -DTURNSTILE_SANITIZE_THREAD
override CXXFLAGS += -fsanitize=thread
endif

BUILD_FLAGS := $(filter-out -W% -I%,$(CXXFLAGS))

sources_of = $(wildcard $(1)/*.cpp $(1)/*/*.cpp $(1)/*/*/*.cpp)
SOURCES := $(foreach p,lib $(PROGRAMS) lab/delay_line,$(call sources_of,$(p)))
# With UNITY=1 the object of a source is that of its folder, unless it is compiled alone even so.
COMPILED_ALONE := %/main.cpp lib/flags/parse.cpp lib/flags/commit.cpp
folders_of = $(patsubst %/,%,$(sort $(dir $(filter-out $(COMPILED_ALONE),$(1)))))
objects_of = $(patsubst %.cpp,$(AREA)/objects/%.o,$(if $(UNITY),$(filter $(COMPILED_ALONE),$(1)) $(addsuffix .cpp,$(folders_of)),$(1)))

# All unit tests are one program. It is linked with the library and with all of each program but its main.cpp. For T='[net]'
# it is another program, of the test files that have the tag, and of the programs that these test.
UNIT_TESTS := $(wildcard tests/*.cpp tests/lib/*/*.cpp) $(foreach p,$(PROGRAMS) lab,$(call sources_of,tests/$(p)))
UNIT_PROGRAM := $(BUILD)/unit_tests
UNIT_TESTED := $(PROGRAMS) lab
comma := ,
TAGS := $(and $(filter unit,$(MAKECMDGOALS)),$(filter 1,$(words $(T))),$(filter [%],$(T)),$(sort $(subst ~, ,$(subst $(comma), ,$(subst ], ,$(subst [, ,$(T)))))))
ifneq ($(TAGS),)
TAGGED := $(shell grep -lE $(foreach tag,$(TAGS),-e '"[^"]*\[$(tag)\]') $(UNIT_TESTS))
$(if $(TAGGED),,$(error make unit: no unit test has the tag $(T)))
UNIT_PROGRAM := $(UNIT_PROGRAM)-$(subst $() ,-,$(TAGS))
UNIT_TESTED := $(foreach p,$(UNIT_TESTED),$(if $(filter tests/$(p)/%,$(TAGGED)),$(p)))
UNIT_TESTS := $(TAGGED) $(filter-out %_test.cpp,$(filter tests/main.cpp $(UNIT_TESTED:%=tests/%/%),$(UNIT_TESTS)))
endif

# authserver/passwords/hash_memory.h keeps the memory that libsodium.a maps. The sanitizers have a mmap of their own.
SODIUM := $(if $(SANITIZE),,$(wildcard $(shell pkg-config --variable=libdir libsodium 2>/dev/null)/libsodium.a))
ifneq ($(SODIUM),)
override CPPFLAGS += -DTURNSTILE_HASH_MEMORY
$(BUILD)/authserver $(if $(filter authserver,$(UNIT_TESTED)),$(UNIT_PROGRAM)): override LDLIBS := \
  $(patsubst -lsodium,$(SODIUM),$(LDLIBS)) -Wl,--wrap=mmap,--wrap=munmap
endif

##@ Build
all: $(addprefix $(BUILD)/,$(PROGRAMS) lab/delay_line) ## build the programs: build/authserver, build/fileserver, build/loadgen

peers: $(addprefix $(BUILD)/peers/,$(PEERS) durable_rename.so) ### build the bare programs that make bench compares with

setup: ## install the packages that building needs, if any is missing (apt)
	@scripts/setup build

setup-dev: ## install what make test and make check need, and ruff and mypy into build/tools
	@scripts/setup test lint
	@$(MAKE) --no-print-directory build/tools/installed

# The linters of Python, in the versions that define the format.
build/tools/installed:
	$(call say,install ruff and mypy)
	$(Q)$(PYTHON) -m venv build/tools && \
	  build/tools/bin/pip install --quiet --disable-pip-version-check ruff==0.17.6 mypy==2.4.1 && touch $@

compile_commands.json: always ### write how each file is compiled, for clangd and other tools
	$(Q){ comma='['; for source in $(SOURCES) $(UNIT_TESTS); do printf '%s\n{"directory": "%s", "file": "%s", "command": "%s -c %s"}' \
	  "$$comma" '$(CURDIR)' $$source '$(CXX) $(filter-out -MMD -MP,$(CPPFLAGS)) $(CXXFLAGS)' $$source; comma=,; done; printf '\n]\n'; } >$@

help: ## show this list
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9_.-]+:.*[^#]## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile
	@printf '\nmake help-all lists those for maintainers, and the options.\n'

help-all: ## show all targets and the options
	@awk -F ':.*###* ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9_.-]+:.*## / { printf "  make %-21s %s\n", $$1, $$2 }' Makefile
	@printf '\nOptions\n'; printf '  %-28s %s\n' V=1 'show each command' \
	  CXX=clang++ 'use another compiler' WERROR=1 'treat warnings as errors' \
	  UNITY=1 'compile each folder as one file, in a third of the time from nothing; UNITY= compiles each file alone' \
	  'SANITIZE=address|thread' 'build into build/address or build/thread with this sanitizer' \
	  "T='[net]', T=idle" 'run only these tests (unit; e2e and the other Python tests, by a part of their file names)' \
	  STORE=NAME 'the store of make bench, as in authserver --store (sqlite)' FUZZ_SECONDS=N 'how long make fuzz runs, for each parser ($(FUZZ_SECONDS))' \
	  FUZZ_SEED=N 'what its random inputs begin with; 0 is another each time ($(FUZZ_SEED))'

clean: ## remove build/
	rm -rf build compile_commands.json

##@ Use
demo: setup ## install, build, start everything with SQLite, measure it, stop it
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) scripts/demo

try: setup ## build, serve a folder to your browser with an account of its own, until Ctrl-C; DIR=FOLDER serves this one, TLS=1 by HTTPS
	@$(MAKE) --no-print-directory -j$(shell nproc) $(BUILD)/authserver $(BUILD)/fileserver
	@$(PYTHON) scripts/try $(if $(TLS),--tls) $(if $(DIR),'$(DIR)')

bench: ## measure the promised speeds, as ratios within one run; T="NAME ..." only these promises; BEFORE=BUILD against that build
	@scripts/setup bench && $(MAKE) --no-print-directory -j$(shell nproc) all peers
	@$(PYTHON) scripts/bench --store $(or $(STORE),sqlite) $(if $(BEFORE),--before '$(BEFORE)') $(T)

bench-scale: ### measure and draw how cost grows with cores, connections, files, accounts; T=... only these
	@scripts/setup lab && $(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) scripts/bench-scale $(T)

profile: ### profile the fileserver's instructions with callgrind
	@scripts/setup lab && $(MAKE) --no-print-directory -j$(shell nproc) all
	@scripts/lab run figure3 --quick

KEPT_RESULTS = $(sort $(dir $(wildcard docs/results/*/recorded.zip)))
results: ### render docs/results into build/results: report.html, figures, profile
	@for folder in $(KEPT_RESULTS); do \
	  out=build/results/$$(basename $$folder); rm -rf $$out; mkdir -p build/results; cp -r $$folder $$out; \
	  (cd $$out && $(PYTHON) -m zipfile -e recorded.zip . && rm recorded.zip); \
	  scripts/lab report $$out || exit 1; \
	done

results-summary: results ### rewrite each docs/results/*/summary.md, with its figures, from the points beside it
	@for folder in $(KEPT_RESULTS); do \
	  made=build/results/$$(basename $$folder); cp $$made/summary.md $$folder; \
	  rm -rf $$folder/figures; mkdir $$folder/figures; \
	  for figure in $$(grep -o 'figures/[^)]*svg' $$folder/summary.md); do cp $$made/$$figure $$folder/figures/; done; \
	done

##@ Install
.PHONY: install uninstall deb release
# Where the files belong: make install PREFIX=/usr DESTDIR=/tmp/package
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=
packaging = PREFIX='$(PREFIX)' SYSCONFDIR='$(SYSCONFDIR)' DESTDIR='$(DESTDIR)' BUILD='$(BUILD)' packaging

install: all ## copy programs, units, man pages and settings below PREFIX (/usr/local); docs/install.md
	@$(packaging)/install install

uninstall: ## remove them again; changed settings, accounts, logs and served files stay
	@$(packaging)/install uninstall

deb: ## make build/turnstile_VERSION_ARCHITECTURE.deb from the same files
	@$(MAKE) --no-print-directory all
	@BUILD='$(BUILD)' VERSION='$(VERSION)' packaging/deb

release: ### make the release of HEAD in build/release: .deb and SBOM of each distribution, sources, checksums (needs Docker)
	@packaging/release

##@ Check
quick: ## after an edit: the format of what changed, its unit tests, the other tests that concern it
	@$(PYTHON) tests/quick

test: ## install what is missing, build, run all tests
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) test-programs
	@BUILD=$(BUILD) PYTHON=$(PYTHON) tests/run-all

# Each push compiles the unit tests on Debian 12; a bare Debian 13 has them in make full.
test-programs: all $(if $(SANITIZE),,peers) $(if $(filter bare,$(TURNSTILE_GATE)),,$(UNIT_PROGRAM)) ### build what make test runs

unit: $(UNIT_PROGRAM) ## unit tests, all or those of a Catch2 tag: make unit T='[net]'
	$(Q)$(UNIT_PROGRAM) $(if $(T),'$(T)')

e2e: ## end-to-end tests, all or those of some files: make e2e T=idle
test-stores: ## tests of the scripts and programs on real database servers; T=... as above
test-scripts: ## tests of the scripts; T=... as above, on the programs that are built
test-lab: ## tests of the lab; T=... as above, on the programs that are built
test-docs: ## paste the commands of all pages into a shell, and look up each flag; T=... as above
e2e test-stores test-scripts test-lab test-docs:
	$(if $(T),$(Q)$(PYTHON) tests/run_unittests.py --list tests/$(subst test-,,$@) $(T) >/dev/null)
	$(if $(and $(T),$(filter test-scripts test-lab,$@)),,$(Q)$(MAKE) --no-print-directory all peers)
	$(Q)TURNSTILE_BUILD='$(CURDIR)/$(BUILD)' $(PYTHON) tests/run_unittests.py tests/$(subst test-,,$@) $(T)

test-list: ## list the files of Python tests; T=PART only those with this in their names
	$(Q)$(PYTHON) tests/run_unittests.py --list $(addprefix tests/,e2e model stores scripts lab torture docs course) $(T) | sort

lab-proof: ### how often the lab is right about simulated systems whose answers are known; SEEDS=N of each
	@PYTHONPATH=.:tests/lab $(PYTHON) -m simulated.proof $(if $(SEEDS),--seeds $(SEEDS))

course-proof: all ### grade a class of forty made-up students and compare their marks with the expected ones; GAIN=1 also measures
	@PYTHONPATH=tests/course $(PYTHON) tests/course/proof.py $(if $(GAIN),--gain)

judges: ### clients, linters and attackers that others wrote judge the HTTP front; T=test_curl only these
	@scripts/setup judges
	@$(MAKE) --no-print-directory -j$(shell nproc) all build/judges/installed
	$(Q)TURNSTILE_BUILD='$(CURDIR)/$(BUILD)' $(PYTHON) tests/run_unittests.py --jobs 2 tests/judges $(T)

pictures: all ### take the pictures in docs/pictures again, with Chromium
	@scripts/setup judges
	$(Q)$(PYTHON) tests/judges/take_pictures.py

# Their tests are skipped where pip cannot install them.
build/judges/installed: tests/judges/requirements.txt
	$(call say,install the judges of $<)
	$(Q)$(PYTHON) -m venv --clear build/judges && build/judges/bin/python -m pip install --quiet --disable-pip-version-check -r $< && \
	  touch $@ || echo 'judges: not installed: $<'

full: ### the full gate, before a release: every test on every build, containers, fuzzer, mutations (hours, as root)
	@$(PYTHON) tests/gate full

check: check-format check-python shellcheck ## the quick checks: all of the next three; they change nothing

check-format: ## clang-format: C++ is formatted as .clang-format says; and no file has marks of a merge
	$(Q)! git grep -nE '^(<{7}|>{7}) '
	$(call needs,$(CLANG_FORMAT))
	$(Q)$(CLANG_FORMAT) --dry-run --Werror $(CXX_FILES)

check-python: ## ruff and mypy: Python is formatted, follows the rules, and is typed
	$(call needs,ruff)
	$(call needs,mypy)
	$(Q)ruff format --check . && ruff check . && mypy

shellcheck: ## shellcheck: shell scripts have no known mistakes
	$(call needs,shellcheck)
	$(Q)shellcheck $$(git grep -lE '^#!.*(bash|/sh)$$')

tidy: ### clang-tidy, by folders (minutes; not part of make check); TIDY_NODES=225000 looks at more paths through a function, ALONE=1 at each file by itself, SINCE=REV at what changed
	$(Q)printf '%s\n' $(patsubst %/,%,$(sort $(dir $(LOOKED_AT)))) | \
	  CLANG_TIDY=$(CLANG_TIDY) CLANGXX=$(FUZZ_CXX) TIDY_FLAGS='$(TIDY_FLAGS)' xargs -P $(shell nproc) -n 1 tests/tidy

format: ## format C++ with clang-format, and Python with ruff if it is installed
	$(Q)$(CLANG_FORMAT) -i $(CXX_FILES)
	$(Q)! command -v ruff >/dev/null || ruff format --quiet .

torture: ### test the promises with figures, under attack (hours; SHORT=1 minutes; T="one_winner ..." only these)
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) tests/torture/run $(if $(SHORT),--short) $(T)

model: ### clients and somebody who changes the served folder, judged by a model, for SECONDS (600); SEED=N begins with that round
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@TURNSTILE_BUILD='$(CURDIR)/$(BUILD)' $(PYTHON) tests/model/run $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

stalls: ### stop loadgen or its server at random, STALLS=N times (100), and see whom each result blames; SEED=N
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@STALLS=$(or $(STALLS),100) SEED='$(SEED)' $(PYTHON) tests/run_unittests.py tests/e2e test_loadgen_stalls \
	  --build $(BUILD) --limit 100000

kills: ### kill loadgen --channels at random and start it again, KILLS=N times (1000); SEED=N
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@KILLS=$(or $(KILLS),1000) SEED='$(SEED)' $(PYTHON) tests/run_unittests.py tests/e2e test_loadgen_channel_kills \
	  --build $(BUILD) --limit 100000

mutants: ### break the code in one place after the other and see the tests fail (T="NAME ..." only these, SINCE=REV only of what changed, MOST=N)
	@scripts/setup test
	@$(PYTHON) tests/mutants/run $(if $(SINCE),--since $(SINCE)) $(if $(MOST),--most $(MOST)) $(T)

ledger: ### write down all tests that fail by each mutation, for HOURS (4), from where it stopped: tests/ledger.txt
	@scripts/setup test
	@$(PYTHON) tests/mutants/run --ledger --hours $(or $(HOURS),4)

compose-test: ### test docker compose and swarms of one and three nodes (needs Docker)
	@tests/compose/run

memcheck: ### unit tests under valgrind, except those of openat2, which valgrind does not support
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) $(BUILD)/unit_tests
	valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=1 $(BUILD)/unit_tests '~[openat2]~[rlimit]'

fuzz: ### fuzz each parser of input from outside for FUZZ_SECONDS, two at once
	@scripts/setup build lint
	@$(MAKE) --no-print-directory -j2 --output-sync=target $(addprefix fuzz-,$(FUZZED))

# Version 14, that of Debian 12, is preferred, because other versions format differently.
CLANG_FORMAT = $(shell command -v clang-format-14 || echo clang-format)
CLANG_TIDY = $(shell command -v clang-tidy-14 || echo clang-tidy)
TIDY_FLAGS = $(filter-out -MMD -MP,$(CPPFLAGS)) -std=c++20 -Xclang -analyzer-config -Xclang max-nodes=$(TIDY_NODES)
FUZZ_CXX = $(shell command -v clang++-14 || echo clang++)
# The parsers of what comes from outside, each with what it is linked with.
FUZZED := client_lines http_request http_fields password_record accounts_csv config_file http_answer ftp_reply result_json dav_body tls_first_bytes
FUZZED_ftp_reply := $(addprefix loadgen/clients/drivers/,ftp.cpp ftp_reply.cpp)
FUZZED_client_lines := lib/wire/*.cpp
FUZZED_http_request := $(addprefix lib/http/,chunks.cpp fields.cpp request_head.cpp)
FUZZED_LIBS_http_request := -lhttp_parser
FUZZED_http_fields := lib/http/*.cpp lib/wire/*.cpp
FUZZED_dav_body := $(addprefix fileserver/http/dav/,lock_xml.cpp multistatus.cpp property_request.cpp) lib/xml/*.cpp \
  lib/http/*.cpp lib/wire/*.cpp $(addprefix lib/base/,error.cpp utf8.cpp clock.cpp)
FUZZED_password_record := authserver/passwords/scheme.cpp
FUZZED_accounts_csv := authserver/csv.cpp authserver/account_marks.cpp authserver/passwords/scheme.cpp lib/wire/*.cpp
FUZZED_http_answer := $(addprefix loadgen/clients/,drivers/http.cpp drivers/http_answer.cpp upload.cpp) lib/http/path.cpp \
  loadgen/figures/thread_series.cpp lib/wire/request.cpp lib/wire/wish.cpp lib/net/socket_io.cpp lib/tls/*.cpp lib/base/*.cpp
FUZZED_result_json := $(addprefix loadgen/,merge/part.cpp merge/fields.cpp merge/merged.cpp figures/*.cpp config/config.cpp config/numbered.cpp \
  config/crowd.cpp config/decimal.cpp config/share.cpp config/think.cpp cpu.cpp) lib/flags/*.cpp lib/net/address.cpp lib/wire/error_word.cpp lib/base/*.cpp
FUZZED_tls_first_bytes := lib/tls/*.cpp lib/net/socket_io.cpp lib/base/*.cpp
FUZZED_config_file := lib/flags/*.cpp lib/net/address.cpp $(addprefix lib/base/,error.cpp file_io.cpp line_writer.cpp log.cpp text_lines.cpp units.cpp)

# What an earlier run found to be new inputs is tried again. An input that fails is build/fuzz/TARGET-crash-*.
fuzz-%: $(AREA)/generated/version.h $(AREA)/generated/source_commit.h
	@mkdir -p build/fuzz/corpus/$*
	$(Q)$(FUZZ_CXX) $(CPPFLAGS) -std=c++20 -pthread -O1 -g -fsanitize=fuzzer,address,undefined -o build/fuzz/$* \
	  tests/fuzz/$*.cpp $(FUZZED_$*) $(LDLIBS) $(FUZZED_LIBS_$*)
	build/fuzz/$* -seed=$(FUZZ_SEED) -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1 \
	  -artifact_prefix=build/fuzz/$*- build/fuzz/corpus/$* tests/fuzz/seeds/$*

CXX_FILES = $(shell git ls-files '*.h' '*.cpp')

# With SINCE=REV only what differs from that commit, or includes what does.
ifneq ($(filter tidy each-file,$(MAKECMDGOALS)),)
LOOKED_AT := $(if $(SINCE),$(shell $(PYTHON) tests/since.py $(SINCE)),$(filter-out tests/%,$(filter %.cpp,$(CXX_FILES))))
$(if $(filter-out 0,$(.SHELLSTATUS)),$(error what changed since $(SINCE) is not known))
endif
each-file: $(patsubst %.cpp,$(AREA)/objects/%.o,$(filter $(SOURCES),$(LOOKED_AT))) ### compile each file alone, and link nothing; SINCE=REV only what changed

# Programs of both modes have the same place. So they are linked again when the mode is another one.
$(BUILD)/linked-from: always
	+$(Q)mkdir -p $(@D); echo $(if $(UNITY),folders,files) | cmp -s - $@ || echo $(if $(UNITY),folders,files) >$@

define program_rule
$(BUILD)/$(1): $(call objects_of,$(call sources_of,$(1))) $(AREA)/libturnstile.a $(BUILD)/linked-from
	$$(call say,link $$@)
	$(Q)$$(CXX) $$(CXXFLAGS) $$(LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) $$(LDLIBS)
endef
$(foreach program,$(PROGRAMS),$(eval $(call program_rule,$(program))))

# The link with a delay that the lab puts between two network namespaces.
$(BUILD)/lab/delay_line: $(call objects_of,$(call sources_of,lab/delay_line)) $(AREA)/libturnstile.a $(BUILD)/linked-from
	$(call say,link $@)
	$(Q)mkdir -p $(@D); $(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

$(BUILD)/peers/%: bench/peers/%.cpp bench/peers/sockets.h Makefile
	$(call say,build $@)
	$(Q)mkdir -p $(@D); $(CXX) $(CPPFLAGS) $(CXXFLAGS) $(LDFLAGS) -o $@ $<

$(BUILD)/peers/durable_rename.so: bench/peers/durable_rename.c Makefile
	$(call say,build $@)
	$(Q)mkdir -p $(@D); $(CC) -O2 -Wall -Wextra -shared -fPIC -o $@ $< -ldl

$(AREA)/libturnstile.a: $(call objects_of,$(call sources_of,lib))
	$(Q)rm -f $@; ar rcs $@ $^

# Where more than a few files are compiled, each says which of how many it is, and the first one how long all may take.
TOTAL = $(eval TOTAL := $(shell MAKEFLAGS= $(MAKE) -n $(MAKEOVERRIDES) UNITY=$(UNITY) TOTAL=0 V=1 $(MAKECMDGOALS) 2>/dev/null | grep -c ' -c -o '))$(TOTAL)
TENTHS_OF_A_SECOND := $(if $(UNITY),60,15)
many = $(filter-out 0 1 2 3 4 5,$(TOTAL))
announce = $(if $(many),@echo "  $(many) files to compile: about $$(($(many) * $(TENTHS_OF_A_SECOND) / 10 / $(1))) s on $(1) cores")
count = $(eval STARTED += x)$(if $(many),[$(words $(STARTED))/$(many)] )

define compile
$(if $(STARTED),,$(call announce,$(if $(findstring -j,$(MAKEFLAGS)),$(shell nproc),1)))
$(call say,$(count)compile $(1))
$(Q)mkdir -p $(@D); $(CACHED) $(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<
endef

# A change of the Makefile may change the flags, so it rebuilds everything.
$(AREA)/objects/%.o: %.cpp Makefile
	$(call compile,$<)

# With UNITY=1 a folder is one file, which is written again when it has to include others.
included = $(filter-out $(COMPILED_ALONE),$(wildcard $(1)/*.cpp))
listed = $(patsubst "%",%,$(filter "%",$(file <$(AREA)/units/$(1).cpp)))
differs = $(filter-out $(included),$(listed))$(filter-out $(listed),$(included))
ifneq ($(UNITY),)
UNITS := $(call folders_of,$(SOURCES) $(UNIT_TESTS))
$(foreach f,$(UNITS),$(if $(call differs,$(f)),$(eval $(AREA)/units/$(f).cpp: always)))
$(UNITS:%=$(AREA)/units/%.cpp): $(AREA)/units/%.cpp:
	$(Q)mkdir -p $(@D); printf '#include "%s"\n' $(call included,$*) >$@

$(UNITS:%=$(AREA)/objects/%.o): $(AREA)/objects/%.o: $(AREA)/units/%.cpp Makefile
	$(call compile,$*)
endif

# Tests need not be fast. So they compile in half the time, and with a sanitizer in a third of that. Neither need flags be
# parsed fast.
$(AREA)/objects/tests/%.o $(call objects_of,lib/flags/parse.cpp): override CXXFLAGS += -O$(if $(SANITIZE),0,1) -g1

TESTED := $(filter-out %/main.cpp,$(foreach p,$(patsubst lab,lab/delay_line,$(UNIT_TESTED)),$(call sources_of,$(p))))
$(UNIT_PROGRAM): $(call objects_of,$(UNIT_TESTS) $(TESTED)) $(AREA)/libturnstile.a $(BUILD)/linked-from
	$(call say,link $@)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS) $(shell pkg-config --libs catch2-with-main 2>/dev/null)

# What --version prints. A file is only replaced when it changes, for example with other flags. COMMIT=... says it where
# packaging/commit does not know it.
defined = mkdir -p $(@D); new=$@.$$$$; printf '\#define TURNSTILE_%s "%s"\n' $(1) >$$new; \
  if cmp -s $$new $@; then rm $$new; else mv $$new $@; fi
$(AREA)/generated/version.h: always
	+$(Q)$(call defined,VERSION '$(VERSION)' FLAGS '$(BUILD_FLAGS)')
$(AREA)/generated/source_commit.h: always
	+$(Q)$(call defined,COMMIT '$(or $(COMMIT),$(if $(wildcard packaging/commit),$(shell packaging/commit)))')
$(call objects_of,lib/flags/about.cpp lib/telemetry/server_metrics.cpp): $(AREA)/generated/version.h
$(call objects_of,lib/flags/commit.cpp): $(AREA)/generated/source_commit.h

# The schema of each SQL store as a C++ string, which the authserver runs when it starts.
SCHEMAS := $(patsubst sql/%.sql,%,$(wildcard sql/*.sql))
$(AREA)/generated/sql/%.h: sql/%.sql
	@mkdir -p $(@D); name=$$(echo $* | sed 's/./\U&/'); \
	{ printf 'namespace sql {\ninline constexpr char k%s[] = R"sql(\n' $$name; cat $<; printf ')sql";\n}\n'; } >$@
$(foreach s,$(SCHEMAS),$(eval $(call objects_of,authserver/stores/$(s)_store.cpp): $(AREA)/generated/sql/$(s).h))

# The style sheet and the scripts of the pages as C++ strings, without comments and the blanks in front of lines. Each
# has an address that is another one for other bytes. A page with a script has the common one before its own.
PAGE := fileserver/http/page
COMMON_SCRIPT := $(patsubst %,$(PAGE)/%.js,requests elements session)
SCRIPT := $(patsubst %,$(PAGE)/%.js,listing below shown trash links changes selection drags parts uploads sources start)
ACCOUNT_SCRIPT := $(patsubst %,$(PAGE)/%.js,invitation drop own_account people)
SHOW_SCRIPT := $(PAGE)/show.js
PAGE_FILES := $(AREA)/generated/page/files.h
$(PAGE_FILES): $(PAGE)/page.css $(COMMON_SCRIPT) $(SCRIPT) $(ACCOUNT_SCRIPT) $(SHOW_SCRIPT) Makefile
	@mkdir -p $(@D); put() { version=$$(sha256sum <$(@D)/$$2 | cut -c1-15); \
	  printf 'inline constexpr char k%sAddress[] = "/-/%s?v=%s";\n' $$1 $$2 $$version; \
	  printf 'inline constexpr long long k%sVersion = 0x%s;\n' $$1 $$version; \
	  printf 'inline constexpr char k%s[] = R"page(' $$1; cat $(@D)/$$2; printf ')page";\n'; }; \
	join() { echo '"use strict";'; sed 's/^ *//; s/ \/\/ .*//; /^\/\//d; /^$$/d' "$$@"; }; \
	sed -z 's/\/\*[^*]*\*\/\n//g; s/\n */\n/g' $(PAGE)/page.css >$(@D)/page.css; \
	join $(COMMON_SCRIPT) >$(@D)/common.js; join $(SCRIPT) >$(@D)/page.js; join $(ACCOUNT_SCRIPT) >$(@D)/account.js; \
	join $(SHOW_SCRIPT) >$(@D)/show.js; \
	{ echo 'namespace page_files {'; put Style page.css; put CommonScript common.js; put Script page.js; \
	  put AccountScript account.js; put ShowScript show.js; echo '}'; } >$@
$(call objects_of,fileserver/http/page.cpp): $(PAGE_FILES)

# These look at sources that nobody may have compiled.
tidy compile_commands.json: $(AREA)/generated/version.h $(AREA)/generated/source_commit.h $(PAGE_FILES) $(SCHEMAS:%=$(AREA)/generated/sql/%.h)

-include $(shell find $(AREA)/objects $(BUILD)/peers -type f -name '*.d' 2>/dev/null)
.PHONY: always all peers setup setup-dev help help-all clean demo try bench bench-scale profile results results-summary test test-programs unit e2e test-stores test-scripts test-lab test-docs test-list lab-proof course-proof \
  judges pictures check check-format check-python shellcheck tidy each-file format compose-test memcheck fuzz torture model stalls kills mutants ledger quick full
