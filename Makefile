# Everything a newcomer types. Needs Python 3.11 or newer, Java 17 or 21, and make; the rest is installed into .venv.
PYTHON ?= python3
ARGS ?=
PROFILE ?=
NAME ?= latency
MINUTES ?= 10
LIBRARIES ?=
# What is installed for the tests; CI adds an extra that is built from C.
TOOLS ?= dev
GROUPS ?=
VERSIONS ?= 4.2.0 4.4.0
# For what is published (docs/publishing.md). No registry is a default.
SOURCE ?=
PUBLISH ?=
IMAGE ?=
VERSION ?=
PLATFORMS ?=
# Doctests are in what is no job, so their modules need not be collected.
ONLY_TESTS := -o testpaths=tests -o addopts="-ra --strict-markers"
# Which files of tests a worker gets is said in tests/conftest.py.
SHARED_OUT := --dist=loadfile --no-loadscope-reorder
WORKERS := --numprocesses=2 $(SHARED_OUT)
STORIES := tests/collectors/kafka/test_share_configs.py tests/collectors/kafka/test_streams_application.py \
	tests/streaming_jobs/jobs/test_connect.py tests/streaming_jobs/jobs/test_share_groups.py
VENV := .venv
RUN := $(VENV)/bin/python
CREATED := $(VENV)/.created
INSTALLED := $(VENV)/.installed
# What the demo needs, and no tools: it starts with a third less.
DEMO_INSTALLED := $(VENV)/.installed-demo
# What doctor needs, and the commands that query a job.
BASE_INSTALLED := $(VENV)/.installed-base
# What builds the site of the documentation, and the files to which its pages link.
SITE_INSTALLED := $(VENV)/.installed-site
SITE_SOURCE := build/site-source
SITE_FILES := README.md CHANGELOG.md CONTRIBUTING.md LICENSE groupwatch.example.toml docs deploy/helm/groupwatch/README.md \
	deploy/helm/groupwatch/values.yaml deploy/systemd tests/detection/told.txt monitor/detection/lag/commit_order.py
# What builds packages is apart from what they are tested with.
PUBLISHING := build/publishing
PUBLISHING_INSTALLED := $(PUBLISHING)/.installed

.DEFAULT_GOAL := help
.PHONY: help doctor demo docs test test-jobs test-long test-systems test-clients test-kafka-versions test-pythons chaos hostile churn churn-kinds incidents skips rollouts autoscaling breaks fuzz fuzz-decoder lint format bench bench-decoding bench-assignors dist chart image clean java

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 28

# A finding (1) is an answer, and no failure of make.
doctor: $(BASE_INSTALLED) ## Look at the groups of your cluster once, and write nothing (ARGS="--bootstrap-server broker1:9092")
	@$(VENV)/bin/groupwatch doctor $(ARGS) || [ $$? -eq 1 ]

demo: java $(DEMO_INSTALLED) ## Start a real Kafka, consumers that go wrong, and groupwatch (ARGS="--port 9500" for another port)
	@exec $(RUN) -m monitor.cli demo $(ARGS)

test: java $(INSTALLED) ## Run the test suite: with a real broker and a real job (eight minutes)
	$(RUN) -m pytest --durations=10 $(if $(PROFILE),--hypothesis-profile=$(PROFILE)) --numprocesses=auto $(SHARED_OUT) $(ARGS)

test-jobs: java $(INSTALLED) ## Run whole jobs on real brokers (scenarios, the demo, chaos, failures), secured brokers, ZooKeeper, Kerberos (half an hour)
	GROUPWATCH_KAFKA_CLASSES=$$($(RUN) -m tests.support.kafka_classes) \
	$(RUN) -m pytest --durations=20 --numprocesses=3 $(SHARED_OUT) $(ONLY_TESTS) -m "jobs and not long" $(ARGS)

test-long: java $(INSTALLED) ## Run the tests that the suite leaves out because they take long (GROUPWATCH_ENDURANCE_MINUTES=120 of them count what leaks)
	$(RUN) -m pytest --hypothesis-profile=nightly --timeout=0 $(ARGS) tests/detection/test_holds_until.py tests/streaming_jobs/recording/test_same_past.py
	$(RUN) -m pytest --durations=10 $(ONLY_TESTS) -m long $(ARGS)

test-systems: java $(INSTALLED) ## Run the tests against real RocketMQ, ZooKeeper, MetaQ and Kafka 0.10 (four minutes; ARGS="-m systems" for all versions and the demo)
	$(RUN) -m pytest --durations=10 $(WORKERS) -m "systems and not long" tests/systems $(ARGS)

