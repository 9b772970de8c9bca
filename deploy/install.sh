#!/bin/sh
# What the image of the service is made of: run by the Dockerfile, and by the gate without Docker.
# Usage: install.sh SOURCE ENVIRONMENT
# Installs neardup from SOURCE into a new environment.
set -eu
source=$1 environment=$2
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --no-cache-dir "$source[serve]"
# Whoever runs the service has no place where kernels could be kept that are compiled as called.
"$environment/bin/python" -c 'import neardup.kernels._native' || {
  echo "install.sh: no kernels were compiled; install Python.h (python3-dev), and run it anew" >&2
  exit 1
}
# Whoever runs the service reads it and does not change it.
chmod -R a+rX,go-w "$environment"
