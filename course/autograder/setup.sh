#!/usr/bin/env bash
# Gradescope runs this once, when the image of the autograder is built: what submissions need.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends g++ golang-go make git python3 util-linux
