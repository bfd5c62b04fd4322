# Sourced by the package tests, which take: BUILD-DIRECTORY VERSION. Afterwards $prefix is the
# package, no longer where it was installed, and $scratch is a directory that goes away at exit.
set -euo pipefail
build=$1
version=$2

scratch=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-package-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/moved

fail() {
    printf 'package: %s\n' "$*" >&2
    exit 1
}

cmake --install "$build" --prefix "$scratch/installed" >/dev/null
mv "$scratch/installed" "$prefix"

if grep -rIl -e "$scratch/installed" -e "$SOURCE" "$prefix"; then
    fail "the files above know where they were built or installed"
fi

# The command has no version before it exists, and must run from its new place once it does.
if [[ -e $prefix/bin/holdfast ]]; then
    said=$("$prefix/bin/holdfast" version)
    [[ $said == *"$version"* ]] || fail "holdfast version said '$said' instead of $version"
fi

# A client can be linked once its implementation is in the library, not when only its header is.
with_client=OFF
symbols=$(nm -C "$(find "$prefix" -name libholdfast.a)" 2>/dev/null)
if [[ $symbols == *' T holdfast::client::client('* ]]; then
    with_client=ON
fi

# expect_consumer PROGRAM: runs it and compares the versions it was compiled and linked with.
expect_consumer() {
    local said
    said=$("$1") || fail "$1 failed: $said"
    [[ $said == "holdfast $version" ]] || fail "$1 said '$said' instead of 'holdfast $version'"
}
