"""A whole message taken apart: what it says, what was thought, and the calls written into it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.model.families.form import LOST, NOT_LAST, Block, Problem, Written
from harness.model.markup import Grammar, Place, read
from harness.model.offer import Offer
from harness.model.repair import skip_space
from harness.model.thoughts import THINK_END, leading_thoughts


@dataclass(frozen=True)
class Parts:
    """`calls` are empty with a `problem`; `lone_thought` tells of a thought without an opener."""

    text: str
    reasoning: str
    lone_thought: bool
    calls: tuple[Written, ...]
    problem: Problem | None


def split(content: str, offer: Offer, grammar: Grammar, strict: bool = False) -> Parts:
    """Take a message apart. Calls count only where they are the last thing in it.

    `strict` tells that the message is no answer whatever it holds, so that no tag is spoken of.
    """
    thoughts, answer = leading_thoughts(content)
    text = "\n" + answer
    # a thought in a thought: what ends it ends only the inner one
    nested = any("<think>" in thought for thought in thoughts)
    lone_end = -1 if thoughts and not nested else lone_thought_end(text, offer, grammar)
    if lone_end >= 0:
        more, answer = leading_thoughts(text[lone_end + len(THINK_END) :])
        thoughts = [*thoughts, text[:lone_end], *more]
        text = "\n" + answer
    found = [_looked_through(block, offer, grammar) for block in grammar.blocks(text, offer)]
    blocks = [_in_its_place(block, text, found[at - 1 : at]) for at, block in enumerate(found)]
    if not thoughts:
        blocks = [_end_spoken_of(block, text) for block in blocks]
    first = _first_of_last(text, blocks)
    last = blocks[first:]
    examples = [_as_example(block, text, grammar) for block in blocks[:first]]
    before = [block for block in examples if block.tagged or block.loose]
    problems = [block.problem for block in last if block.problem]
    if any(block.is_call for block in before):
        problems = [Problem("malformed_tool_call", NOT_LAST)]
    calls = () if problems else tuple(call for block in last for call in block.calls)
    answered = not (problems or calls or strict)
    hidden = [block for block in (*before, *last) if not (block.loose and answered)]
    if not answered:
        hidden = [_without_tags(block, offer, grammar) for block in hidden]
    thoughts += [block.reasoning for block in blocks if block.reasoning]
    shown = _without(text, hidden, cut=bool(problems)).strip()
    return Parts(
        text=grammar.without_beginning(shown) if strict else shown,
        reasoning="\n".join(thought.strip() for thought in thoughts),
        lone_thought=lone_end >= 0,
        calls=calls,
        problem=problems[0] if problems else None,
    )


def lone_thought_end(text: str, offer: Offer, grammar: Grammar) -> int:
    """Where a `</think>` stands that no `<think>` opened (the template did), or -1.

    `text` starts with a newline. One in code, or behind a broken call, is text, and so is one
    within a line after words about `<think>`.
    """
    if THINK_END not in text:
        return -1
    spoken_of = False
    misses = 0
    _, stop = grammar.walk(text, Place(), final=True)
    while stop is not None and stop.families:
        block = read(text, stop, offer, misses)
        if block.problem:
            return -1
        misses += not (block.tagged or block.loose or block.is_call)
        behind = max(block.end, stop.at + 1)
        spoken_of |= block.loose and text.startswith("<think>", stop.at)
        _, stop = grammar.walk(text, Place(behind), final=True)
    if stop is None or (spoken_of and not _has_its_line(text, stop.at, THINK_END)):
        return -1
    return stop.at


def _has_its_line(text: str, at: int, tag: str) -> bool:
    """Whether a tag starts or ends its line."""
    line = text[:at].rpartition("\n")[2], text[at + len(tag) :].partition("\n")[0]
    return not all(part.strip() for part in line)


def _end_spoken_of(block: Block, text: str) -> Block:
    """A `</think>` within a line, in a message without thoughts, is spoken of."""
    ends = text.startswith(THINK_END, block.start)
    if not ends or _has_its_line(text, block.start, THINK_END):
        return block
    return replace(block, tagged=False, loose=True, text=" ")


def _looked_through(block: Block, offer: Offer, grammar: Grammar) -> Block:
    """A block whose own text holds no markup either: a call in there is none."""
    if not block.text.strip():
        return block
    within = grammar.blocks("\n" + block.text, offer)
    hidden = [inner for inner in within if inner.is_call or inner.tagged or inner.loose]
    if not any(inner.is_call for inner in hidden):
        return block
    text = _without("\n" + block.text, hidden, cut=True).strip()
    problem = block.problem or Problem("malformed_tool_call", NOT_LAST)
    return replace(block, calls=(), problem=problem, text=text)


def _without_tags(block: Block, offer: Offer, grammar: Grammar) -> Block:
    """A block beside a call, whose own text then speaks of no tags."""
    if not block.text.strip():
        return block
    within = grammar.blocks("\n" + block.text, offer)
    return replace(block, text=_without("\n" + block.text, within, cut=False).strip())


def _in_its_place(block: Block, text: str, before: Sequence[Block]) -> Block:
    """A block, knowing what is around it: a closing tag that is there twice ends the same call,
    and what calls no tool of ours in the middle of a sentence is an example."""
    problem = block.problem
    if problem and problem.error == "unknown_tool" and skip_space(text, block.end) < len(text):
        line = text[max(0, block.start - 60) : block.start].rpartition("\n")[2]
        return replace(block, problem=None, tagged=False, loose=True) if line.strip() else block
    again = text.startswith(("</tool_call>", "</tool_calls>"), block.start)
    if not again or not problem or problem.sentence != LOST or not before or not before[0].is_call:
        return block
    between = text[before[0].end : block.start].strip()
    return block if between else replace(block, problem=None)


def _as_example(block: Block, text: str, grammar: Grammar) -> Block:
    """JSON in front of a call, with a tag in one of its strings: not to be shown beside a call."""
    other = block.tagged or not block.is_call or text[block.start] in "`~"
    if other or not grammar.has_tag(text, block.start, block.end):
        return block
    return replace(block, calls=(), problem=None, loose=True, text=" ")


def _first_of_last(text: str, blocks: Sequence[Block]) -> int:
    """The index from which on the blocks are calls, with only white space between and after;
    what is tagged and says nothing is white space, too."""
    first = len(blocks)
    end = len(text)
    while first and not text[blocks[first - 1].end : end].strip():
        block = blocks[first - 1]
        says = block.text.strip() or block.reasoning.strip()
        if not block.is_call and (not block.tagged or says):
            break
        first -= 1
        end = block.start
    return first


def _without(text: str, blocks: Sequence[Block], cut: bool) -> str:
    """The text with these blocks taken out, or `cut` off behind the first of them: what stands
    around a broken call may be more of it."""
    kept: list[str] = []
    at = 0
    for block in blocks:
        around = text[block.start - 1 : block.start] + text[block.end : block.end + 1]
        # what stands on both sides must not become one word, and least of all a tag
        gap = " " if len(around) == 2 and not any(map(str.isspace, around)) else ""
        kept.extend((text[at : block.start], block.text or gap))
        at = block.end
        if cut and (block.is_call or block.loose):
            return "".join(kept)
    return "".join([*kept, text[at:]])
