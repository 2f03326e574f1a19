"""What Rivulet costs, each time beside something else that was measured in the same run: `make bench`.

One family of rows is one file in `bench/rows/`; nothing else has to be told about it:

    class Sorting(Family):
        key = "sorting"                      # make bench ARGS="--only sorting"
        title = "Sorting numbers"
        seconds = 60                         # the family is stopped after this
        needs = ("rclone",)                  # programs that must be on PATH, else it is told as not measured

        def trials(self, stage: Stage) -> Iterator[Trial]:
            numbers = [...] * stage.size(100_000, tiny=100)
            server = stage.start(["nginx", ...])                 # ended with the family, by its own id
            mount = stage.enter(mounted(stage.folder / "mnt"))   # any context manager; left with the family
            yield Trial(
                rows=(Row("100,000 numbers", "s", beside="sorted()", bar=Bar.ratio(1.5)),),
                ours=lambda: (seconds(our_sort, numbers),),
                reference=lambda: (seconds(sorted, numbers),),
            )

A trial is run `--rounds` times, ours and the reference in turn, and each call answers one number per row, in the order of `rows`.
A row shows the median of both, and the median and spread of their **ratio, ours by the reference, round by round**: the machine's
mood cancels out, so compare ratios, never two runs' seconds. `trials` is a generator: a trial is measured before the next one is
made, and what it opens with `with` or through the stage is closed even when the family is stopped half-way. Bars: `Bar.value`,
`Bar.ratio`, `Bar.beyond` (at most that much more than the reference), each at most, or `at_least=True`.

Each family runs in a process of its own (memory and caches start fresh) which the runner stops when its time is over. In the tests
every family runs once in its tiny form, so that none goes stale: everything whose size matters asks `stage.size(full, tiny=small)`.
"""

from bench.row import Bar, Family, Row, Trial
from bench.stage import Stage
from bench.timing import percentile, seconds

__all__ = ["Bar", "Family", "Row", "Stage", "Trial", "percentile", "seconds"]
