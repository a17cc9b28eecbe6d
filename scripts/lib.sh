# Functions shared by the scripts in this folder: progress lines, system packages, virtual environments.
# Scripts source this file from the root of the repository.

PYTHON=${PYTHON:-python3}

say() { printf '\n==> %s\n' "$*"; }

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# stage NAME COMMAND...: runs a command under a title, and notes how long it took for `summary`. If the script ends in a
# stage, the stage is named.
stages=()
stage() {
    local name=$1 start=$SECONDS
    shift
    stage=$name
    say "$name"
    "$@"
    stages+=("$(printf '%6s  %s' "$(clock $((SECONDS - start)))" "$name")")
    stage=
    printf -- '--- %s: %s\n' "$name" "$(clock $((SECONDS - start)))"
}
trap 'status=$?; ((status == 0)) || [[ -z ${stage:-} ]] || printf "\n==> FAILED: %s, after %s\n" "$stage" "$(clock $SECONDS)"' EXIT

# summary: prints the time of each stage and the total.
summary() {
    printf '\n'
    printf '%s\n' "${stages[@]}"
    printf '%6s  in all\n' "$(clock $SECONDS)"
}

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# need PACKAGE TEST...: records an apt package as missing if the test command fails.
missing=()
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

has_library() { PATH="$PATH:/sbin" ldconfig -p | grep -qF "$1"; }
has_driver() { compgen -G "/usr/lib/*/dri/$1_dri.so" >/dev/null; }

# settle: exits with the names of the missing apt packages, if there are any.
# settle install: installs the missing packages if this process may do so, otherwise exits with their names.
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

# need_build_tools: checks what every build needs: Python 3.11 or later with its headers, venv, a C and a C++ compiler.
need_build_tools() {
    need python3 command -v "$PYTHON"
    need gcc command -v cc
    need g++ command -v c++
    need libc6-dev test -e /usr/include/stdlib.h
    need zlib1g-dev test -e /usr/include/zlib.h
    if command -v "$PYTHON" >/dev/null; then
        "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
            die "Python 3.11 or later is required, but $PYTHON is $("$PYTHON" -V 2>&1): set PYTHON=/path/to/python3.11"
        need python3-venv "$PYTHON" -c 'import ensurepip, venv'
        need python3-dev "$PYTHON" -c 'import os, sysconfig; open(os.path.join(sysconfig.get_path("include"), "Python.h"))'
    fi
}

# interpreter VERSION: prints the path of an interpreter, found as pythonVERSION on the PATH or among those of pyenv.
interpreter() {
    command -v "python$1" >/dev/null && "python$1" -c '' 2>/dev/null && command -v "python$1" && return
    compgen -G "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1.*/bin/python" | sort -V | tail -n 1 | grep . ||
        die "there is no Python $1: neither python$1 on the PATH nor one of pyenv"
}

# make_venv FOLDER OPTION...: creates a virtual environment unless it exists and has pip, and puts it on the PATH.
make_venv() {
    # An interrupted run may have left a venv without pip.
    "$1/bin/python" -m pip --version >/dev/null 2>&1 || "$PYTHON" -m venv --clear "${@:2}" "$1"
    export PATH="$PWD/$1/bin:$PATH"
}

# install_requirements FOLDER GROUP...: installs the requirements of these groups in pyproject.toml, unless they are
# installed already.
install_requirements() {
    local venv=$1
    shift
    python scripts/requirements.py "$@" >"$venv/wanted.txt"
    # Two packages own the module pygame: removing one of them takes the files of the other along, unless it comes first.
    cmp -s "$venv/wanted.txt" "$venv/installed.txt" || python -m pip uninstall -q -y pygame 2>/dev/null
    install_wanted "$venv" "the requirements of pyproject.toml for: $*"
}

# install_wanted FOLDER TITLE ARGUMENT...: installs the packages in FOLDER/wanted.txt, unless they are installed already.
install_wanted() {
    local venv=$1 title=$2
    shift 2
    if ! cmp -s "$venv/wanted.txt" "$venv/installed.txt"; then
        say "Installing $title"
        python -m pip install -q --disable-pip-version-check "$@" -r "$venv/wanted.txt"
        mv "$venv/wanted.txt" "$venv/installed.txt"
    fi
}

# enter_test_venv: enters the virtual environment of scripts/test and scripts/dev, in which this tree is envpool.
# enter_test_venv VERSION: the one for another version of Python, which PYTHON must be, without what examples need.
enter_test_venv() {
    local venv=.venv-test${1:+-$1} groups=(build run test)
    (($#)) || groups+=(examples)
    make_venv "$venv"
    install_requirements "$venv" "${groups[@]}"
    mkdir -p "$venv/alone"
    python scripts/requirements.py test-alone >"$venv/alone/wanted.txt"
    install_wanted "$venv/alone" "what pyproject.toml requires for test-alone, without its dependencies" --no-deps
    python -c 'import os, sysconfig; print(os.getcwd(), file=open(sysconfig.get_path("purelib") + "/envpool-tree.pth", "w"))'
}

# enter_client_venv NAME: enters the virtual environment for tests/clients/NAME; call enter_test_venv first. It sees the
# packages of .venv-test, except where its requirements ask for other versions. The version of torch is always the same.
enter_client_venv() {
    local venv=.venv-clients/$1 requirements=tests/clients/$1/requirements.txt below
    below=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    make_venv "$venv" --without-pip # with pip, its older setuptools would hide that of .venv-test
    echo "import site; site.addsitedir('$below')" |
        python -c 'import sys, sysconfig; open(sysconfig.get_path("purelib") + "/test-venv.pth", "w").write(sys.stdin.read())'
    python scripts/requirements.py examples >"$venv/constraints.txt"
    cp "$requirements" "$venv/wanted.txt"
    install_wanted "$venv" "$requirements" --constraint "$venv/constraints.txt"
    # The script `install` does what requirements cannot express: a package without its dependencies, or build settings.
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
        die "the build failed; see out/build.log for the whole output"
    }
}
