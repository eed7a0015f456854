#!/bin/sh
# Writes requirements/lock.txt, every package of every layer with the hashes of its files, for all
# supported Pythons and systems at once, for each layer the pins of what pyproject.toml names for it,
# and the locks of npm's packages. Needs uv and npm. `requirements/lock.sh --upgrade` takes the newest
# Python packages; without it, pins that still fit are kept. All layers fit into one virtual
# environment; `otter` has one of its own, and a lock.
set -eu
cd "$(dirname "$0")"
compile() {
    uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links --output-file "$@" > /dev/null
}
one_line_each() {
    sed -i.before -e ':again' -e '/\\$/N' -e 's/ *\\\n */ /' -e 't again' "$1"
    rm "$1.before"
}
npm_lock() { # a line for each package, too, and no address
    cd "$1"
    npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund --silent
    node -e 'const fs = require("fs"), { packages, ...head } = JSON.parse(fs.readFileSync(0))
        const rows = Object.entries(packages).map(([k, v]) => `${JSON.stringify(k)}: ${JSON.stringify(v)}`)
        const start = JSON.stringify(head).slice(0, -1)
        fs.writeFileSync("package-lock.json", `${start}, "packages": {\n${rows.join(",\n")}\n}}\n`)
    ' < package-lock.json
    cd - > /dev/null
}
layers="student grader instructor scale hub site dev"
# shellcheck disable=SC2046
compile lock.txt --generate-hashes --override without.txt "$@" \
    $(for layer in $layers; do echo --group "../pyproject.toml:$layer"; done)
for layer in $layers; do
    compile "$layer.txt" --no-deps --constraint lock.txt --group "../pyproject.toml:$layer"
done
compile otter.txt --generate-hashes --group "../pyproject.toml:otter" "$@"
one_line_each lock.txt
one_line_each otter.txt
grep '^uv==' lock.txt > uv.txt  # with which ./jaxprentice begins where there is none
npm_lock ../site/runner
npm_lock ../site/lighthouse
