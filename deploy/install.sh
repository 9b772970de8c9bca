#!/bin/sh
# What the image of the service is made of: run by the Dockerfile, and by the gate without Docker.
# Usage: install.sh SOURCE ENVIRONMENT
# Installs neardup from SOURCE into a new environment.
set -eu
source=$1 environment=$2
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --no-cache-dir "$source[serve]"
# Whoever runs the service reads it and does not change it.
chmod -R a+rX,go-w "$environment"
