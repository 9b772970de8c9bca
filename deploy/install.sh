#!/bin/sh
# What the image of the service is made of: run by the Dockerfile, and by the gate without Docker.
# Usage: install.sh SOURCE ENVIRONMENT CACHE
# Installs neardup from SOURCE into a new environment, and compiles its kernels into CACHE, so that
# no container has to.
set -eu
source=$1 environment=$2 cache=$3
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --no-cache-dir "$source[serve]"
NEARDUP_CACHE_DIR="$cache" "$environment/bin/neardup" warmup
# Whoever runs the service reads both and changes neither.
chmod -R a+rX,go-w "$environment" "$cache"
