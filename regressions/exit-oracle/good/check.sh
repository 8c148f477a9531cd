#!/bin/sh
# 0: good, 125: cannot tell, anything else: bad
test -x ./words || exit 125
./words the cat and the dog and the bird
