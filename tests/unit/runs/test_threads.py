"""Threads: what is handed over, interrupts at any moment, and threads that nobody ends."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from neardup.runs.runner import NestedMap, Runner


def test_handed__abandoned_work_is_awaited():
    begun, ended = threading.Event(), threading.Event()

    def slow(_):
        begun.set()
        time.sleep(0.05)
        ended.set()

    def work(_):
        with NestedMap(slow) as handed:
            handed.add(0)
            begun.wait(10)
        return ended.is_set()

    assert list(Runner(2).map(work, [0])) == [True]


def run_python(script: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


# Interrupts come from the system's clock, so after each step of Python code where they can. What
# does not end within the seconds given to the fault handler waits for ever.
INTERRUPTED = """
import faulthandler, random, signal
from neardup.runs.runner import map_ordered

def interrupt(*_):
    raise KeyboardInterrupt

def inner(number):
    return list(map_ordered(lambda each: each, range(3), 2))

faulthandler.dump_traceback_later(240, exit=True)
signal.signal(signal.SIGALRM, interrupt)
random.seed(5)
n_interrupted = 0
for _ in range(1500):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(2e-5, 5e-3))
        for _ in map_ordered(inner, range(8), 2):
            list(map_ordered(lambda each: each, range(2), 2))
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        n_interrupted += 1
print(n_interrupted)
"""


@pytest.mark.slow
def test_threads__interrupted_at_any_moment():
    assert int(run_python(INTERRUPTED)) > 100


def test_threads__left_by_a_generator_that_nobody_ends():
    script = """
from neardup.runs.runner import map_ordered
results = map_ordered(lambda each: each, range(100), 2)
print(next(results))
"""
    assert run_python(script) == "0\n"
