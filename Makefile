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
# What make setup-dev has installed.
export PATH := $(PATH):$(CURDIR)/build/tools/bin
needs = $(Q)command -v $(1) >/dev/null || { echo '$@: there is no $(1) here; make setup-dev installs it' >&2; exit 1; }
# V=1 shows each command instead of a short line for it.
Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)")
PROGRAMS := authserver fileserver loadgen
PEERS := two_hop event_hop auth_service paced durable_put ftp_bare one_get

PACKAGES := fmt spdlog libsodium libcrypto libseccomp sqlite3 expat zlib hiredis mysqlclient
CXXFLAGS ?= -O2 -g
# Warnings are errors only where WERROR is set, as in CI. A newer compiler with new warnings must not break the build.
# A switch that misses a value of its enumeration is always one: it names each place that a new value needs.
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -Werror=switch $(if $(WERROR),-Werror)
override CPPFLAGS += -I. -Ilib -I$(BUILD)/generated -MMD -MP
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

# authserver/passwords/hash_memory.h keeps the memory that libsodium.a maps. The sanitizers have a mmap of their own.
SODIUM := $(if $(SANITIZE),,$(wildcard $(shell pkg-config --variable=libdir libsodium 2>/dev/null)/libsodium.a))
ifneq ($(SODIUM),)
override CPPFLAGS += -DTURNSTILE_HASH_MEMORY
$(BUILD)/authserver $(BUILD)/unit_tests: override LDLIBS := \
  $(patsubst -lsodium,$(SODIUM),$(LDLIBS)) -Wl,--wrap=mmap,--wrap=munmap
endif

sources_of = $(wildcard $(1)/*.cpp $(1)/*/*.cpp $(1)/*/*/*.cpp)
objects_of = $(patsubst %.cpp,$(BUILD)/objects/%.o,$(1))

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

help: ## show this list
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*[^#]## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile
	@printf '\nmake help-all lists those for maintainers, and the options.\n'

help-all: ## show all targets and the options
	@awk -F ':.*###* ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile
	@printf '\nOptions\n'; printf '  %-28s %s\n' V=1 'show each command' \
	  CXX=clang++ 'use another compiler' WERROR=1 'treat warnings as errors' \
	  'SANITIZE=address|thread' 'build into build/address or build/thread with this sanitizer' \
	  "T='[net]', T=idle" 'run only these tests (unit; e2e and the other Python tests, by a part of their file names)' \
	  STORE=NAME 'the store of make bench, as in authserver --store (sqlite)' FUZZ_SECONDS=N 'how long make fuzz runs, for each parser ($(FUZZ_SECONDS))' \
	  FUZZ_SEED=N 'what its random inputs begin with; 0 is another each time ($(FUZZ_SEED))'

clean: ## remove build/
	rm -rf build

##@ Use
demo: setup ## install, build, start everything with SQLite, measure it, stop it
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) scripts/demo

try: setup ## build, serve a folder to your browser with an account of its own, until Ctrl-C; DIR=FOLDER serves this one
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) scripts/try $(if $(DIR),'$(DIR)')

bench: ## measure the promised speeds, as ratios within one run; T="NAME ..." only these promises
	@scripts/setup bench && $(MAKE) --no-print-directory -j$(shell nproc) all peers
	@$(PYTHON) scripts/bench --store $(or $(STORE),sqlite) $(T)

bench-scale: ### measure and draw how cost grows with cores, connections, files, accounts; T=... only these
	@scripts/setup lab && $(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) scripts/bench-scale $(T)

profile: ### profile the fileserver's instructions with callgrind
	@scripts/setup lab && $(MAKE) --no-print-directory -j$(shell nproc) all
	@scripts/lab run figure3 --quick

