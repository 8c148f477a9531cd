"""Follows a program with angr along the way of one input, every byte of its standard
input a variable: what `relapse path` does. Prints seconds and conditions.

usage: follow.py PROGRAM INPUT
"""

import logging
import sys
import time

import angr
import claripy

logging.disable(logging.CRITICAL)
program, given = sys.argv[1], open(sys.argv[2], "rb").read()
project = angr.Project(program, auto_load_libs=False)
start = time.monotonic()
letters = [claripy.BVS(f"stdin_{n}", 8) for n in range(len(given))]
stdin = angr.SimFileStream(name="stdin", content=claripy.Concat(*letters), has_end=True)
state = project.factory.full_init_state(args=[program], stdin=stdin)
for letter, value in zip(letters, given):
    state.preconstrainer.preconstrain(claripy.BVV(value, 8), letter)
manager = project.factory.simulation_manager(state)
while manager.active:
    manager.step()
if not manager.deadended:
    sys.exit(f"no run came to its end: {manager.errored or manager.stashes}")
last = manager.deadended[0]
last.preconstrainer.remove_preconstraints()
print(f"seconds={time.monotonic() - start:.3f}")
print(f"conditions={len(last.solver.constraints)}")
print(f"ways={len(manager.deadended)}")
