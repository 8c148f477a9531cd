#!/bin/sh
# Counts animals: one program writes them, the other adds them up.
set -e
./emit 12 | ./tally
