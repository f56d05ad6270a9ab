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
folders := include src simulate tools bench device study tests examples
sources = $(shell find $(folders) -name '*.[ch]pp' -o -name '*.[ch]' 2>/dev/null)

.PHONY: setup build demo test test-all lint format report site clean help environment
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

# ALL=1: also what no change since the last full run can have broken. RECORD=FILE: where time went.
test: environment              ## what a change can break: lint, unit tests, both MPIs; minutes
	@$(run) $(if $(ALL),--all) $(if $(RECORD),--record $(RECORD))

# It goes on where it stopped; PART="asan nodes": only these. tests/parts.py lists them.
test-all: environment          ## everything, in parts of at most half an hour: docs/tests.md
	@$(run) --parts $(PART)

test-%: environment            ## the parts of test-all whose names begin so: test-nodes, test-asan
	@$(run) --parts $*

lint: environment              ## format, layers and sizes, spelling, clang-tidy of what changed
	@$(run) --lint

report: needed =
report: environment            ## the papers' rows as one page, build/report/papers.html
	@$(tools)/python -B study/results/report

site: needed = site
site: environment              ## make the documentation site, build/site/index.html
	@rm -rf build/pages && $(tools)/python -B results/table --pages build/pages
	@mkdir -p build/log; log=build/log/site.log; \
	NO_MKDOCS_2_WARNING=1 build/env/site/bin/mkdocs build --strict > $$log 2>&1 || \
	    { cat $$log; exit 1; }; echo "made build/site/index.html"

format: environment            ## format all sources in place
	@$(tools)/clang-format -i $(sources)

clean:                         ## remove what was built; build/env stays
	@find build -mindepth 1 -maxdepth 1 ! -name env -exec rm -rf {} +

help:                          ## this list
	@sed -n 's/^\([a-z%-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

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