KEPT_RESULTS = $(sort $(dir $(wildcard docs/results/*/points.csv.gz)))
results: ### render docs/results into build/results: report.html, figures, profile
	@for folder in $(KEPT_RESULTS); do \
	  out=build/results/$$(basename $$folder); rm -rf $$out; mkdir -p build/results; cp -r $$folder $$out; \
	  find $$out -name '*.gz' -exec gunzip -f {} +; scripts/lab report $$out || exit 1; \
	done

results-summary: results ### rewrite each docs/results/*/summary.md, with its figures, from the points beside it
	@for folder in $(KEPT_RESULTS); do \
	  made=build/results/$$(basename $$folder); cp $$made/summary.md $$folder; \
	  rm -rf $$folder/figures; mkdir $$folder/figures; \
	  for figure in $$(grep -o 'figures/[^)]*svg' $$folder/summary.md); do cp $$made/$$figure $$folder/figures/; done; \
	done

##@ Install
.PHONY: install uninstall deb
# Where the files belong: make install PREFIX=/usr DESTDIR=/tmp/package
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=
packaging = PREFIX='$(PREFIX)' SYSCONFDIR='$(SYSCONFDIR)' DESTDIR='$(DESTDIR)' BUILD='$(BUILD)' packaging

install: all ## copy programs, units, man pages and settings below PREFIX (/usr/local); docs/install.md
	@$(packaging)/install install

uninstall: ## remove them again; changed settings, accounts, logs and served files stay
	@$(packaging)/install uninstall

deb: all ## make build/turnstile_VERSION_ARCHITECTURE.deb from the same files
	@BUILD='$(BUILD)' VERSION='$(VERSION)' packaging/deb

##@ Check
test: ## install what is missing, build, run all tests
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) test-programs
	@BUILD=$(BUILD) PYTHON=$(PYTHON) tests/run-all

test-programs: all peers $(BUILD)/unit_tests ### build what make test runs

unit: $(BUILD)/unit_tests ## unit tests, all or those of a Catch2 tag: make unit T='[net]'
	$(Q)$(BUILD)/unit_tests $(if $(T),'$(T)')

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
	$(Q)$(PYTHON) tests/run_unittests.py --list $(addprefix tests/,e2e model stores scripts lab torture docs) $(T) | sort

lab-proof: ### how often the lab is right about simulated systems whose answers are known; SEEDS=N of each
	@PYTHONPATH=.:tests/lab $(PYTHON) -m simulated.proof $(if $(SEEDS),--seeds $(SEEDS))

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

check: check-format check-python shellcheck ## the quick checks: all of the next three; they change nothing

check-format: ## clang-format: C++ is formatted as .clang-format says
	$(call needs,$(CLANG_FORMAT))
	$(Q)$(CLANG_FORMAT) --dry-run --Werror $(CXX_FILES)

check-python: ## ruff and mypy: Python is formatted, follows the rules, and is typed
	$(call needs,ruff)
	$(call needs,mypy)
	$(Q)ruff format --check . && ruff check . && mypy

shellcheck: ## shellcheck: shell scripts have no known mistakes
	$(call needs,shellcheck)
	$(Q)shellcheck $$(git grep -lE '^#!.*(bash|/sh)$$')

tidy: $(BUILD)/generated/version.h $(PAGE_FILES) $(patsubst sql/%.sql,$(BUILD)/generated/sql/%.h,$(wildcard sql/*.sql)) ### clang-tidy (minutes; not part of make check); TIDY_NODES=225000 looks at more paths through a function, ALONE=1 at each file by itself
	$(Q)printf '%s\n' $(patsubst %/,%,$(sort $(dir $(filter-out tests/%,$(filter %.cpp,$(CXX_FILES)))))) | \
	  CLANG_TIDY=$(CLANG_TIDY) CLANGXX=$(FUZZ_CXX) TIDY_FLAGS='$(filter-out -MMD -MP,$(CPPFLAGS)) -std=c++20 \
	  -Xclang -analyzer-config -Xclang max-nodes=$(TIDY_NODES)' xargs -P $(shell nproc) -n 1 tests/tidy

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

mutants: ### break the code in one place after the other and see the tests fail (hours; T="NAME ..." only these)
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) tests/mutants/run $(T)

compose-test: ### test docker compose and swarms of one and three nodes (needs Docker)
	@tests/compose/run

memcheck: ### unit tests under valgrind, except those of openat2, which valgrind does not support
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) $(BUILD)/unit_tests
	valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=1 $(BUILD)/unit_tests '~[openat2]'

fuzz: ### fuzz each parser of input from outside for FUZZ_SECONDS, two at once
	@scripts/setup build lint
	@$(MAKE) --no-print-directory -j2 --output-sync=target $(addprefix fuzz-,$(FUZZED))

# Version 14, that of Debian 12, is preferred, because other versions format differently.
CLANG_FORMAT = $(shell command -v clang-format-14 || echo clang-format)
CLANG_TIDY = $(shell command -v clang-tidy-14 || echo clang-tidy)
FUZZ_CXX = $(shell command -v clang++-14 || echo clang++)
# The parsers of what comes from outside, each with what it is linked with.
FUZZED := client_lines http_request http_fields password_record accounts_csv config_file http_answer ftp_reply result_json dav_body
FUZZED_ftp_reply := $(addprefix loadgen/clients/drivers/,ftp.cpp ftp_reply.cpp)
FUZZED_client_lines := lib/wire/*.cpp
FUZZED_http_request := $(addprefix lib/http/,chunks.cpp fields.cpp request_head.cpp)
FUZZED_LIBS_http_request := -lhttp_parser
FUZZED_http_fields := lib/http/*.cpp lib/wire/*.cpp
FUZZED_dav_body := $(addprefix fileserver/dav/,lock_xml.cpp multistatus.cpp name_printer.cpp property_request.cpp) lib/xml/*.cpp \
  lib/http/*.cpp lib/wire/*.cpp $(addprefix lib/base/,error.cpp utf8.cpp clock.cpp)
FUZZED_password_record := authserver/passwords/scheme.cpp
FUZZED_accounts_csv := authserver/csv.cpp authserver/passwords/scheme.cpp lib/wire/*.cpp
FUZZED_http_answer := $(addprefix loadgen/clients/,drivers/http.cpp drivers/http_answer.cpp upload.cpp) lib/http/path.cpp \
  loadgen/figures/thread_series.cpp lib/wire/request.cpp lib/net/socket_io.cpp lib/base/clock.cpp
FUZZED_result_json := $(addprefix loadgen/,merge/part.cpp merge/fields.cpp merge/merged.cpp figures/*.cpp config/config.cpp config/numbered.cpp \
  config/crowd.cpp config/decimal.cpp config/share.cpp config/think.cpp cpu.cpp) lib/flags/*.cpp lib/net/address.cpp lib/wire/error_word.cpp lib/base/*.cpp
FUZZED_config_file := lib/flags/*.cpp lib/net/address.cpp $(addprefix lib/base/,error.cpp file_io.cpp log.cpp text_lines.cpp units.cpp)

# What an earlier run found to be new inputs is tried again. An input that fails is build/fuzz/TARGET-crash-*.
fuzz-%: $(BUILD)/generated/version.h
	@mkdir -p build/fuzz/corpus/$*
	$(Q)$(FUZZ_CXX) $(CPPFLAGS) -std=c++20 -pthread -O1 -g -fsanitize=fuzzer,address,undefined -o build/fuzz/$* \
	  tests/fuzz/$*.cpp $(FUZZED_$*) $(LDLIBS) $(FUZZED_LIBS_$*)
	build/fuzz/$* -seed=$(FUZZ_SEED) -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1 \
	  -artifact_prefix=build/fuzz/$*- build/fuzz/corpus/$* tests/fuzz/seeds/$*

CXX_FILES = $(shell git ls-files '*.h' '*.cpp')

define program_rule
$(BUILD)/$(1): $(call objects_of,$(call sources_of,$(1))) $(BUILD)/libturnstile.a
	$$(call say,link $$@)
	$(Q)$$(CXX) $$(CXXFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach program,$(PROGRAMS),$(eval $(call program_rule,$(program))))

# The link with a delay that the lab puts between two network namespaces.
$(BUILD)/lab/delay_line: $(call objects_of,$(call sources_of,lab/delay_line)) $(BUILD)/libturnstile.a
	$(call say,link $@)
	$(Q)mkdir -p $(@D); $(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/peers/%: bench/peers/%.cpp bench/peers/sockets.h Makefile
	$(call say,build $@)
	$(Q)mkdir -p $(@D); $(CXX) $(CPPFLAGS) $(CXXFLAGS) $(LDFLAGS) -o $@ $<

$(BUILD)/peers/durable_rename.so: bench/peers/durable_rename.c Makefile
	$(call say,build $@)
	$(Q)mkdir -p $(@D); $(CC) -O2 -Wall -Wextra -shared -fPIC -o $@ $< -ldl

$(BUILD)/libturnstile.a: $(call objects_of,$(call sources_of,lib))
	$(Q)rm -f $@; ar rcs $@ $^

# A change of the Makefile may change the flags, so it rebuilds everything.
$(BUILD)/objects/%.o: %.cpp Makefile
	$(call say,compile $<)
	$(Q)mkdir -p $(@D); $(CACHED) $(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

# Tests need not be fast. So they compile in half the time.
$(BUILD)/objects/tests/%.o: override CXXFLAGS += -O1 -g1

# All unit tests are one program. It is linked with the library and with all of each program but its main.cpp.
UNIT_TESTS := $(wildcard tests/*.cpp tests/lib/*/*.cpp) $(foreach p,$(PROGRAMS) lab,$(call sources_of,tests/$(p)))
TESTED := $(filter-out %/main.cpp,$(foreach p,$(PROGRAMS) lab/delay_line,$(call sources_of,$(p))))
$(BUILD)/unit_tests: $(call objects_of,$(UNIT_TESTS) $(TESTED)) $(BUILD)/libturnstile.a
	$(call say,link $@)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) $(shell pkg-config --libs catch2-with-main 2>/dev/null)

# What --version prints. The file is only replaced when it changes, for example with other flags.
$(BUILD)/generated/version.h: always
	$(Q)mkdir -p $(@D); printf '#define TURNSTILE_%s "%s"\n' VERSION '$(VERSION)' FLAGS '$(BUILD_FLAGS)' >$@.new; \
	  if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(BUILD)/objects/lib/flags/about.o $(BUILD)/objects/lib/telemetry/server_metrics.o: $(BUILD)/generated/version.h

# The schema of each SQL store as a C++ string, which the authserver runs when it starts.
SCHEMAS := $(patsubst sql/%.sql,%,$(wildcard sql/*.sql))
$(BUILD)/generated/sql/%.h: sql/%.sql
	@mkdir -p $(@D); name=$$(echo $* | sed 's/./\U&/'); \
	{ printf 'namespace sql {\ninline constexpr char k%s[] = R"sql(\n' $$name; cat $<; printf ')sql";\n}\n'; } >$@
$(foreach s,$(SCHEMAS),$(eval $(BUILD)/objects/authserver/stores/$(s)_store.o: $(BUILD)/generated/sql/$(s).h))

# The style sheet and the script of the pages as C++ strings, the script without its comments. Each has an address that
# is another one for other bytes.
PAGE := fileserver/http/page
SCRIPT := $(patsubst %,$(PAGE)/%.js,requests elements listing changes uploads sources start)
PAGE_FILES := $(BUILD)/generated/page/files.h
$(PAGE_FILES): $(PAGE)/page.css $(SCRIPT) Makefile
	@mkdir -p $(@D); put() { version=$$(sha256sum <$(@D)/$$2 | cut -c1-15); \
	  printf 'inline constexpr char k%sAddress[] = "/-/%s?v=%s";\n' $$1 $$2 $$version; \
	  printf 'inline constexpr long long k%sVersion = 0x%s;\n' $$1 $$version; \
	  printf 'inline constexpr char k%s[] = R"page(' $$1; cat $(@D)/$$2; printf ')page";\n'; }; \
	cat $(PAGE)/page.css >$(@D)/page.css; sed '/^ *\/\//d; /^$$/d' $(SCRIPT) >$(@D)/page.js; \
	{ echo 'namespace page_files {'; put Style page.css; put Script page.js; echo '}'; } >$@
$(BUILD)/objects/fileserver/http/page_files.o: $(PAGE_FILES)

-include $(shell find $(BUILD)/objects $(BUILD)/peers -type f -name '*.d' 2>/dev/null)
.PHONY: always all peers setup setup-dev help help-all clean demo try bench bench-scale profile results results-summary test test-programs unit e2e test-stores test-scripts test-lab test-docs test-list lab-proof \
  judges pictures check check-format check-python shellcheck tidy format compose-test memcheck fuzz torture model stalls kills mutants
