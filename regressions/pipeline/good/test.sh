#!/bin/sh
# Counts animals by way of two programs.
set -e
./emit 12 | ./tally
