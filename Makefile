# What a developer types; `make help` lists it. The build itself is in CMakeLists.txt, its
# variants in CMakePresets.json, the list of tests in tests/run.py.
#
# MPI=mpich, openmpi, intel, debian-mpich, debian-openmpi, system (the mpicc on PATH), or the path
# of an mpicc, whose build is in a directory named after it (/opt/x/bin/mpicc: opt-x-bin-mpicc).
MPI := mpich
wrapper := $(if $(findstring /,$(MPI)),$(abspath $(MPI)))
variant := $(if $(wrapper),$(subst /,-,$(wrapper:/%=%)),$(MPI))
preset = $(if $(wrapper),system -B build/$* -D MPI_C_COMPILER=$(wrapper),$*)

tools := build/env/tools/bin
run := python3 tests/run.py
sources = $(shell find src include tests examples -name '*.[ch]pp' -o -name '*.[ch]' 2>/dev/null)

.PHONY: build demo test test-unit test-mpi test-mpis test-long test-sanitized test-nodes \
        test-device test-suites test-old test-gluster lint format clean help \
        environment
.PRECIOUS: build/%/build.ninja
.DEFAULT_GOAL := build

build: build-$(variant)        ## build for MPI=mpich (default), openmpi, ...: see README, MPIs

demo: build-mpich build-openmpi ## build with both MPIs and show what Sluice does
	@examples/demo

test: environment              ## lint, unit tests, both MPIs; ends with "N passed, N failed"
	@$(run) build lint unit mpi

test-unit: environment         ## tests without MPI, with the sanitizers
	@$(run) unit

test-mpi: environment          ## tests with both MPIs
	@$(run) build mpi

test-mpis: environment         ## tests with Intel MPI, Debian's MPIs and the standard ABI
	@$(run) mpis

test-long: environment         ## more ranks and repetitions, and "50 of 50": see results/
	@$(run) --long build unit mpi

test-sanitized: environment    ## MPI programs with the sanitizers, both MPIs: see README
	@$(run) sanitized

test-nodes: build-mpich build-openmpi ## tests across 2 and 4 hosts: see docs/nodes.md
	@python3 tests/nodes/run.py || test $$? = 77  # skipped

test-device: build-$(variant)  ## emulated devices against their profiles, by fio: docs/device.md
	@for check in hostile files check; do \
	    python3 tests/device/$$check.py || test $$? = 77 || exit 1; done  # 77: skipped

test-suites: environment       ## real programs' own tests, without and with Sluice: see README
	@python3 tests/suites/run.py

test-old: build-mpich build-openmpi ## tests with system calls refused: see docs/systems.md
	@python3 tests/old/run.py || test $$? = 77  # skipped

test-gluster: build-mpich build-openmpi build-asan ## tests on GlusterFS: see docs/gluster.md
	@python3 tests/gluster/run.py || test $$? = 77  # skipped

lint: environment              ## format, layers and sizes, spelling, clang-tidy
	@$(run) lint

format: environment            ## format all sources in place
	@$(tools)/clang-format -i $(sources)

clean:                         ## remove what was built; build/env stays
	@find build -mindepth 1 -maxdepth 1 ! -name env -exec rm -rf {} +

help:                          ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

environment:
	@setup/environment $(MPI)

# One variant each, of what was set up; all of it, or TARGETS.
build-%: build/%/build.ninja
	@$(tools)/cmake --build build/$* -- --quiet $(TARGETS)

build/%/build.ninja: CMakePresets.json | environment
	@mkdir -p build/log
	@echo "configure build/$*"
	@log=build/log/configure-$*.log; $(tools)/cmake --preset $(preset) > $$log 2>&1 || \
	    { cat $$log; rm -f $@; exit 1; }
	@touch $@
