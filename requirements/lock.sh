#!/bin/sh
# Writes the lock file of every layer from the dependency groups in pyproject.toml, for all supported
# Pythons and systems at once. Needs uv. `requirements/lock.sh --upgrade` takes the newest versions;
# without it, pins that still fit are kept. The largest layer is locked first and constrains the others,
# so that a virtual environment may hold any of them together. `otter` has an environment of its own.
set -eu
cd "$(dirname "$0")/.."
for layer in dev scale hub instructor grader site student otter; do
    constraint=""
    [ "$layer" = dev ] || [ "$layer" = otter ] || constraint="--constraint requirements/dev.txt"
    # shellcheck disable=SC2086
    uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links --group "$layer" $constraint "$@" \
        --output-file "requirements/$layer.txt" > /dev/null
done
