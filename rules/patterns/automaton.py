"""Matching without backtracking.

The pattern becomes a nondeterministic automaton (Thompson, 1968). A text runs through the sets
of its places that can be reached at the same time, which are worked out when a text first needs
them and kept (a lazy subset construction). The memory for them is bounded: when it is full it is
emptied. So a character costs one look-up, or at worst a visit to each place of the automaton.
"""

from collections.abc import Callable, Iterable

from rules.patterns.nodes import Characters, Choice, Node, Repeat

ACCEPTING = 0

_READ_IN_ONE = 4
_VISIT = 4

_MEMORY = 10_000
"""Remembered steps, plus places of the remembered sets."""


class Machine:
    """A nondeterministic automaton.

    A place that `wants` characters leads to its one target by reading one of them; the others
    lead to each of their targets at once. Place 0 accepts.
    """

    def __init__(self, pattern: Node) -> None:
        self.wants: list[Characters | None] = [None]
        self.targets: list[tuple[int, ...]] = [()]
        self.entry = self._enter(pattern, ACCEPTING)

    def _enter(self, node: Node, after: int) -> int:
        """The place from which the node leads to the place `after`."""
        if isinstance(node, Characters):
            return self._place(node, (after,))
        if isinstance(node, Choice):
            return self._place(None, tuple(self._enter(part, after) for part in node.parts))
        if isinstance(node, Repeat):
            return self._enter_repeat(node, after)
        for part in reversed(node.parts):
            after = self._enter(part, after)
        return after

    def _enter_repeat(self, node: Repeat, after: int) -> int:
        if node.most is None:
            loop = self._place(None, ())
            self.targets[loop] = (self._enter(node.body, loop), after)
            after = loop
        else:
            end = after
            for _ in range(node.most - node.least):
                after = self._place(None, (self._enter(node.body, after), end))
        for _ in range(node.least):
            after = self._enter(node.body, after)
        return after

    def _place(self, wanted: Characters | None, targets: tuple[int, ...]) -> int:
        self.wants.append(wanted)
        self.targets.append(targets)
        return len(self.wants) - 1

    def reach(self, places: Iterable[int]) -> frozenset[int]:
        """The accepting place and those that read, as far as they are met without reading."""
        seen: set[int] = set()
        found: list[int] = []
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            if place == ACCEPTING or self.wants[place] is not None:
                found.append(place)
            else:
                waiting += self.targets[place]
        return frozenset(found)

    def read(self, places: Iterable[int], character: str) -> frozenset[int]:
        """What is reached from any of the places by reading the character."""
        met: set[int] = set()
        for place in places:
            wanted = self.wants[place]
            if wanted is not None and character in wanted:
                met.update(self.targets[place])
        return self.reach(met)


class _State(dict[str, "_State | None"]):
    """A set of places, and the states that characters lead to; None where nothing is reached."""

    __slots__ = ("_automaton", "accepts", "places")

    def __init__(self, automaton: "Automaton", places: frozenset[int]) -> None:
        self._automaton = automaton
        self.places = places
        self.accepts = ACCEPTING in places

    def __missing__(self, character: str) -> "_State | None":
        return self._automaton.extend(self, character)


class Automaton:
    """Runs one machine, and remembers its sets of places."""

    def __init__(self, pattern: Node | Machine) -> None:
        self._machine = pattern if isinstance(pattern, Machine) else Machine(pattern)
        self._states: dict[frozenset[int], _State] = {}
        self._used = 0
        self._start = self._state(self._machine.reach([self._machine.entry]))

    def accepts(self, text: str) -> bool:
        """Whether the machine accepts the whole text."""
        state = self._start
        for character in text:
            following = state[character]
            if following is None:
                return False
            state = following
        return state.accepts

    def accepts_within(self, text: str, spend: Callable[[int], None]) -> bool:
        """As `accepts`; `spend` is told of the work as it is done, and may raise to end it.

        Its unit is about what looking at one row in a join takes.
        """
        spend(len(text) // _READ_IN_ONE)
        state = self._start
        for character in text:
            if character not in state:
                spend(_VISIT * len(state.places))
            following = state[character]
            if following is None:
                return False
            state = following
        return state.accepts

    @property
    def size(self) -> int:
        """Places of the machine."""
        return len(self._machine.wants)

    @property
    def memory_used(self) -> int:
        """Remembered steps, plus places of the remembered sets."""
        return self._used

    def extend(self, state: _State, character: str) -> _State | None:
        """Work out, and remember, where a character leads."""
        places = self._machine.read(state.places, character)
        if self._used >= _MEMORY:
            self._forget()
        self._used += 1
        following = state[character] = self._state(places) if places else None
        return following

    def _state(self, places: frozenset[int]) -> _State:
        state = self._states.get(places)
        if state is None:
            state = self._states[places] = _State(self, places)
            self._used += len(places)
        return state

    def _forget(self) -> None:
        for state in list(self._states.values()):
            state.clear()
        self._states = {self._start.places: self._start}
        self._used = len(self._start.places)
