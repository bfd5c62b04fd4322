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

for file in bin/holdfast libexec/holdfast/holdfast-lab share/man/man1/holdfast.1 share/bash-completion/completions/holdfast \
    share/zsh/site-functions/_holdfast share/fish/vendor_completions.d/holdfast.fish \
    share/doc/holdfast/README.md; do
    [[ -s $prefix/$file ]] || fail "$file is missing"
done

# Every link from one document to another leads somewhere, and so does what the manual names.
documents=$prefix/share/doc/holdfast
linked=$(cd "$documents" && grep -roP --include='*.md' '\]\(\K(?!\w+:)[^)#]+' .) ||
    fail "no document links to another"
while IFS=: read -r document target; do
    [[ -s $documents/$(dirname "$document")/$target ]] ||
        fail "$document links to $target, which is missing"
done <<<"$linked"

# And so do the examples that documents speak of.
named=$(grep -rhoP --include='*.md' '`\Kexample/[a-z_]+\.cpp' "$documents") ||
    fail "no document names an example"
for file in $named; do
    [[ -s $documents/$file ]] || fail "a document names $file, which is missing"
done

named=$(sed -n '/^\.SH SEE ALSO/,$ { s/\\&//g; s/\\f.//g; p }' "$prefix/share/man/man1/holdfast.1" |
    grep -oE '[a-z]+\.md') || fail "the manual names no document"
for file in $named; do
    [[ -s $documents/doc/$file ]] || fail "the manual names $file, which is missing"
done

said=$("$prefix/bin/holdfast" version)
[[ $said == *"$version"* ]] || fail "holdfast version said '$said' instead of $version"

"$prefix/bin/holdfast" lab --help | grep -q '^Usage: holdfast lab' || fail "holdfast lab is not found"

# expect_consumer PROGRAM: runs it and compares the versions it was compiled and linked with.
expect_consumer() {
    local said
    said=$("$1") || fail "$1 failed: $said"
    [[ $said == "holdfast $version" ]] || fail "$1 said '$said' instead of 'holdfast $version'"
}
