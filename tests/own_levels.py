"""Levels of users that are full and located by arithmetic, with positions that are not those of an array."""

from dataclasses import dataclass

import weft
from weft.ir import Block, Select
from weft.ir.builder import add, lit, lt, mul, sub


@dataclass(frozen=True)
class Backwards(weft.LevelFormat):
    """The last coordinate comes first; iterated by position."""

    letter = "w"
    locates = "direct"
    full = True
    placing = "get"
    ordered: bool = False

    def pos_bounds(self, m, parent):
        return mul(parent, m.dimension), mul(add(parent, lit(1)), m.dimension)

    def pos_access(self, m, p, parent, coords):
        return sub(sub(mul(add(parent, lit(1)), m.dimension), lit(1)), p)

    def locate(self, m, parent, coord):
        return sub(sub(mul(add(parent, lit(1)), m.dimension), lit(1)), coord)

    def get_size(self, m, parent_size):
        return mul(parent_size, m.dimension)

    def get_pos(self, m, parent, coords):
        return self.locate(m, parent, coords[m.level])

    def insert_coord(self, m, p, coord):
        return Block(())

    def size(self, parent_size, dimension, arrays):
        return parent_size * dimension


@dataclass(frozen=True)
class Reversed(weft.LevelFormat):
    """The last coordinate comes first; iterated by value."""

    letter = "v"
    iteration = "value"
    locates = "direct"
    full = True
    placing = "get"

    def coord_bounds(self, m, parent, coords):
        return lit(0), m.dimension

    locate, get_size, get_pos, size = Backwards.locate, Backwards.get_size, Backwards.get_pos, Backwards.size


@dataclass(frozen=True)
class Rotated(weft.LevelFormat):
    """The last coordinate comes first, then the others in order; iterated by value."""

    letter = "x"
    iteration = "value"
    locates = "direct"
    full = True
    placing = "get"

    def coord_bounds(self, m, parent, coords):
        return lit(0), m.dimension

    def locate(self, m, parent, coord):
        after = add(coord, lit(1))
        return add(mul(parent, m.dimension), Select(lt(after, m.dimension), after, lit(0)))

    get_size, get_pos, size = Backwards.get_size, Backwards.get_pos, Backwards.size


@dataclass(frozen=True)
class Apart(weft.LevelFormat):
    """Two positions without an entry behind those of each parent; iterated by value."""

    letter = "g"
    iteration = "value"
    locates = "direct"
    full = True
    placing = "get"
    compact = False

    def coord_bounds(self, m, parent, coords):
        return lit(0), m.dimension

    def locate(self, m, parent, coord):
        return add(mul(parent, add(m.dimension, lit(2))), coord)

    def get_size(self, m, parent_size):
        return mul(parent_size, add(m.dimension, lit(2)))

    def size(self, parent_size, dimension, arrays):
        return parent_size * (dimension + 2)

    get_pos = Backwards.get_pos


@dataclass(frozen=True)
class ApartByPosition(Apart):
    """The same, iterated by position, where the positions of a parent are those of its coordinates."""

    iteration = "position"

    def pos_bounds(self, m, parent):
        begin = mul(parent, add(m.dimension, lit(2)))
        return begin, add(begin, m.dimension)

    def pos_access(self, m, p, parent, coords):
        return sub(p, mul(parent, add(m.dimension, lit(2))))


OWN = [Backwards(), Reversed(), Rotated(), Apart(), ApartByPosition()]
