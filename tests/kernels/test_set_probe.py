from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from neardup.kernels.join import set_join
from neardup.matching.join import ALGORITHMS
from tests.each import each_of
from tests.kernels.set_probe import Probe, random_probes
from tests.oracles.measures import JOIN_MEASURES


@each_of("algorithm", ALGORITHMS)
@each_of("measure", JOIN_MEASURES)
def test_probe_records__range_alone(measure, algorithm):
    n_pruned = 0
    for generator, probe in random_probes(measure):
        without = len(probe.results())
        for x in range(len(probe.records)):
            bounds = sorted(generator.choices(range(len(probe.records) + 1), k=2))
            probe.first_partner[x], probe.last_partner[x] = bounds
        found, counts = probe.run(algorithm)
        assert found == probe.results()
        n_pruned += without > len(found)
        everywhere = replace(
            probe,
            first_partner=[0] * len(probe.records),
            last_partner=[len(probe.records)] * len(probe.records),
        )
        n_hits = sum(len(everywhere.meetings(x, y)) for x, y in everywhere.pairs())
        own = sum(map(len, probe.records))
        assert counts[set_join.HITS] == n_hits + own
        n_fitting = sum(len(probe.meetings(x, y)) for x, y in probe.pairs())
        assert counts[set_join.AFTER_SIZE] == n_fitting
    assert n_pruned > 0


@each_of("measure", JOIN_MEASURES)
def test_probe_records__prefixes_alone(measure):
    """What meets in any prefixes is found, and counted once to the end, wherever they end."""
    n_pruned, ends = 0, set()
    for generator, probe in random_probes(measure, 20):
        probe.probing = [generator.randint(0, len(record)) for record in probe.records]
        probe.indexing = [generator.randint(0, len(record)) for record in probe.records]
        met = [(x, y) for x, y in probe.pairs() if probe.meetings(x, y)]
        n_pruned += len(probe.results()) - len(probe.results(met))
        found, counts = probe.run("allpairs")
        assert found == probe.results(met)
        assert counts[set_join.AFTER_SIZE :] == [
            sum(len(probe.meetings(x, y)) for x, y in met),
            0,
            0,
            0,
            len(met),
        ]
        for x, y, overlap in found:
            one, other = probe.records[x][: probe.probing[x]], probe.records[y][: probe.indexing[y]]
            # Which prefix ends first, and whether there is anything to count behind it.
            ends.add((one[-1] < other[-1], overlap > len(probe.meetings(x, y))))
    assert n_pruned > 0
    assert {(True, True), (False, True)} <= ends


@each_of("measure", JOIN_MEASURES)
def test_probe_records__prefixes_of_a_join(measure):
    """Pairs meet in the prefixes and ranges that are worked out for them."""
    for _, probe in random_probes(measure, 20):
        reduced = probe.with_prefixes()
        assert reduced.run("allpairs")[0] == probe.results()


@each_of("measure", JOIN_MEASURES)
def test_probe_records__position_alone(measure):
    """Out go those of which too little is left at some common token, and those alone."""
    n_pruned = 0
    for generator, probe in random_probes(measure, 20):
        if generator.random() < 0.5:
            probe = replace(
                probe, indexing=[generator.randint(0, len(record)) for record in probe.records]
            )
        met = [(x, y) for x, y in probe.pairs() if probe.meetings(x, y)]
        kept = [pair for pair in met if probe.passes_position(*pair) == probe.meetings(*pair)]
        n_pruned += len(met) - len(kept)
        assert probe.results(met) == probe.results(kept)
        found, counts = probe.run("ppjoin")
        assert found == probe.results(kept)
        n_passed = sum(len(probe.passes_position(*pair)) for pair in met)
        assert counts[set_join.AFTER_POSITION :] == [n_passed, n_passed, len(kept)]
    assert n_pruned > 0


@each_of("measure", JOIN_MEASURES)
def test_probe_records__suffix_alone(measure):
    """Looked at once, at the first common token, unless position has told already."""
    n_pruned = 0
    for _, probe in random_probes(measure, 25):
        met = [pair for pair in probe.pairs() if probe.meetings(*pair)]
        # Without parities, which may differ in no bit.
        fitting = [pair for pair in met if probe.passes_parities(*pair)]
        positioned = [pair for pair in fitting if probe.passes_first_position(*pair)]
        passing = [pair for pair in positioned if probe.passes_suffix(*pair)]
        n_pruned += len(positioned) - len(passing)
        assert probe.results(met) == probe.results(passing)
        found, counts = probe.run("ppjoin+")
        assert found == probe.results(passing)
        expected = [len(pairs) for pairs in (fitting, positioned, passing, passing)]
        assert counts[set_join.AFTER_PARITY :] == expected
    assert n_pruned > 0


