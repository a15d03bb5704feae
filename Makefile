# The commands for developers and continuous integration. Begin with `make demo` and `make test`.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: help deps deps-test deps-bench deps-interop deps-interop-debian deps-attack deps-faults deps-load deps-monitoring deps-package deps-paths deps-stores deps-checks quick tests flakes search demo test reference conformance mutation lint build bench \
  bench-report bench-instructions profile gates bench-flows bench-growth soak load image interop interop-twice interop-debian observe-diff tls-check check \
  sanitize fuzz attack race search cost complexity faults store-crash stores stores-long path-gate monitoring pages deploy-check install deb package-check documents clean

# Each function has a section of its own, so that the linker leaves out the unused ones and keeps one of several functions
# with the same code. It also leaves out the index of the unwinding tables, which only C++ exceptions need.
STATIC := --configuration release --static-swift-stdlib -Xswiftc -static-executable \
  -Xswiftc -Xfrontend -Xswiftc -function-sections -Xlinker --icf=safe -Xlinker --no-eh-frame-hdr -Xlinker --build-id=sha1
# The counts with which the compiler arranges the code that serves requests (docs/adr/0049).
PROFILE := deploy/proofgate.profdata
BINARY := .build/dist/proofgate

# $(call install,PACKAGES): installs missing packages; needs no root rights if none is missing. `unavailable:` in the
# output means that a package could not be had, which is no fault of the product.
install = @deploy/install-packages $(1)

# The Debian packages by what needs them.
BUILD_PACKAGES := libssl-dev libnghttp2-dev zlib1g-dev libyaml-dev libsqlite3-dev libhiredis-dev
# The tests start Redis servers and sentinels, and a server in Python. They do not use the services of the packages.
TEST_PACKAGES := redis-server redis-sentinel redis-tools python3
LINT_PACKAGES := python3 python3-yaml
BENCH_PACKAGES := nginx wrk haproxy caddy nghttp2-client openssl python3
ATTACK_PACKAGES := slowhttptest zzuf python3
COUNT_PACKAGES := valgrind binutils python3
FAULTS_PACKAGES := strace python3
LOAD_PACKAGES := nginx haproxy wrk util-linux python3
STORES_PACKAGES := redis-server redis-sentinel haproxy nginx wrk strace util-linux python3
MONITORING_PACKAGES := prometheus python3 python3-yaml
PATHS_PACKAGES := nginx apache2-bin haproxy openjdk-17-jdk-headless php-cli nodejs gunicorn libmojolicious-perl python3
DOCUMENTS_PACKAGES := python3 python3-yaml curl openssl
PAGES_PACKAGES := chromium python3 python3-venv ca-certificates
INTEROP_PACKAGES := git git-credential-oauth oidc-agent-cli python3-venv python3-yaml ca-certificates curl openssl \
  libulfius2.7 libiddawc1.1 libhoel1.4 libconfig9 libcbor0.8 liboath0 libldap-2.5-0
# What the packages of LemonLDAP::NG depend on. They would add timers and a configuration to the machine, so they are unpacked
# and not installed.
LEMONLDAP_DEPENDENCIES := perl libapache-session-perl libcache-cache-perl libclass-xsaccessor-perl libclone-perl \
  libconfig-inifiles-perl libcrypt-openssl-rsa-perl libcrypt-openssl-x509-perl libcrypt-rijndael-perl libcrypt-urandom-perl \
  libemail-date-format-perl libhtml-template-perl libio-string-perl libjson-perl libjson-xs-perl liblist-moreutils-perl \
  libmouse-perl libplack-perl libregexp-assemble-perl libstring-random-perl libtext-unidecode-perl liburi-perl libwww-perl

## deps: installs the libraries that the build needs; Swift itself must be installed already
deps:
	@command -v swift >/dev/null || { echo "make: no swift in PATH; install Swift 6.3, see https://www.swift.org/install" >&2; exit 1; }
	$(call install,$(BUILD_PACKAGES))

deps-test: deps
	$(call install,$(TEST_PACKAGES))

deps-bench: deps
	$(call install,$(BENCH_PACKAGES))

deps-attack: deps
	$(call install,$(ATTACK_PACKAGES))

deps-faults: deps
	$(call install,$(FAULTS_PACKAGES))

deps-load: deps
	$(call install,$(LOAD_PACKAGES))

deps-stores: deps
	$(call install,$(STORES_PACKAGES))

# The package also enables a service, which the test does not use.
deps-monitoring: deps
	$(call install,$(MONITORING_PACKAGES))

