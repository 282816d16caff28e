"""Sets of chunks as integers (bit i is the chunk at position i), and possible truth values per chunk."""

from __future__ import annotations

from collections.abc import Iterable

from dctv.record import record


@record
class Possible:
    """The chunks in which a condition may be true, false or unknown for some event."""

    true: int
    false: int
    unknown: int

    def both(self, other: Possible) -> Possible:
        """Return the result of AND with another condition."""
        mine, theirs = self.true | self.false | self.unknown, other.true | other.false | other.unknown
        return Possible(
            self.true & other.true,
            (self.false & theirs) | (other.false & mine),
            (self.unknown & (other.true | other.unknown)) | (other.unknown & self.true),
        )

    def opposite(self) -> Possible:
        """Return the result of NOT."""
        return Possible(self.false, self.true, self.unknown)

    def within(self, true: int, false: int) -> Possible:
        """Return the possible values if it can be true or false only in these chunks."""
        return Possible(self.true & true, self.false & false, self.unknown)


def set_of(positions: Iterable[int], count: int) -> int:
    """Return the set of the chunks at these positions."""
    digits = bytearray(b"0") * (count + 1)
    for position in positions:
        digits[count - position] = 49
    return int(digits, 2)


def chunks_where(flags: Iterable[bool]) -> int:
    """Return the set of chunks for which a flag is set; flags come with the last chunk first."""
    return int("0" + "".join(["1" if flag else "0" for flag in flags]), 2)


def positions_of(chunks: int) -> list[int]:
    """Return the positions of a set of chunks, ascending."""
    return [place for place, digit in enumerate(reversed(bin(chunks)[2:])) if digit == "1"]
