# Turnstile: `make help` lists what can be made.

VERSION := 0.2.0

CXX ?= g++
PYTHON ?= /usr/bin/python3
SANITIZE ?=
FUZZ_SECONDS ?= 60
BUILD := build$(if $(SANITIZE),/$(SANITIZE))
PROGRAMS := authserver fileserver loadgen

PACKAGES := fmt spdlog libsodium sqlite3 hiredis mysqlclient
CXXFLAGS ?= -O2 -g
# Errors only where WERROR is set, as in CI: a compiler that we have not met must not stop anybody.
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast $(if $(WERROR),-Werror)
override CPPFLAGS += -I. -Ilib -I$(BUILD)/generated -MMD -MP
override CPPFLAGS += $(patsubst -I%,-isystem%,$(shell pkg-config --cflags $(PACKAGES) 2>/dev/null))
override CXXFLAGS += -std=c++20 -pthread -fno-omit-frame-pointer $(WARNINGS)
override LDLIBS += $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)
ifneq ($(findstring clang,$(CXX)),)
override CXXFLAGS += -Wthread-safety
endif
ifeq ($(SANITIZE),address)
# g++ 12 takes Catch2's use of <regex> for a use of what is not set, but only with this sanitizer.
override CXXFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined -Wno-maybe-uninitialized
endif
ifeq ($(SANITIZE),thread)
override CXXFLAGS += -fsanitize=thread
endif

sources_of = $(wildcard $(1)/*.cpp $(1)/*/*.cpp)
objects_of = $(patsubst %.cpp,$(BUILD)/objects/%.o,$(1))

##@ Build
all: $(addprefix $(BUILD)/,$(PROGRAMS)) ## the programs: build/authserver, build/fileserver, build/loadgen

setup: ## install what building needs (apt), if anything is missing
	@scripts/setup build

help: ## this list
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@printf '\nOptions: SANITIZE=address|thread, CXX=clang++, FUZZ_SECONDS=%s, STORE=sqlite|mysql|redis (bench)\n' $(FUZZ_SECONDS)

clean: ## remove build/
	rm -rf build

##@ Use
demo: setup ## set everything up and show it at work, on the embedded store
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) scripts/demo

bench: ## measure what is promised, as ratios in one run
	@scripts/setup lab && $(MAKE) --no-print-directory -j$(shell nproc) all
	@$(PYTHON) scripts/bench --store $(or $(STORE),sqlite)

profile: ## where the fileserver spends its instructions (callgrind)
	@scripts/setup lab && $(MAKE) --no-print-directory -j$(shell nproc) all
	@scripts/lab run figure3 --quick

##@ Check
test: ## set everything up and run all tests (with SANITIZE=... under a sanitizer)
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) all $(BUILD)/unit_tests
	@BUILD=$(BUILD) PYTHON=$(PYTHON) tests/run-all

compose-test: ## docker compose, and a swarm of one, for real
	@tests/compose/run

memcheck: ## unit tests under valgrind, which knows no openat2
	@scripts/setup test
	@$(MAKE) --no-print-directory -j$(shell nproc) $(BUILD)/unit_tests
	valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=1 $(BUILD)/unit_tests '~[openat2]'

fuzz: ## feed the line parser random bytes for FUZZ_SECONDS
	@scripts/setup build lint
	@mkdir -p build/fuzz
	$(FUZZ_CXX) $(CPPFLAGS) -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -o build/fuzz/client_lines \
	  tests/fuzz/client_lines.cpp lib/wire/*.cpp lib/base/error.cpp
	build/fuzz/client_lines -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1

format: ## clang-format everything
	@$(CLANG_FORMAT) -i $(CXX_FILES)

check-format:
	@$(CLANG_FORMAT) --dry-run --Werror $(CXX_FILES)

tidy: $(BUILD)/generated/version.h $(BUILD)/generated/sql/sqlite.h $(BUILD)/generated/sql/mysql.h ## clang-tidy
	@printf '%s\n' $(filter-out tests/%,$(filter %.cpp,$(CXX_FILES))) | \
	  xargs -P $(shell nproc) -n 4 sh -c '$(CLANG_TIDY) --quiet "$$@" -- $(filter-out -MMD -MP,$(CPPFLAGS)) -std=c++20' tidy

shellcheck: ## shellcheck all shell scripts
	@shellcheck $$(git ls-files | xargs grep -lE '^#!.*(bash|/sh)$$')

# Debian 12's version where it is there: other versions format differently.
CLANG_FORMAT = $(shell command -v clang-format-14 || echo clang-format)
CLANG_TIDY = $(shell command -v clang-tidy-14 || echo clang-tidy)
FUZZ_CXX = $(shell command -v clang++-14 || echo clang++)
CXX_FILES = $(shell git ls-files '*.h' '*.cpp')

##@
define program_rule
$(BUILD)/$(1): $(call objects_of,$(call sources_of,$(1))) $(BUILD)/libturnstile.a
	@echo "  link $$@"; $$(CXX) $$(CXXFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach program,$(PROGRAMS),$(eval $(call program_rule,$(program))))

$(BUILD)/libturnstile.a: $(call objects_of,$(call sources_of,lib))
	@rm -f $@; ar rcs $@ $^

$(BUILD)/objects/%.o: %.cpp
	@mkdir -p $(@D); echo "  compile $<"; $(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

# All unit tests in one program. Everything of ours is linked in, save the programs' own main functions.
UNIT_TESTS := $(wildcard tests/*.cpp tests/lib/*/*.cpp $(foreach p,$(PROGRAMS),tests/$(p)/*.cpp tests/$(p)/*/*.cpp))
TESTED := $(filter-out %/main.cpp,$(foreach p,$(PROGRAMS),$(call sources_of,$(p))))
$(BUILD)/unit_tests: $(call objects_of,$(UNIT_TESTS) $(TESTED)) $(BUILD)/libturnstile.a
	@echo "  link $@"; $(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS) \
	  $(shell pkg-config --libs catch2-with-main 2>/dev/null)

# What --version prints.
$(BUILD)/generated/version.h: Makefile
	@mkdir -p $(@D); printf '#define TURNSTILE_VERSION "%s"\n' '$(VERSION)' >$@
$(BUILD)/objects/lib/flags/parse.o: $(BUILD)/generated/version.h

# The schema of each SQL store, as one string that the authserver runs.
$(BUILD)/generated/sql/%.h: sql/%.sql
	@mkdir -p $(@D); name=$$(echo $* | sed 's/./\U&/'); \
	{ printf 'namespace sql {\ninline constexpr char k%s[] = R"sql(\n' $$name; cat $<; printf ')sql";\n}\n'; } >$@
$(foreach s,sqlite mysql,$(eval $(BUILD)/objects/authserver/stores/$(s)_store.o: $(BUILD)/generated/sql/$(s).h))

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all setup help clean demo bench profile test compose-test memcheck fuzz format check-format tidy shellcheck
