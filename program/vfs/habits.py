"""What somebody does with a file, told from where they read; pure.

Media servers look through files to draw thumbnails, find intros and measure loudness. They take a sample here and there, hundreds
of times, or read faster than any film plays; whoever watches reads on at a film's pace. In doubt it is watching.
"""

from dataclasses import dataclass
from enum import StrEnum

MIB = 1024 * 1024

# A jump after which less than this was read took a sample; whoever reads on for so long after a jump watches.
SAMPLE, READS_ON = 4 * MIB, 16 * MIB

# So many samples in a row, with no longer rest than this between two, are nobody's search for a scene.
MANY_SAMPLES = 24
LONGEST_REST = 30.0

# Bytes a second, and bytes in a row, that nobody watches: the best discs have 16 million a second.
FASTER_THAN_FILMS = 32 * MIB
LONG_RUN = 1024 * MIB


class Kind(StrEnum):
    """What a read is part of; the value is what the counters call it."""

    HEAD = "reads_head"
    TAIL = "reads_tail"
    SEEK = "reads_seek"
    SEQUENTIAL = "reads_sequential"
    ANALYSIS = "reads_analysis"


@dataclass(slots=True)
class Habits:
    """What one handle did lately. samples: taken in a row; since_jump: bytes read after the last jump."""

    samples: int = 0
    since_jump: int = 0
    last: float = 0.0

    @property
    def is_sampling(self) -> bool:
        """Whether the handle takes samples all over the file."""
        return self.samples >= MANY_SAMPLES

    def read(self, count: int, now: float, *, is_jump: bool) -> None:
        """Note a read away from the file's ends. now: monotonic seconds."""
        if now - self.last > LONGEST_REST:
            self.samples = 0
        self.last = now
        if is_jump:
            self.samples = self.samples + 1 if self.since_jump < SAMPLE else 1
            self.since_jump = 0
        self.since_jump += count
        if self.since_jump >= READS_ON:
            self.samples = 0