deps-package: deps
	$(call install,debootstrap dpkg man-db groff-base systemd python3)

deps-paths: deps
	$(call install,$(PATHS_PACKAGES))

deps-interop: deps
	$(call install,$(INTEROP_PACKAGES))
	Tests/Interop/unpack glewlwyd glewlwyd glewlwyd-common

# All that the checks of .ci/run need, at once.
deps-checks: deps
	$(call install,$(sort $(TEST_PACKAGES) $(LINT_PACKAGES) $(BENCH_PACKAGES) $(ATTACK_PACKAGES) \
	  $(COUNT_PACKAGES) $(FAULTS_PACKAGES) $(LOAD_PACKAGES) $(STORES_PACKAGES) $(MONITORING_PACKAGES) $(PATHS_PACKAGES) \
	  $(DOCUMENTS_PACKAGES) $(PAGES_PACKAGES) $(INTEROP_PACKAGES)))
	Tests/Interop/unpack glewlwyd glewlwyd glewlwyd-common

# These servers take a minute to install.
deps-interop-debian: deps-interop
	$(call install,ruby ruby-webrick ruby-doorkeeper ruby-activerecord ruby-sqlite3 $(LEMONLDAP_DEPENDENCIES))
	Tests/Interop/unpack lemonldap-ng liblemonldap-ng-common-perl liblemonldap-ng-handler-perl liblemonldap-ng-portal-perl

## demo: the gateway in front of a legacy server, with an app to click through; HEADLESS=1 runs it without a browser;
##   DEMO_OPTIONS="--device --agent" adds a device and an agent
demo: deps
	swift build --product proofgate
	.build/debug/proofgate demo $(if $(HEADLESS),--headless) $(DEMO_OPTIONS)

## test: all tests; SEED=n repeats the random values of a run, ONLY=regex runs some of the tests (Tests/run explains both)
test: deps-test tests
	Tests/run $(if $(ONLY),--only '$(ONLY)') $(TEST_OPTIONS)

# The program with all tests, and the products.
tests: deps
	swift build --build-tests

## quick: what to run in front of each commit, in three minutes: lint, unit tests, and the tests of the modules that changed
quick: lint tests
	Tests/run --changed --slowest 5
	.build/debug/proofgate demo --headless

## flakes: the tests in random order, and the checks that start servers, RUNS=n times on a busy machine; see Tests/flakes
flakes: RUNS := 20
flakes: deps-checks
	Tests/flakes $(RUNS)

## reference: writes the JSON Schema, the tables of docs/policy.md and docs/cli.md, docs/rules.md and the matrix of the rules
reference: deps
	swift build --build-tests
	PROOFGATE_WRITE_REFERENCE=1 Tests/run --only '^(PolicyFileTests.FormatTests|EnforcementTests.(Rejection|RuleTable)Tests|CLITests.ExitCodeTests)'

## conformance: tests the clauses of docs/conformance.tsv against a running gateway; writes docs/conformance.md
conformance: tests
	Tests/Conformance/run $(CONFORMANCE_OPTIONS)

## mutation: switches off each rule of Enforcement in turn; fails if the tests still pass
mutation: tests
	Tests/Conformance/mutate $(MUTATION_OPTIONS)

