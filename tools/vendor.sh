#!/bin/sh
# Renew what tests of the page bring from elsewhere: axe-core, by exact version and hash. Nothing of it is shipped.
set -eu
cd "$(dirname "$0")/../tests/page/vendored"
VERSION=4.14.1
SHA256=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "axe-core@$VERSION" >/dev/null)
echo "$SHA256  $work/axe-core-$VERSION.tgz" | sha256sum --check --quiet
tar -xzf "$work/axe-core-$VERSION.tgz" -C "$work"
cp "$work/package/axe.min.js" axe.min.js
cp "$work/package/LICENSE" axe-core.LICENSE
