# The front door: each target installs what it needs, configures, builds and runs. Needs Debian 12
# with root or sudo; elsewhere see cmake/deps. Real build rules are in CMakeLists.txt.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help deps deps-build deps-torch deps-python deps-dev build torch python demo install deb dist uninstall test check soak lint format bench asan tsan tidy fuzz coverage mutations digests planted models clean

# Options of `ostraka swarm`, e.g. make demo DEMO="--attack alie --seed 3"
DEMO ?=
# What such a run promises, with a margin: docs/benchmarks.md, "The demo's target".
DEMO_TARGET ?= 0.93
# More of ctest's options, e.g. make test CTEST="-L unit"
CTEST ?=
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
export DESTDIR
# More of packaging/dist.py's options, e.g. make dist DIST="python3.13 python3.12": wheels with the module for these
DIST ?=
# Seconds for each fuzzer of `make fuzz`.
FUZZ_SECONDS ?= 60

# rapidcheck's seed: fixed here, so that a verdict is about the change and not about luck. A test
# program run by hand draws its own and prints it; `make test RC_PARAMS=` does too.
RC_PARAMS ?= seed=20240601
export RC_PARAMS

# configure-and-build PRESET [TARGETS]
define build_preset
	cmake --preset $(1) --log-level=WARNING
	cmake --build --preset $(1) -j $(JOBS) $(if $(2),--target $(2))
endef
# build_release OPTIONS [TARGETS]: with the trainer module if `make torch` built it, so that both are of one source.
define build_release
	cmake --preset release --log-level=WARNING $(1) $(if $(wildcard build/release/libostraka_torch.so),-DOSTRAKA_WITH_TORCH=ON)
	cmake --build --preset release -j $(JOBS) $(if $(2),--target $(2))
endef
run_tests = ctest --no-tests=error -j $(JOBS) --output-on-failure

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

deps:  ## install the Debian packages that building and testing need
	@cmake/deps build torch python test

deps-build:
	@cmake/deps build

deps-torch:
	@cmake/deps build torch

deps-python:
	@cmake/deps build python

deps-dev:
	@cmake/deps build torch python test dev

build: deps-build  ## the release binary: build/release/ostraka
	$(call build_release)

torch: deps-torch  ## the trainer module of profile tolerant, by libtorch: build/release/libostraka_torch.so
	$(call build_release,-DOSTRAKA_WITH_TORCH=ON)

demo: build  ## eight peers train on real digits, three cheat and are banished; others come and go
	build/release/ostraka swarm --join 1 --intrude 1 --leave 1 --target $(DEMO_TARGET) $(DEMO)

python: deps-python  ## the Python module `ostraka`: build/release/python
	$(call build_release,-DOSTRAKA_PYTHON=ON,ostraka_python)
	@echo 'PYTHONPATH=build/release/python /usr/bin/python3 -c "import ostraka; help(ostraka)"'

install: deps-python  ## into PREFIX (/usr/local), below DESTDIR: program, Python module, manual, systemd unit; the trainer after `make torch`
	$(call build_release,-DOSTRAKA_PYTHON=ON)
	cmake --install build/release --prefix "$(PREFIX)" --strip

deb: deps-torch deps-python  ## Debian packages of the program, its trainer and the Python module: build/release/packages
	$(call build_release,-DOSTRAKA_PYTHON=ON -DOSTRAKA_WITH_TORCH=ON)
	cpack --config build/release/CPackConfig.cmake

dist: deb  ## for other machines, into build/dist: Debian packages, a tarball and wheels for any Linux, SHA256SUMS
	/usr/bin/python3 packaging/dist.py --jobs $(JOBS) $(DIST)

uninstall:  ## remove what `make install` installed
	packaging/uninstall build/release/install_manifest.txt

test: deps  ## what a change must pass: build with checks, lint, tests (but those of tests/soak.txt)
	$(call build_preset,dev)
	python3 tests/lint.py
	@# One test more than cores at once: those of real nodes mostly wait.
	python3 tests/run.py build/dev -j $$(($(JOBS) + 1)) -LE soak $(CTEST)

check: deps  ## the objects and tests of one room alone, e.g. make check ROOM=node/protocol/rules
	@python3 tests/check.py -j $(JOBS) "$(ROOM)"

soak: deps-dev  ## what a release must pass, in parts; begun again it goes on where it stopped (tests/soak.py --list)
	python3 tests/soak.py -j $(JOBS) $(SOAK)

lint: deps  ## layer order, banned constructs, headers that stand alone, formatting
	python3 tests/lint.py

format: deps  ## clang-format every C++ file
	python3 tests/lint.py --format

bench: deps  ## how far aggregation rules are from the speed of memory
	$(call build_preset,bench,ostraka)
	build/bench/ostraka bench aggregation

asan: deps-dev  ## all tests under the address and undefined sanitizers (clang, no libtorch)
	$(call build_preset,asan)
	$(run_tests) --test-dir build/asan -LE soak $(CTEST)

tsan: deps-dev  ## all tests under the thread sanitizer (clang, no libtorch)
	$(call build_preset,tsan)
	$(run_tests) --test-dir build/tsan -LE soak $(CTEST)

tidy: deps-dev  ## clang-tidy on every file but libtorch's
	$(call build_preset,tidy)

fuzz: deps-dev  ## each fuzzer for FUZZ_SECONDS seconds (60), from its corpus
	cmake --preset fuzz --log-level=WARNING -DOSTRAKA_FUZZ_SECONDS=$(FUZZ_SECONDS)
	cmake --build --preset fuzz -j $(JOBS) --target fuzzers
	$(run_tests) --test-dir build/fuzz -L fuzz

coverage: deps-dev  ## which share of the decoders' lines the fuzzers' corpora run: 90 % at least
	$(call build_preset,coverage,fuzzers)
	python3 tests/fuzz/coverage.py build/coverage

mutations: deps  ## damage evidence of real swarms 10,000 times a file: no verifier may believe it (minutes)
	$(call build_preset,release,ostraka)
	OSTRAKA=build/release/ostraka /usr/bin/python3 tests/e2e/evidence_mutations.py
	OSTRAKA=build/release/ostraka OSTRAKA_MUTATIONS=10000 python3 tests/e2e/gradient_proof_test.py

digests: deps-dev  ## build the simulator with g++ and clang++, -O0 to -O3: every run must have one digest (minutes)
	python3 tests/digests.py --jobs $(JOBS)

planted: deps  ## plant one bug for each check and demand that its test fails (minutes)
	python3 tests/planted.py

models: deps  ## search every model of proofs/, the large ones too, with controls that must fail (minutes)
	python3 proofs/spin/check.py
	python3 proofs/spin/check.py --large
	/usr/bin/python3 proofs/smt/thresholds.py

clean:  ## remove everything that was built
	rm -rf build
