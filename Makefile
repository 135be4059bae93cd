SUITE = suites/macro.toml
PROFILE =
ARGS =
STUDIES = http-clients cherrypy threads-vs-async api-hour wsgi

bin = .venv/bin
own_place = $(bin)/python tests/support/own_place.py

KILLS = 200
HOST_KILLS = 20
SEED = 6
MINUTES = 30

.PHONY: help setup setup-dev run studies test test-all torture torture-hosts robustness validity lint format docs man schemas clean release
.PHONY: first-screen lint-style lint-types lint-pyright setup-environment setup-programs runtimes
.PHONY: compiled-tests
.DEFAULT_GOAL = help

help:
	@echo 'make run      measure a suite: SUITE=$(SUITE) PROFILE= ARGS='
	@echo 'make studies  test the claims of $(STUDIES), and write docs/studies.md'
	@echo 'make test     run all checks and the tests'
	@echo 'make test-all  for maintainers: run make test, then all exhaustive tests'
	@echo 'make torture  kill benchforge at random moments: KILLS=$(KILLS) and MINUTES=$(MINUTES) in each'
	@echo '                 of WAYS="alone network refused turns calibrate serve"; on hosts: torture-hosts'
	@echo 'make torture-hosts  kill what carries runs on several hosts: HOST_KILLS=$(HOST_KILLS) of each kind,'
	@echo '                 SEED=$(SEED) MINUTES=$(MINUTES) for each engine'
	@echo 'make robustness  write docs/robustness.md from the tests of faults'
	@echo 'make validity  write docs/validity.md from the tests of validity'
	@echo 'make lint     run the checks only: style, types, imports, prose'
	@echo 'make format   format the code, and fix faults of style'
	@echo 'make docs     generate the reference from the code, and build docs/_build/html'
	@echo 'make first-screen  write the text and the picture of README.md from RESULT=results/...'
	@echo 'make man      write a man page for each command into docs/_build/man'
	@echo 'make schemas  regenerate schemas/ after a change of an option or a part'
	@echo 'make release  build wheel and source distribution into dist, and install them everywhere'
	@echo 'make setup    prepare .venv and .tools (run and test do it themselves)'
	@echo 'make clean    remove .venv, .tools and caches; results stay'

setup:
	@sh scripts/setup.sh

# Both wait for the network most of the time: at once.
setup-dev:
	@$(MAKE) --no-print-directory --jobs=2 setup-environment setup-programs

setup-environment setup-programs: setup-%:
	@sh scripts/setup.sh dev $*

# What is installed is told on stderr: stdout belongs to benchforge (ARGS=--json).
run:
	@sh scripts/setup.sh >&2
	@$(bin)/benchforge run '$(SUITE)' $(if $(PROFILE),--profile '$(PROFILE)') $(ARGS)

# Scratch folders in memory, where it has room: each start of PostgreSQL copies a thousand files.
in_memory = $$(test -z "$$TMPDIR" && test "$$(stat -f -c %T /dev/shm 2>&1)" = tmpfs && \
	test "$$(df -k --output=avail /dev/shm | tail -n 1)" -gt 4000000 && echo TMPDIR=/dev/shm)