test-clients: java $(INSTALLED) ## Churn real groups of the client libraries of Go, Node, Python and Java beside a job (MINUTES=10 LIBRARIES=java,aiokafka)
	GROUPWATCH_CLIENTS_MINUTES=$(MINUTES) GROUPWATCH_CLIENTS_LIBRARIES=$(LIBRARIES) \
	GROUPWATCH_CLIENTS_GROUPS=$(GROUPS) $(RUN) -m pytest -m clients tests/clients $(ARGS)

test-kafka-versions: java $(INSTALLED) ## Run the stories of share, Streams and Connect groups on other versions of Kafka (VERSIONS="4.2.0 4.4.0")
	@for version in $(VERSIONS); do \
		echo "Kafka $$version"; \
		GROUPWATCH_KAFKA_VERSION=$$version $(RUN) -m pytest $(WORKERS) -m broker $(STORIES) $(ARGS) || failed="$$failed $$version"; \
	done; \
	test -z "$$failed" || { echo "Failed with Kafka$$failed" >&2; exit 1; }

test-pythons: ## Run the tests that need no broker, Spark or Java on Python 3.12 and 3.13, where they are (two minutes)
	@$(PYTHON) -m deploy.publishing.pythons $(ARGS)

chaos: java $(INSTALLED) ## Disturb the job and the broker again and again, and compare (ARGS="--seed 7 --kills 20 --others 6")
	$(RUN) -m tests.chaos.run $(ARGS)

hostile: java $(INSTALLED) ## Write hostile records beside healthy groups: they are judged as without (ARGS="--minutes 10 --seed 7")
	$(RUN) -m tests.hostile.run $(ARGS)

churn: java $(INSTALLED) ## Let members of healthy groups come and go: no finding may grow old (ARGS="--minutes 10 --seed 7")
	$(RUN) -m tests.scenarios.churn $(ARGS)

churn-kinds: java $(INSTALLED) ## Do the same with groups of every kind, without a job (ARGS="--minutes 10 --seed 7 --kinds regex faust")
	$(RUN) -m tests.kind_churn.run $(ARGS)

incidents: java $(INSTALLED) ## Stage twelve incidents on real brokers, and keep what a person sees of each (ARGS=build/incidents)
	$(RUN) -m tests.incidents.run $(or $(ARGS),build/incidents)

skips: java $(INSTALLED) ## Let real consumers skip records, or not, and compare with what is told (ARGS="--seed 7 --runs 200")
	$(RUN) -m tests.skips.run $(ARGS)

rollouts: java $(INSTALLED) ## Roll out real groups well and badly, and see whether groupwatch verify --wait tells them apart (ARGS="--runs 12 --only range")
	$(RUN) -m tests.rollouts.run $(ARGS)

autoscaling: java $(INSTALLED) ## Scale real groups by groupwatch and by KEDA's formula at once (ARGS="--load step --variants groupwatch keda-500 --minutes 10")
	$(RUN) -m tests.autoscaling.run $(ARGS)

breaks: java $(INSTALLED) ## Break the code in 60 places and see which tests notice (ARGS="--seed 7 --breaks 20")
	$(RUN) -m tests.breaks.run $(ARGS)

fuzz: java $(INSTALLED) ## Ask Kafka's own assignors about 10,000 random groups each (ARGS="--seed 7 kafka.sticky")
	$(RUN) -m tests.oracle.fuzz $(ARGS)

lint: $(INSTALLED) ## Check style, types and which part imports which
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports

format: $(INSTALLED) ## Put the code into its form
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

fuzz-decoder: $(INSTALLED) ## Decode two million broken records (ARGS="--seed 7 --records 5000000 --formats kinds")
	$(RUN) -m tests.protocol.fuzz $(ARGS)

bench: java $(INSTALLED) ## Measure, into build/bench (NAME=replay, start, idle, latency, latency-lagging, standalone, steady, recording, evaluation, explain-at, pass-groups, pass-wide, scaled, scrape, memory, huge-group, admin-round, doctor, api, page, topic-page, scrape-load)
	$(RUN) -m tests.benchmarks.$(subst -,_,$(NAME)) $(ARGS)

bench-decoding: $(INSTALLED) ## Measure the decoding of the offsets topic (half a minute); prints JSON
	$(RUN) -m tests.benchmarks.decoding

bench-assignors: java $(INSTALLED) ## Measure the assignors beside the originals (six minutes); prints JSON
	$(RUN) -m tests.benchmarks.assignors $(ARGS)

