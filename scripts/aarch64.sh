# Functions that build for aarch64, and run what was built, on Debian 12 with another processor. Scripts source this file
# after lib.sh. All files are in build/aarch64:
#
#   root/            Debian's packages for arm64: the C library, Python 3.11, and headers; no package is installed
#   build/           the packages whose headers and libraries a build uses
#   site-packages/   what tests import: upstream's packages, pytest, and the wheel
#   bin/             python, envpool and compilers, as programs of this machine; qemu runs the first two

target=$PWD/build/aarch64
target_root=$target/root
triplet=aarch64-linux-gnu
#: The newest wheels that a machine with Debian 12 can use; pip does not derive older tags from a newer one.
target_platform=()
for tag in manylinux_2_{36,35,34,31,28,27,26,24,17} manylinux2014; do target_platform+=(--platform "${tag}_aarch64"); done
target_platform+=(--implementation cp --python-version 3.11 --only-binary=:all:)

# need_target_python: checks what running programs for aarch64 needs.
need_target_python() {
    need qemu-user-static command -v qemu-aarch64-static
    need swig command -v swig # for Box2D, with which tasks are compared
}

# need_cross_tools: checks what a build for aarch64 needs besides need_build_tools.
need_cross_tools() {
    need crossbuild-essential-arm64 command -v $triplet-g++
    command -v apt-get >/dev/null || die "a build for aarch64 takes Python's headers from Debian's packages; run it on Debian 12"
    python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' ||
        die "a build for aarch64 needs Python 3.11, the version of Debian 12's packages, but python3 is $(python3 -V)"
}

