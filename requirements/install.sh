#!/bin/sh
# Installs a layer where ./jaxprentice is not used: `requirements/install.sh hub python3` installs
# the hub's into the environment of python3, every file of the lock.
set -eu
here=$(dirname "$0")
"$2" -m uv --version > /dev/null 2>&1 ||
    "$2" -m pip install --quiet --no-deps --require-hashes --requirement "$here/uv.txt"
exec "$2" -m uv pip install --quiet --python "$2" --require-hashes --constraint "$here/lock.txt" \
    --override "$here/without.txt" --requirement "$here/$1.txt"