# In a copy of its files, so that links which leave docs/ lead somewhere. A link that leads nowhere fails.
docs: $(SITE_INSTALLED) ## Build a site of the documentation, with a search, into build/site
	@rm -rf $(SITE_SOURCE) && mkdir -p $(SITE_SOURCE)
	@tar -cf - $(SITE_FILES) | tar -xf - -C $(SITE_SOURCE)
	$(RUN) -m properdocs build --strict --config-file properdocs.yml
	@echo "Read it with its search: python3 -m http.server --directory build/site"

dist: $(PUBLISHING_INSTALLED) ## Build and check wheel and sdist, with bills of materials, into build/dist (SOURCE=ADDRESS PUBLISH=INDEX)
	@$(PUBLISHING)/bin/python -m deploy.publishing.distributions $(if $(SOURCE),--source $(SOURCE)) $(if $(PUBLISH),--publish $(PUBLISH))

chart: ## Check and package Helm's chart into build/dist (IMAGE=NAME VERSION=1.2.3 SOURCE=ADDRESS PUBLISH=oci://HOST/PATH)
	@$(PYTHON) -m deploy.publishing.chart $(if $(IMAGE),--image $(IMAGE)) $(if $(VERSION),--version $(VERSION)) \
		$(if $(SOURCE),--source $(SOURCE)) $(if $(PUBLISH),--publish $(PUBLISH))

image: ## Build the image with Docker or Podman (IMAGE=HOST/NAME VERSION=1.2.3 PLATFORMS=linux/amd64,linux/arm64 PUBLISH=yes)
	@$(PYTHON) -m deploy.publishing.image $(if $(IMAGE),--image $(IMAGE)) $(if $(VERSION),--version $(VERSION)) \
		$(if $(PLATFORMS),--platforms $(PLATFORMS)) $(if $(SOURCE),--source $(SOURCE)) $(if $(PUBLISH),--publish)

clean: ## Remove what make installed here (downloaded jars stay in the user's cache)
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# As monitor.java_runtime.find_java looks for it, but before anything is installed. macOS has a java that only says there is none.
java:
	@IFS=:; for folder in "$${JAVA_HOME:-/nowhere}/bin" $$PATH; do \
		"$$folder/java" -version 2>&1 | grep -qE 'version "(17|21)[".+-]' && exit 0; \
	done; \
	echo "groupwatch needs Java 17 or 21, and neither was found in JAVA_HOME or PATH." >&2; \
	echo "Debian or Ubuntu: apt-get install openjdk-17-jre-headless (Debian 13: openjdk-21-jre-headless)" >&2; \
	echo "macOS: brew install openjdk@21, then: export JAVA_HOME=\"\$$(brew --prefix openjdk@21)\"" >&2; \
	exit 1

$(CREATED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "groupwatch needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "Python's venv module is missing. Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Not compiled: Python does that with what is imported, and most of it never is.
$(BASE_INSTALLED): pyproject.toml constraints.txt | $(CREATED)
	@echo "Installing groupwatch without extras into $(VENV): half a minute, 155 MB"
	$(RUN) -m pip install --no-compile --constraint constraints.txt --editable .
	@touch $@

$(SITE_INSTALLED): pyproject.toml constraints.txt | $(CREATED)
	@echo "Installing what builds the site into $(VENV): half a minute, 50 MB beside groupwatch"
	$(RUN) -m pip install --no-compile --constraint constraints.txt --editable '.[docs]'
	@touch $(BASE_INSTALLED) $@

$(DEMO_INSTALLED): pyproject.toml constraints.txt | $(CREATED)
	@echo "Installing groupwatch into $(VENV): about a minute, 1.0 GB, of which 0.5 GB is PySpark"
	$(RUN) -m pip install --no-compile --constraint constraints.txt --editable '.[demo]'
	@touch $(BASE_INSTALLED) $@

$(INSTALLED): pyproject.toml constraints.txt | $(CREATED)
	@echo "Installing groupwatch with its tools into $(VENV): one to two minutes, 1.6 GB, of which 0.5 GB is PySpark"
	$(RUN) -m pip install --no-compile --constraint constraints.txt --editable '.[$(TOOLS)]'
	@touch $(BASE_INSTALLED) $(DEMO_INSTALLED) $@

$(PUBLISHING_INSTALLED): deploy/publishing/tools.txt constraints.txt
	$(PYTHON) -m venv $(PUBLISHING)
	$(PUBLISHING)/bin/python -m pip install --quiet --constraint constraints.txt --requirement deploy/publishing/tools.txt
	@touch $@
