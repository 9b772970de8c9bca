"""The runner: order of results, work in threads, progress and clock."""

from __future__ import annotations

import logging
import re
import threading

import pytest

from neardup.runs.runner import NestedMap, Runner


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_map__order_of_the_blocks(workers):
    gate = threading.Event()

    def work(block):
        if block == 0 and workers > 1:
            # The first block ends last.
            gate.wait(10)
        if block == 1:
            gate.set()
        return block * block

    assert list(Runner(workers).map(work, range(20))) == [block * block for block in range(20)]


def test_map__takes_few_blocks_ahead():
    taken = []

    def blocks():
        for block in range(100):
            taken.append(block)
            yield block

    results = Runner(2).map(lambda block: block, blocks())
    assert next(results) == 0
    assert len(taken) <= 4
    results.close()


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("n_outer", [1, 2, 40])
def test_map__within_a_map(workers, n_outer):
    runner = Runner(workers)
    threads = set()

    def square(number):
        threads.add(threading.get_ident())
        return number * number

    def work(number):
        # A map of what another one gives, and something handed over on the way.
        with NestedMap(square) as handed:
            results = []
            for inner in runner.map(square, runner.map(square, range(number, number + 30))):
                results += handed.add(inner)
            return [*results, *handed.rest()]

    found = list(runner.map(work, range(n_outer)))
    assert found == [[k**8 for k in range(n, n + 30)] for n in range(n_outer)]
    assert len(threads) <= workers


def test_map__within_a_map__idle_threads_help():
    runner, both = Runner(2), threading.Barrier(2)

    def meet(number):
        both.wait(10)
        return number

    # The second is worked on by whoever waits for the first.
    assert list(runner.map(lambda _: list(runner.map(meet, [5, 6])), [0])) == [[5, 6]]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_map__within_a_map__error(workers):
    runner = Runner(workers)

    def inner(number):
        if number == 7:
            raise ZeroDivisionError
        return number

    def work(number):
        list(runner.map(inner, range(number, number + 5)))

    with pytest.raises(ZeroDivisionError):
        list(runner.map(work, range(20)))


def test_map__reports_a_stage():
    seen = []
    runner = Runner(2, lambda *report: seen.append(report))
    assert list(runner.map(str, range(3), "bucket", [2, 3, 7])) == ["0", "1", "2"]
    assert seen == [("bucket", done, 7) for done in (2, 3, 7)]


def test_counter__adds_up_from_threads():
    seen = []
    runner = Runner(4, lambda *report: seen.append(report))
    add = runner.counter("write", 300)
    list(runner.map(add, [3] * 100))
    assert seen == [("write", done, 300) for done in range(3, 301, 3)]


def test_stage__is_logged_with_its_counts(caplog):
    caplog.set_level(logging.INFO, "neardup")
    runner = Runner(1)
    with runner.stage("read") as note:
        note(documents=7, distinct_texts=5)
    with pytest.raises(KeyError), runner.stage("join"):
        raise KeyError
    first, second, third = (record.getMessage() for record in caplog.records)
    assert (first, third) == ("read: begins", "join: begins")
    assert re.fullmatch(r"read: ends after \d+\.\d{3} s, documents 7, distinct texts 5", second)