# One that fails does not keep the others from being measured; an interrupt does. A claim that fails
# or has no answer is what is asked for, and told in the page; with PROFILE=quick there is no page.
studies: setup-dev
	@failed=; folder="results/studies-$$(date -u +%Y%m%dT%H%M%SZ)"; for study in $(STUDIES); do \
		env $(in_memory) $(bin)/benchforge run "suites/studies/$$study.toml" --profile '$(or $(PROFILE),claims)' \
			-o "$$folder" $(ARGS) || case $$? in \
			1|4) ;; \
			130|143) echo "interrupted: $$study" >&2; exit 1 ;; \
			*) failed="$$failed $$study" ;; \
		esac; \
	done; \
	[ -z "$$failed" ] || { echo "studies that failed:$$failed" >&2; exit 1; }; \
	[ '$(or $(PROFILE),claims)' = quick ] || $(bin)/python -m docs.generate.studies "$$folder"/*

# Side by side, each worker in a network of its own. Tests that need the network outside run one after
# the other beside them, of the files that have such a test: to collect all takes as long as ten tests.
# What they print comes at the end. Failed tests run once more, alone.
with_network = $$(grep -rl --include='test_*.py' 'mark\.network' tests)
pytest = $(bin)/pytest -q -o cache_dir=.pytest_cache
once_more = $(bin)/python tests/support/once_more.py .pytest_cache
define side_by_side
	@rm -rf .pytest_cache; outside=$$(mktemp) && trap 'rm -f "$$outside"' EXIT; \
		$(pytest)/outside --durations=5 -m 'network and $(1)' $(with_network) >"$$outside" 2>&1 & \
		$(pytest)/inside -n auto --dist worksteal --durations=20 -m 'not network and $(1)'; inside_code=$$?; \
		wait $$!; outside_code=$$?; \
		cat "$$outside"; \
		if [ $$inside_code = 1 ]; then $(once_more)/inside $(own_place); inside_code=$$?; fi; \
		if [ $$outside_code = 1 ]; then $(once_more)/outside; outside_code=$$?; fi; \
		[ $$inside_code = 0 ] && [ $$outside_code = 0 ]
endef

# What the tests need is made beside the checks: it waits for the network, and they compute. pyright
# takes half a minute for the types of the tests, which mypy checks, too: `make lint` and
# `make test-all` have it.
test: export PYRIGHT_OF = benchforge plugins
test: setup-dev
	@$(at_once) runtimes compiled-tests $(lints)
	$(call side_by_side,not exhaustive)

runtimes:
	$(bin)/python tests/support/build_runtimes.py suites/*.toml suites/studies/*.toml

# Once: else each worker compiles all of them.
compiled-tests:
	@PYTHONDONTWRITEBYTECODE= $(bin)/pytest -q -p no:cacheprovider --collect-only >/dev/null 2>&1 || true

test-all: test
	$(bin)/pyright
	$(pytest) -n auto -m 'hypothesis and not exhaustive' --hypothesis-profile=long
	$(call side_by_side,exhaustive)

# The text and the picture of README.md, from a result of a quiet machine.
first-screen: setup-dev
	PYTHONPATH=tests/support $(bin)/python -m docs.generate.first_screen '$(RESULT)'

torture: setup-dev
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
		PYTHONPATH=tests/support \
		$(own_place) $(bin)/python tests/faults/torture.py "$$folder/t" $(KILLS) $(SEED) $(MINUTES) $(WAYS)

# Each kill is a row of a file, from which docs/robustness.md has its table.
torture-hosts: setup-dev
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && code=0 && for engine in ssh dask; do \
		KILLS_CSV="$$folder/kills.csv" PYTHONPATH=tests/support \
			$(own_place) $(bin)/python tests/faults/torture_hosts.py "$$folder/$$engine" $$engine \
			$(HOST_KILLS) $(SEED) $(MINUTES) >"$$folder/$$engine.txt" || code=1; \
		cat "$$folder/$$engine.txt"; \
	done; cp "$$folder/kills.csv" tests/support/faults/kills.csv && exit $$code

robustness: setup-dev
	@seen=$$(mktemp) && trap 'rm -f "$$seen"' EXIT && \
		ROBUSTNESS=$$seen $(bin)/pytest -q tests/faults/test_robustness*.py -k 'not page' && \
		PYTHONPATH=tests/support $(bin)/python -m faults.robustness "$$seen" >docs/robustness.md

validity: setup-dev
	@seen=$$(mktemp) && trap 'rm -f "$$seen"' EXIT && \
		VALIDITY=$$seen $(bin)/pytest -q tests/validity/test_validity*.py && \
		PYTHONPATH=tests/support $(bin)/python -m planted.validity "$$seen" >docs/validity.md

# The two checkers of types take most of the time: both run at once, and each prints as a whole.
lints = lint-types lint-pyright lint-style
at_once = $(MAKE) --no-print-directory --output-sync=target --keep-going --jobs=5
lint: setup-dev
	@$(at_once) $(lints)

lint-style:
	$(bin)/ruff check --quiet .
	$(bin)/ruff format --quiet --check .
	$(bin)/lint-imports --no-logo
	$(bin)/python -m docs.style

lint-types:
	$(bin)/mypy --no-error-summary

lint-pyright:
	$(bin)/pyright $(PYRIGHT_OF)

format: setup-dev
	$(bin)/ruff check --quiet --fix .
	$(bin)/ruff format .

docs: setup-dev
	$(bin)/python -m docs.generate
	$(bin)/sphinx-build -q -W --keep-going -E docs docs/_build/html

man: setup-dev
	@$(bin)/python scripts/man_pages.py docs/_build/man

# Of the last commit. The tests install them in a bare Debian, and with each Python of the machine.
release: setup-dev
	@sh scripts/release.sh dist
	$(pytest) -s tests/end_to_end/test_release.py

# What editors read, and what stands in the first line of each suite here.
schemas: setup-dev
	@for schema in suite result trial summary session ceiling manifest calibration; do \
		$(bin)/benchforge schema $$schema --builtin -o schemas/$$schema.schema.json || exit; \
	done

clean:
	rm -rf .venv .tools dist docs/_build .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache \
		.import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