## lint: checks the format, the rules of the code base that the compiler does not check, the links of the documents, and that
##   the list of what could end the process is complete (.ci/traps)
lint:
	$(call install,$(LINT_PACKAGES))
	Tests/Documents/run --links
	swift format lint --strict --parallel --recursive Package.swift Sources Tests
	@for script in $$(grep -rlE '^#!/(usr/)?bin/(env )?bash' .ci deploy Tests); do bash -n "$$script"; done
	@.ci/language || { echo "lint: write these sentences in plain English; .ci/language lists the words to avoid" >&2; exit 1; }
	@! grep -rnE '\bTask(\.detached)? *(\(|\{)' Sources --include='*.swift' | grep -v '^Sources/Reactor/' \
	  || { echo "lint: only Reactor may start tasks; others run on the global pool" >&2; exit 1; }
	@! grep -rnE 'Task\.yield|with(Checked|Unsafe)(Throwing)?Continuation' Sources --include='*.swift' \
	  || { echo "lint: tasks must wait with a Waiter, or they resume on the global pool (docs/adr/0007)" >&2; exit 1; }
	@! grep -rnE '\bunsafe [a-zA-Z(_]|@unchecked|nonisolated\(unsafe\)' Sources --include='*.swift' \
	  | grep -vE '^Sources/(Reactor|TLS|HTTP2|Cryptography|YAML|Compression|SQLite|RESP)/|^Sources/ByteText/((Array|OutputSpan)[+]Copying|String[+]ASCII)[.]swift:|^[^:]+:[0-9]+: *//' \
	  || { echo "lint: unsafe code is allowed only in Reactor, TLS, HTTP2, Cryptography, YAML, Compression, SQLite and RESP, and in three files of ByteText (docs/adr/0016)" >&2; exit 1; }
	@! grep -rnE '(Mutex|Locked)<\(*@Sendable' Sources --include='*.swift' \
	  || { echo "lint: a function in a Mutex is wrapped once more at each access; put it into a structure" >&2; exit 1; }
	@! grep -rnE '\btry!|\bas!' Sources Tests --include='*.swift' \
	  || { echo "lint: try! and as! are not allowed" >&2; exit 1; }
	@! grep -rnE '\btry\? ' Sources/Proxy Sources/HTTP1 Sources/HTTP2 Sources/PathReading --include='*.swift' \
	  || { echo "lint: an error of a parser decides here; catch it and say what follows from it" >&2; exit 1; }
	@! grep -rnE '\btry\? .*(clientAuthentication|Parser\.|decoder\.|scanner\.)' Sources/Gateway Sources/OAuth Sources/Enforcement --include='*.swift' \
	  || { echo "lint: a request that cannot be parsed must be refused; do not ignore the error" >&2; exit 1; }
	@# It reads what the debug build wrote.
	@$(MAKE) --no-print-directory tests
	.ci/traps

## build: builds the static binary for release, in .build/dist, and its symbols, in .build/dist/proofgate.debug
build: deps
	@# The package manager does not notice that the profile has changed.
	@if [ $(PROFILE) -nt .build/static ]; then rm -rf .build/static; fi
	swift build $(STATIC) --scratch-path .build/static --product proofgate \
	  -Xswiftc -Xfrontend -Xswiftc -ir-profile-use=$(CURDIR)/$(PROFILE)
	@mkdir -p $(dir $(BINARY))
	@# Not again without need, because another check may run it.
	@if [ ! .build/static/release/proofgate -ot $(BINARY) -o ! -e $(BINARY).debug ]; then deploy/strip .build/static/release/proofgate $(BINARY); fi
	@ls -l $(BINARY) $(BINARY).debug

