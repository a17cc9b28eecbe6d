# Shared by the scripts beside it: progress lines, system packages, virtual environments. To be sourced from the root.

PYTHON=${PYTHON:-python3}

say() { printf '\n==> %s\n' "$*"; }

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# need PACKAGE TEST...: notes an apt package as missing where the test command fails.
missing=()
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

has_library() { PATH="$PATH:/sbin" ldconfig -p | grep -qF "$1"; }
has_driver() { compgen -G "/usr/lib/*/dri/$1_dri.so" >/dev/null; }

# Stops with the names of the missing apt packages; with "install" as argument, installs them where it can.
settle() {
    ((${#missing[@]})) || return 0
    local packages="${missing[*]}"
    if [[ ${1:-} == install && $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        say "Installing $packages"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
        missing=()
    else
        die "missing system packages: $packages. On Debian and Ubuntu: apt-get install $packages"
    fi
}

# What every build needs: Python 3.11 or later with its headers, venv, a C and a C++ compiler.
need_build_tools() {
    need python3 command -v "$PYTHON"
    need gcc command -v cc
    need g++ command -v c++
    need libc6-dev test -e /usr/include/stdlib.h
    need zlib1g-dev test -e /usr/include/zlib.h
    if command -v "$PYTHON" >/dev/null; then
        "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
            die "Python 3.11 or later is needed, $PYTHON is $("$PYTHON" -V 2>&1): set PYTHON=/path/to/python3.11"
        need python3-venv "$PYTHON" -c 'import ensurepip, venv'
        need python3-dev "$PYTHON" -c 'import os, sysconfig; open(os.path.join(sysconfig.get_path("include"), "Python.h"))'
    fi
}

# make_venv FOLDER OPTION...: a virtual environment, made once.
make_venv() {
    [[ -x $1/bin/python ]] || "$PYTHON" -m venv "${@:2}" "$1"
    export PATH="$PWD/$1/bin:$PATH"
}

# install_requirements FOLDER GROUP...: what pyproject.toml lists in these groups, unless it is there already.
install_requirements() {
    local venv=$1
    shift
    python scripts/requirements.py "$@" >"$venv/wanted.txt"
    install_wanted "$venv" "what pyproject.toml lists for: $*"
}

# install_wanted FOLDER TITLE ARGUMENT...: what FOLDER/wanted.txt lists, unless it was installed already.
install_wanted() {
    local venv=$1 title=$2
    shift 2
    if ! cmp -s "$venv/wanted.txt" "$venv/installed.txt"; then
        say "Installing $title"
        python -m pip install -q --disable-pip-version-check "$@" -r "$venv/wanted.txt"
        mv "$venv/wanted.txt" "$venv/installed.txt"
    fi
}

# The environment of scripts/test and scripts/dev, with this tree as its envpool.
enter_test_venv() {
    make_venv .venv-test
    install_requirements .venv-test build run test examples
    python -c 'import os, sysconfig; print(os.getcwd(), file=open(sysconfig.get_path("purelib") + "/envpool-tree.pth", "w"))'
}

# enter_client_venv NAME: an environment for tests/clients/NAME, to be called after enter_test_venv. It sees what that has,
# save what its requirements want otherwise; torch is never another one.
enter_client_venv() {
    local venv=.venv-clients/$1 requirements=tests/clients/$1/requirements.txt below
    below=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    make_venv "$venv" --without-pip # else its setuptools would hide the newer one
    echo "import site; site.addsitedir('$below')" |
        python -c 'import sys, sysconfig; open(sysconfig.get_path("purelib") + "/test-venv.pth", "w").write(sys.stdin.read())'
    python scripts/requirements.py examples >"$venv/constraints.txt"
    cp "$requirements" "$venv/wanted.txt"
    install_wanted "$venv" "$requirements" --constraint "$venv/constraints.txt"
    # What requirements cannot say: a package without its dependencies, or settings of its build.
    local install=tests/clients/$1/install
    if [[ -f $install ]] && ! cmp -s "$install" "$venv/install"; then
        say "Running $install"
        bash "$install"
        cp "$install" "$venv/install"
    fi
}

build_in_place() {
    say "Building in place (profile ${ENVPOOL_PROFILE:-release})"
    mkdir -p out
    python setup.py -q build_ext --inplace >out/build.log 2>&1 || {
        tail -n 40 out/build.log >&2
        die "the build failed; all of it is in out/build.log"
    }
}