@each_of("is_folded", [False, True])
@each_of("n_words", [1, 2, 4])
@each_of("measure", JOIN_MEASURES)
def test_probe_records__parities_alone(measure, n_words, is_folded):
    """Out go those that differ in more bits of all words together than in tokens they may.

    Words of postings, in which all are folded, rule out no others.
    """
    n_pruned, n_pruned_late = 0, 0
    for generator, probe in random_probes(measure, 25):
        # Few bits or many, around the bounds; any bits, whatever the records have.
        n_bits = [generator.randrange(5) for _ in probe.records]
        probe.parities = [[0] * n_words for _ in probe.records]
        probe.is_folded = is_folded
        for row, n in zip(probe.parities, n_bits, strict=True):
            for _ in range(n):
                row[generator.randrange(n_words)] ^= 1 << generator.randrange(64)
        met = [pair for pair in probe.pairs() if probe.meetings(*pair)]
        alike = [pair for pair in met if probe.passes_parities(*pair)]
        n_pruned += len(met) - len(alike)
        n_pruned_late += sum(
            (probe.parities[x][0] ^ probe.parities[y][0]).bit_count() <= probe.most_different(x, y)
            for x, y in {*met} - {*alike}
        )
        # So few tokens are less than there are bits: there is no halving.
        passing = [pair for pair in alike if probe.passes_first_position(*pair)]
        found, counts = probe.run("ppjoin+")
        assert found == probe.results(passing)
        expected = [len(pairs) for pairs in (alike, passing, passing, passing)]
        assert counts[set_join.AFTER_PARITY :] == expected
    assert n_pruned > 0
    assert (n_pruned_late > 0) == (n_words > 1)


@each_of("algorithm", ALGORITHMS)
@each_of("measure", JOIN_MEASURES)
def test_probe_records__sides_alone(measure, algorithm):
    """Whoever probes: of a containment what lies in the other is of the left collection."""
    for generator, probe in random_probes(measure):
        n_fitting = len(probe.pairs())
        probe.sides = [generator.randint(1, 3) for _ in probe.records]
        found, counts = probe.run(algorithm)
        assert found == probe.results()
        n_met = sum(len(probe.meetings(x, y)) for x, y in probe.pairs())
        assert counts[set_join.HITS] == probe.n_hits()
        assert counts[set_join.AFTER_SIZE] == n_met
        assert len(probe.pairs()) <= n_fitting
        # Nor are postings of other groups read where the range of partners leaves some out.
        for x in range(len(probe.records)):
            bounds = sorted(generator.choices(range(len(probe.records) + 1), k=2))
            probe.first_partner[x], probe.last_partner[x] = bounds
        found, counts = probe.run(algorithm)
        assert found == probe.results()
        assert counts[set_join.HITS] == probe.n_hits()
        assert counts[set_join.AFTER_SIZE] == sum(len(probe.meetings(*p)) for p in probe.pairs())


@each_of("side", [1, 2])
@each_of("measure", JOIN_MEASURES)
def test_probe_records__one_side_only(measure, side):
    for _, probe in random_probes(measure, 3):
        probe.sides = [side] * len(probe.records)
        assert probe.run("ppjoin") == ([], [0] * set_join.RESULTS)


@each_of("algorithm", ALGORITHMS)
@each_of("measure", ["jaccard", "containment", "max-containment"])
def test_probe_records__full_output(measure, algorithm):
    """However little fits, the same results and counts, each record's together."""
    for _, probe in random_probes(measure, 5):
        found, counts = probe.run(algorithm)
        for room in (0, 1, 2, 3, len(found), len(found) + 1):
            assert probe.run(algorithm, room) == (found, counts)


def test_probe_records__full_before_a_record():
    """What the records before it had found is kept, and it is itself begun anew."""
    probe = Probe.of([{0, 1}] * 4, "jaccard", Fraction(1))
    expected = [(1, 0, 2), (2, 0, 2), (2, 1, 2), (3, 0, 2), (3, 1, 2), (3, 2, 2)]
    for room in range(8):
        assert probe.run("ppjoin", room) == (expected, [32, 12, 0, 12, 12, 6])