# make_root: unpacks Debian's packages for arm64 without touching the packages of this machine. apt resolves what they
# depend on as for a machine without any package. Programs other than Python stay out, since qemu would find them before
# those of this machine and cannot start them; so do headers of the C library, since the compiler has its own.
make_root() {
    local packages=(libpython3.11-dev python3.11-minimal zlib1g-dev libegl1 libegl-mesa0 libgl1 libopengl0 libgl1-mesa-dri)
    [[ -e $target_root/done ]] && return
    say "Downloading Debian's packages for arm64"
    rm -rf "$target_root" "$target/apt"
    mkdir -p "$target_root" "$target/sysconfig" "$target"/apt/{lists,archives}/partial
    : >"$target/apt/status"
    local apt=(apt-get -qq -y -oAPT::Architecture=arm64 -oAPT::Architectures=arm64 -oAPT::Sandbox::User=root
        -oDir::State::Lists="$target/apt/lists" -oDir::State::status="$target/apt/status"
        -oDir::Cache::archives="$target/apt/archives" -oDir::Cache::pkgcache= -oDir::Cache::srcpkgcache=)
    "${apt[@]}" update
    "${apt[@]}" install --no-install-recommends --download-only "${packages[@]}"
    local package
    for package in "$target"/apt/archives/*.deb; do
        case $(basename "$package") in
            libpython3.11-dev_* | zlib1g-dev_*) ;;
            *-dev_* | *-dev-bin_*) continue ;;
        esac
        dpkg -x "$package" "$target_root"
    done
    rm -rf "$target/apt"
    find "$target_root"/{,usr/}{bin,sbin} -not -type d -not -name python3.11 -delete 2>/dev/null || true
    cp "$target_root/usr/lib/python3.11/_sysconfigdata__$triplet.py" "$target/sysconfig"
    touch "$target_root/done"
}

# install_target FOLDER OPTION...: installs the packages in FOLDER.txt for aarch64 into FOLDER, unless they are there.
install_target() {
    local folder=$1
    shift
    cmp -s "$folder.txt" "$folder/installed.txt" && return
    rm -rf "$folder"
    python -m pip install -q --disable-pip-version-check --target "$folder" "${target_platform[@]}" "$@" -r "$folder.txt"
    cp "$folder.txt" "$folder/installed.txt"
}

# compilers: sets the compilers for aarch64. The headers of Python and zlib come before those of this machine.
compilers() {
    local include="-I$target_root/usr/include/python3.11 -I$target_root/usr/include" ccache=
    ! command -v ccache >/dev/null || ccache="ccache "
    export CC="$ccache$triplet-gcc $include" CXX="$ccache$triplet-g++ $include" AR=$triplet-gcc-ar
}

# cross_environment: makes setup.py build for aarch64. Python's own variables for cross builds name the platform and the
# settings of the target's Python.
cross_environment() {
    make_root
    python scripts/requirements.py build | grep -E '^(numpy|mujoco)==' >"$target/build.txt"
    install_target "$target/build" --no-deps
    compilers
    export _PYTHON_HOST_PLATFORM=linux-aarch64 _PYTHON_SYSCONFIGDATA_NAME=_sysconfigdata__$triplet
    export PYTHONPATH=$target/sysconfig
    export CFLAGS=-fno-stack-protector CXXFLAGS=-fno-stack-protector LDFLAGS=-L$target_root/usr/lib/$triplet
    export ENVPOOL_TARGET_PACKAGES=$target/build
}

# make_target_python: installs for aarch64 what tests import, and writes programs that run Python, the command envpool and
# the compilers. The kernel of this machine cannot start programs for aarch64, so sys.executable names the program of this
# machine, and target_children.py runs with qemu what Python starts otherwise.
make_target_python() {
    local site=$target/site-packages packages=$target_root/usr/lib/python3/dist-packages alone=$target/alone.txt
    make_root
    mkdir -p "$target/bin" "$target/pure" "$packages"
    (
        compilers
        printf '#!/bin/sh\nexec %s "$@"\n' "$CC" >"$target/bin/cc"
        printf '#!/bin/sh\nexec %s "$@"\n' "$CXX" >"$target/bin/c++"
        cat >"$target/bin/python" <<END
#!/bin/sh
export CC="$CC" CXX="$CXX"
exec qemu-aarch64-static -L "$target_root" "$target_root/usr/bin/python3.11" "\$@"
END
    )
    cat >"$target/bin/envpool" <<END
#!/bin/sh
exec "$target/bin/python" -c 'import sys; from envpool.cli.main import main; sys.exit(main())' "\$@"
END
    chmod +x "$target"/bin/*
    cp scripts/target_children.py "$packages"
    cat >"$packages/target.pth" <<END
import sys; sys.executable = sys._base_executable = "$target/bin/python"
import target_children; target_children.run_with("$(command -v qemu-aarch64-static)", "-L", "$target_root")
import site; site.addsitedir("$site")
END
    # Linters are not needed. Of gym and MinAtar there are no wheels, but those that are built here suit every processor.
    # Of Procgen there is no library for aarch64.
    python scripts/requirements.py build run test | grep -vE '^(ruff|mypy|cython-lint|box2d)\b' | sed 's/ *#.*//' |
        grep -v '^mujoco$' | sort -u >"$site.txt"
    cmp -s "$site.txt" "$site/installed.txt" && return
    say "Installing upstream's packages for aarch64"
    python scripts/requirements.py test-alone | grep -v '^procgen' >"$alone"
    python -m pip wheel -q --disable-pip-version-check --no-deps -w "$target/pure" \
        $(grep -hE '^(gym|MinAtar)==' "$site.txt" "$alone")
    install_target "$site" --find-links "$target/pure"
    rm "$site/installed.txt" # until the rest is there
    python -m pip install -q --disable-pip-version-check --target "$site" --no-deps --find-links "$target/pure" \
        "${target_platform[@]}" -r "$alone"
    build_box2d
    wrap_vizdoom
    cp "$site.txt" "$site/installed.txt"
}

# build_box2d: builds the module Box2D from the sources of our own, since the package box2d has neither a wheel for aarch64
# nor sources. Without contraction to FMA, as on x86-64: compilers for aarch64 contract unless told otherwise.
build_box2d() {
    local sources
    sources=$(python - <<'END'
import re, sys
sys.path.insert(0, "scripts")
from native_build import fetch_sdist
text = open("envpool/box2d/build_needs.py").read()
print(fetch_sdist(*(re.search(rf'(?m)^{name} = "(.*)"', text)[1] for name in ("SDIST", "SHA256"))))
END
)
    rm -rf "$target/box2d"
    cp -r "$sources" "$target/box2d"
    # SWIG writes a module when the extension is built.
    (cd "$target/box2d" && CXXFLAGS=-ffp-contract=off "$target/bin/python" setup.py -q build_ext build_py >build.log 2>&1) ||
        die "building Box2D failed; see $target/box2d/build.log"
    cp -r "$target"/box2d/build/lib*/Box2D "$target/site-packages"
}

# wrap_vizdoom: lets qemu run the engine of ViZDoom, which is a program of its own.
wrap_vizdoom() {
    local engine=$target/site-packages/vizdoom/vizdoom
    mv "$engine" "$engine-aarch64"
    cat >"$engine" <<END
#!/bin/sh
exec qemu-aarch64-static -L "$target_root" -0 "\$0" "$engine-aarch64" "\$@"
END
    chmod +x "$engine"
}
