SUITE = suites/macro.toml
PROFILE =
ARGS =
STUDIES = http-clients cherrypy threads-vs-async api-hour wsgi

bin = .venv/bin

KILLS = 200
MINUTES = 30

.PHONY: help setup setup-dev run studies test test-all torture robustness validity lint format docs schemas clean
.DEFAULT_GOAL = help

help:
	@echo 'make run      measure a suite: SUITE=$(SUITE) PROFILE= ARGS='
	@echo 'make studies  test the claims of $(STUDIES), and write docs/studies.md'
	@echo 'make test     run all checks and all tests'
	@echo 'make test-all  run make test, and repeat both commands in fresh clones'
	@echo 'make torture  kill benchforge at random moments: KILLS=$(KILLS) MINUTES=$(MINUTES)'
	@echo 'make robustness  write docs/robustness.md from the tests of faults'
	@echo 'make validity  write docs/validity.md from the tests of validity'
	@echo 'make lint     run the checks only: style, types, imports, prose'
	@echo 'make format   format the code, and fix faults of style'
	@echo 'make docs     generate the reference from the code, and build docs/_build/html'
	@echo 'make schemas  regenerate schemas/ after a change of an option or a part'
	@echo 'make setup    prepare .venv and .tools (run and test do it themselves)'
	@echo 'make clean    remove .venv, .tools and caches; results stay'

setup:
	@sh scripts/setup.sh

setup-dev:
	@sh scripts/setup.sh dev

# What is installed is told on stderr: stdout belongs to benchforge (ARGS=--json).
run:
	@sh scripts/setup.sh >&2
	@$(bin)/benchforge run '$(SUITE)' $(if $(PROFILE),--profile '$(PROFILE)') $(ARGS)

# One that fails does not keep the others from being measured; an interrupt does. A claim that fails
# or has no answer is what is asked for, and told in the page; with PROFILE=quick there is no page.
studies: setup-dev
	@failed=; folder="results/studies-$$(date -u +%Y%m%dT%H%M%SZ)"; for study in $(STUDIES); do \
		$(bin)/benchforge run "suites/studies/$$study.toml" --profile '$(or $(PROFILE),claims)' \
			-o "$$folder" $(ARGS) || case $$? in \
			1|4) ;; \
			130|143) echo "interrupted: $$study" >&2; exit 1 ;; \
			*) failed="$$failed $$study" ;; \
		esac; \
	done; \
	[ -z "$$failed" ] || { echo "studies that failed:$$failed" >&2; exit 1; }; \
	[ '$(or $(PROFILE),claims)' = quick ] || $(bin)/python -m docs.generate.studies "$$folder"/*

# Side by side, each worker in a network of its own; then those that need the one outside.
test: lint
	$(bin)/python tests/support/build_runtimes.py suites/*.toml suites/studies/*.toml
	$(bin)/pytest -q -n auto --dist worksteal tests/end_to_end/test_systems.py
	$(bin)/pytest -q -n auto --dist worksteal -m 'not network and not exhaustive' --ignore=tests/end_to_end/test_systems.py
	$(bin)/pytest -q -m 'network and not exhaustive'

# One after the other: some of these load the machine, or prepare a clone of their own.
test-all: test
	$(bin)/pytest -q -m exhaustive

torture: setup-dev
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
		PYTHONPATH=tests/support \
		$(bin)/python tests/support/own_place.py $(bin)/python tests/faults/torture.py "$$folder/t" $(KILLS) 6 $(MINUTES)

robustness: setup-dev
	@seen=$$(mktemp) && trap 'rm -f "$$seen"' EXIT && \
		ROBUSTNESS=$$seen $(bin)/pytest -q tests/faults/test_robustness*.py -k 'not page' && \
		PYTHONPATH=tests/support $(bin)/python -m faults.robustness "$$seen" >docs/robustness.md

validity: setup-dev
	@seen=$$(mktemp) && trap 'rm -f "$$seen"' EXIT && \
		VALIDITY=$$seen $(bin)/pytest -q tests/validity/test_validity*.py && \
		PYTHONPATH=tests/support $(bin)/python -m planted.validity "$$seen" >docs/validity.md

lint: setup-dev
	$(bin)/ruff check --quiet .
	$(bin)/ruff format --quiet --check .
	$(bin)/mypy --no-error-summary
	$(bin)/pyright
	$(bin)/lint-imports --no-logo
	$(bin)/python -m docs.style

format: setup-dev
	$(bin)/ruff check --quiet --fix .
	$(bin)/ruff format .

docs: setup-dev
	$(bin)/python -m docs.generate
	$(bin)/sphinx-build -q -W --keep-going -E docs docs/_build/html

# What editors read, and what stands in the first line of each suite here.
schemas: setup-dev
	@for schema in suite result trial summary session ceiling calibration; do \
		$(bin)/benchforge schema $$schema --builtin -o schemas/$$schema.schema.json || exit; \
	done

clean:
	rm -rf .venv .tools dist docs/_build .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache \
		.import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
