# Short names for common tasks. Everything else: cmake --list-presets.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
JOBS := $(shell nproc 2>/dev/null || echo 2)
BUILD = cmake --preset $(1) > build/$(1).configure.log || { cat build/$(1).configure.log; exit 1; }; \
        cmake --build --preset $(1) -j $(JOBS) -- --quiet

.PHONY: all demo test bench fuzz install dist docs
all:
	@scripts/bootstrap build
	@mkdir -p build
	@$(call BUILD,release)

demo: all
	@scripts/demo build/release/consm

test:
	@scripts/bootstrap test
	@mkdir -p build
	@scripts/test $(JOBS)

bench: all
	@build/release/consm-bench

fuzz:
	@scripts/fuzz $(FUZZ_SECONDS)

install: all
	@cmake --install build/release --prefix $(PREFIX)

dist:
	@scripts/dist

docs: all
	@scripts/bootstrap docs
	@scripts/docs build/release/consm
