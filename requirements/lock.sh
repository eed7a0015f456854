#!/bin/sh
# Writes requirements/lock.txt, every package of every layer with the hashes of its files, for all
# supported Pythons and systems at once, and for each layer the pins of what pyproject.toml names for
# it. Needs uv. `requirements/lock.sh --upgrade` takes the newest versions; without it, pins that still
# fit are kept. All layers fit into one virtual environment; `otter` has one of its own, and a lock.
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