## check: checks the example policies, runs their cases, and checks that the binary needs only a kernel
check: build
	$(BINARY) check --no-secrets --quiet $(filter-out %.test.yaml,$(wildcard policies/*.yaml)) policies/servers/*.yaml
	$(BINARY) test policies/*.test.yaml
	deploy/check-static $(BINARY)

## image: builds the container image; without Docker, checks its only file instead
image:
	@if docker info >/dev/null 2>&1; then \
	  docker build --file deploy/Dockerfile --tag proofgate .; \
	else \
	  echo "image: Docker does not run here; checking the binary in an empty root directory instead"; \
	  $(MAKE) --no-print-directory build; \
	  deploy/check-static $(BINARY); \
	fi

## install: installs the static binary, man pages and completions below PREFIX (/usr/local); DESTDIR is for packages
install: PREFIX := /usr/local
install: build
	deploy/install $(BINARY) $(PREFIX)

## deb: builds a Debian package in .build/dist
deb: build
	deploy/debian/build $(BINARY) .build/dist

## package-check: installs, upgrades, removes and purges the Debian package in a chroot; needs root
package-check: deps-package build
	Tests/Operations/package $(BINARY)

## deploy-check: checks the files of deploy/ against each other and against the policy that each contains
deploy-check: deps
	$(call install,python3 python3-yaml)
	swift build --product proofgate
	Tests/Operations/deploy .build/debug/proofgate

## documents: runs the commands of the documents, and checks the policies, the links and the programs in them
documents: deps
	$(call install,$(DOCUMENTS_PACKAGES))
	swift build --product proofgate
	Tests/Documents/run $(DOCUMENTS_OPTIONS)

## interop: runs real clients, also agents, against real legacy servers through the gateway, and the commands of docs/agents.md and docs/apps.md
interop: deps-interop
	swift build --product proofgate
	Tests/Interop/run --proofgate .build/debug/proofgate $(INTEROP_OPTIONS)
	Tests/Interop/agents --proofgate .build/debug/proofgate $(INTEROP_OPTIONS)
	Tests/Documents/run --proofgate .build/debug/proofgate --libraries

## interop-twice: the same clients with two processes of each server that share no memory, behind one gateway
interop-twice: deps-interop
	swift build --product proofgate
	Tests/Interop/run --proofgate .build/debug/proofgate --twice

## interop-debian: the same clients with legacy servers of Debian's packages, and with two processes of each
interop-debian: deps-interop-debian
	swift build --product proofgate
	Tests/Interop/run --proofgate .build/debug/proofgate --debian
	Tests/Interop/run --proofgate .build/debug/proofgate --debian --twice

## observe-diff: sends recorded messages through observe mode and nginx; the only differences are those of docs/observe.md
observe-diff: deps
	$(call install,nginx python3)
	swift build --product proofgate
	Tests/Observe/run --proofgate .build/debug/proofgate
	Tests/Observe/run --proofgate .build/debug/proofgate --enforce

## tls-check: runs testssl.sh against a gateway; fails on weaknesses that the policy does not cause
tls-check: deps
	$(call install,testssl.sh openssl python3)
	swift build --product proofgate
	Tests/TLS/check .build/debug/proofgate

## bench: processor time of a proxied request, compared with nginx, HAProxy and Caddy; BENCH_OPTIONS="--gate judged" judges it
bench: deps-bench build
	Tests/Bench/run --proofgate $(BINARY) $(BENCH_OPTIONS)

## bench-report: runs every scenario three times (about two hours) and writes the table of docs/performance.md;
##   REPORT_OPTIONS=--gate fails if the median of a budget is exceeded
bench-report: deps-bench build
	for run in 1 2 3; do \
	  Tests/Bench/run --proofgate $(BINARY) --json .build/bench/run-$$run.json $(BENCH_OPTIONS) all; \
	done
	Tests/Bench/report $(REPORT_OPTIONS) .build/bench/run-{1,2,3}.json

## bench-instructions: compares the instructions of requests and important functions with the committed baseline
bench-instructions: deps-bench build
	$(call install,$(COUNT_PACKAGES))
	Tests/Bench/instructions $(BENCH_OPTIONS)

## profile: counts how often each part of the code runs in the scenarios of the benchmark; writes deploy/proofgate.profdata
profile: deps-bench
	swift build $(STATIC) --scratch-path .build/profile --product proofgate \
	  -Xswiftc -Xfrontend -Xswiftc -ir-profile-generate -Xlinker -u__llvm_profile_runtime \
	  -Xlinker $$(dirname $$(realpath $$(command -v swiftc)))/../lib/clang/*/lib/linux/libclang_rt.profile-$$(uname -m).a
	Tests/Bench/profile --proofgate .build/profile/release/proofgate --output $(PROFILE)

## gates: checks the exact budgets: system calls of a request, threads, wake-ups of an idle process
gates: deps-bench build
	$(call install,strace)
	Tests/Bench/gates --proofgate $(BINARY)

## bench-flows: OAuth flows per second of processor time, compared with FastMCP's OAuthProxy
bench-flows: deps-bench build
	$(call install,python3-venv ca-certificates)
	Tests/Bench/same-job --proofgate $(BINARY) $(BENCH_OPTIONS)

## bench-growth: cost of a request with up to 10,000 connections and 100,000 clients; draws the plots of the docs
bench-growth: deps-bench build
	Tests/Bench/growth --proofgate $(BINARY) --plots docs/plots $(BENCH_OPTIONS)

## soak: rounds of 10,000 sequential and 1,000 concurrent flows through the demo; none fails, and memory stops growing
soak: build
	$(call install,python3)
	Tests/Bench/flows --demo $(BINARY) --resource /api/me $(or $(SOAK_OPTIONS),--sequential 10000 --concurrent 1000 \
	  --rate 110 --warm-up 90 --rounds 3 --growth 4 --descriptors 32 --limit 1800)

## load: idle and slow clients, reloads, drains and an hour of traffic against the static binary; LOAD_OPTIONS="PART..."
load: deps-load build
	Tests/Load/run --proofgate $(BINARY) $(LOAD_OPTIONS)

## sanitize: all tests with the address and the thread sanitizer
sanitize: deps-test
	LSAN_OPTIONS=suppressions=$(CURDIR)/Tests/Sanitizers/leaks.txt:print_suppressions=0 \
	  swift test --no-parallel --sanitize=address --scratch-path .build/address
	TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/thread-sanitizer.suppressions:print_suppressions=0 \
	  swift test --no-parallel --sanitize=thread --scratch-path .build/thread

## fuzz: fuzzes each parser for SECONDS=n (10); TARGET=name selects one; see Tests/Fuzz/README.md
fuzz: SECONDS := 10
fuzz: deps
	Tests/Fuzz/run $(SECONDS) $(TARGET)

## attack: slow and malformed clients from Debian's tools against a gateway with normal traffic; ATTACK_OPTIONS=...
attack: deps-attack
	swift build --product proofgate
	Tests/Attack/run --proofgate .build/debug/proofgate $(ATTACK_OPTIONS)

## race: starts the gateway with 8 workers 30 times, and sends it malformed requests of many kinds, each 24 times at once
race: deps
	$(call install,python3)
	swift build --product proofgate
	Tests/Attack/race --proofgate .build/debug/proofgate $(RACE_OPTIONS)

## search: random HTTP/2 frames, hostile requests for the access log, and OAuth requests of an attacker; 10 minutes;
##   SEARCH_OPTIONS="--seed N" repeats a run, "--count N TARGET..." is shorter
search: deps
	$(call install,python3)
	swift build --product proofgate
	Tests/Attack/search --proofgate .build/debug/proofgate $(SEARCH_OPTIONS)

## cost: counts the instructions and the memory of the most expensive requests that are known; 15 minutes
cost: deps build
	$(call install,$(COUNT_PACKAGES))
	swift build --product proofgate
	Tests/Attack/cost $(COST_OPTIONS)

## complexity: searches 650 places of requests and answers for inputs whose cost is high or grows faster than their length; half
##   an hour; COMPLEXITY_OPTIONS="--seconds N --seed N" is shorter, "--input JSON" repeats a finding
complexity: deps build
	$(call install,$(COUNT_PACKAGES))
	swift build --product proofgate
	Tests/Attack/complexity $(COMPLEXITY_OPTIONS)

## faults: makes single system calls fail; takes an hour, or less for a sample: FAULTS_OPTIONS="--seconds 100"
faults: deps-faults build
	Tests/Faults/memory --proofgate $(BINARY)
	Tests/Faults/run --proofgate $(BINARY) $(FAULTS_OPTIONS)

# The short form does not judge speed, so it can use the debug configuration, which the tests have already built.
CRASH_CONFIGURATION ?= release

## store-crash: kills processes that use a store in a file, and checks that no record is lost; CRASH_OPTIONS=--short
store-crash: deps-faults
	swift build --configuration $(CRASH_CONFIGURATION) --product StoreLoad
	Tests/Stores/crash --load .build/$(CRASH_CONFIGURATION)/StoreLoad $(CRASH_OPTIONS)

## stores: several gateways with one store, through failovers and outages, within two minutes; STORES_OPTIONS="SCENARIO..."
stores: deps-stores build
	Tests/Stores/replicas --proofgate $(BINARY) --short $(STORES_OPTIONS)

## stores-long: the same with the full numbers, and judges speed; about 40 minutes
stores-long: deps-stores build
	Tests/Stores/replicas --proofgate $(BINARY) --judge $(STORES_OPTIONS)

## path-gate: path and query spellings with real servers; fails if a server runs an OAuth handler; PATHS_OPTIONS=...
path-gate: deps-paths
	swift build --product proofgate
	Tests/Paths/run --proofgate .build/debug/proofgate $(PATHS_OPTIONS)

## monitoring: the alerts and the dashboard of deploy/ with a gateway and a Prometheus server
monitoring: deps-monitoring
	swift build --product proofgate
	Tests/Operations/monitoring --proofgate .build/debug/proofgate $(MONITORING_OPTIONS)

## pages: checks the gateway's pages and the status page with chromium and axe: each language, desktop and phone, light and
##   dark; also the script of the status page, with a running gateway; AXE=axe.min.js uses another axe-core than the
##   pinned one; PAGES_OPTIONS=--short checks one form of each page
pages: deps
	$(call install,$(PAGES_PACKAGES))
	rm -rf .build/pages && mkdir -p .build/pages/shots
	swift build --build-tests
	PROOFGATE_WRITE_PAGES=$(CURDIR)/.build/pages NO_COLOR=1 .build/debug/proofgatePackageTests.xctest \
	  --testing-library swift-testing --no-parallel --filter 'GatewayTests.PageSamples|AdminTests.StatusPageSamples'
	Tests/Browsers/status --proofgate .build/debug/proofgate --screenshots .build/pages/shots
	Tests/Browsers/pages .build/pages "$(or $(AXE),$$(Tests/Browsers/axe))" --screenshots .build/pages/shots $(PAGES_OPTIONS)

clean:
	rm -rf .build

help:
	@sed -n 's/^## //p' Makefile
