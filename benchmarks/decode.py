"""How fast replies are decoded, and that the cost grows in proportion to their length.

Content is what the model wrote: text, reasoning, arguments. A server wraps every few characters of
it into an event of some 250 bytes, so three rates are told apart: the Decoder alone, given the
payloads; BodyReader and Decoder, given bytes as they come from the network; and `json.loads` of the
payloads, which no reader in Python can be faster than.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.replies import WORKLOADS, Workload
from harness.model.decode import Decoder
from harness.model.sse import BodyReader, Chunk

KILO = 1024
SIZES = (64 * KILO, 256 * KILO, KILO * KILO)
CHARACTERS = (4, 16, 64)
"""Of one event. About 4 are one token; servers that batch or draft send more."""
TOKEN = 4
PACKET = 4096
MOST_GROWTH = 1.6
"""Of the time per byte from the smallest to the largest size, where 1 is linear."""

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": "string"} for key in keys},
                "required": list(keys),
            },
        },
    }
    for name, keys in {"read_file": ("path",), "write_file": ("path", "content")}.items()
]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks decode")
    parser.add_argument("--runs", type=int, default=3, help="the best of so many counts")
    parser.add_argument("--large", action="store_true", help="also replies of 4 MB")
    parser.add_argument("--only", default="", help="workloads whose name holds this")
    options = parser.parse_args(argv)
    sizes = (*SIZES, 4 * KILO * KILO) if options.large else SIZES
    chosen = {name: make for name, make in WORKLOADS.items() if options.only in name}
    rates = _rates(chosen["prose"], options.runs) if "prose" in chosen else {}
    _print_rates(rates)
    growth = _growths(chosen, sizes, options.runs)
    linear = all(by[0] / by[-1] <= MOST_GROWTH for by in growth.values())
    sys.stdout.write(json.dumps(_figures(rates, growth, linear)) + "\n")
    return 0 if linear else 1


def events(deltas: list[dict[str, Any]]) -> list[str]:
    """The deltas as a server sends them."""
    return [_payload(delta) for delta in deltas] + [_payload({}, "stop")]


def _payload(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return json.dumps(
        {
            "id": "chatcmpl-Zq3xY7aaBB01",
            "object": "chat.completion.chunk",
            "created": 1790000001,
            "model": "qwen3-coder-30b-a3b-instruct",
            "system_fingerprint": "b9800-0a1b2c3d4",
            "choices": [choice],
        }
    )


def decoder_alone(deltas: list[dict[str, Any]]) -> Callable[[], None]:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})

    def run() -> None:
        decoder = Decoder(TOOLS)
        for chunk in chunks:
            decoder.feed(chunk)
        decoder.finish()

    return run


def from_bytes(payloads: list[str]) -> Callable[[], None]:
    body = "".join(f"data: {each}\n\n" for each in payloads).encode() + b"data: [DONE]\n\n"
    packets = [body[at : at + PACKET] for at in range(0, len(body), PACKET)]

    def run() -> None:
        reader, decoder = BodyReader(), Decoder(TOOLS)
        for packet in packets:
            for item in reader.feed(packet):
                if isinstance(item, Chunk):
                    decoder.feed(item.payload)
        decoder.finish()

    return run


def json_alone(payloads: list[str]) -> Callable[[], None]:
    def run() -> None:
        for each in payloads:
            json.loads(each)

    return run


def best(run: Callable[[], None], runs: int) -> float:
    """Processor seconds of the fastest run; the collector would count what we hold ourselves."""
    gc.collect()
    gc.disable()
    try:
        return min(_timed(run) for _ in range(runs))
    finally:
        gc.enable()


def _timed(run: Callable[[], None]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def _rates(workload: Workload, runs: int) -> dict[int, dict[str, float]]:
    """By characters an event: MB of content a second, and of events."""
    found = {}
    for characters in CHARACTERS:
        deltas, written = _reply(workload, SIZES[-2], characters)
        payloads = events(deltas)
        sent = sum(len(each) + len("data: \n\n") for each in payloads)
        seconds = {
            "decoder": best(decoder_alone(deltas), runs),
            "bytes": best(from_bytes(payloads), runs),
            "json": best(json_alone(payloads), runs),
        }
        found[characters] = {name: written / taken / 1e6 for name, taken in seconds.items()} | {
            "events": sent / seconds["bytes"] / 1e6,
            "json_share": seconds["json"] / seconds["bytes"],
        }
    return found


def _reply(workload: Workload, size: int, characters: int) -> tuple[list[dict[str, Any]], int]:
    """The deltas of a reply, and the bytes of its content."""
    pieces = list(workload(size, characters))
    written = sum(len(content.encode()) for content, _ in pieces)
    return [delta for _, delta in pieces], written


def _print_rates(rates: dict[int, dict[str, float]]) -> None:
    out = sys.stdout.write
    if rates:
        out("prose: MB of content a second\n")
        out(f"{'characters an event':<22}{'decoder':>9}{'from bytes':>12}{'json.loads':>12}")
        out(f"{'json share':>12}{'MB/s of events':>16}\n")
    for characters, rate in rates.items():
        out(f"{characters:<22}{rate['decoder']:>9.1f}{rate['bytes']:>12.1f}{rate['json']:>12.1f}")
        out(f"{rate['json_share']:>12.0%}{rate['events']:>16.0f}\n")


def _growths(
    workloads: Mapping[str, Workload], sizes: tuple[int, ...], runs: int
) -> dict[str, list[float]]:
    """By workload and size: MB of content a second of the Decoder alone, events of one token."""
    out = sys.stdout.write
    labels = "".join(f"{f'{size // KILO} KB':>10}" for size in sizes)
    out(f"\nDecoder alone, {TOKEN} characters an event: MB of content a second; growth is the\n")
    out("time per byte of the largest reply over that of the smallest\n")
    out(f"{'':<30}{labels}{'growth':>9}\n")
    found: dict[str, list[float]] = {}
    for name, workload in workloads.items():
        by_size = [_rate(workload, size, runs) for size in sizes]
        cells = "".join(f"{rate:>10.2f}" for rate in by_size)
        out(f"{name:<30}{cells}{by_size[0] / by_size[-1]:>9.2f}\n")
        sys.stdout.flush()
        found[name] = by_size
    return found


def _rate(workload: Workload, size: int, runs: int) -> float:
    deltas, written = _reply(workload, size, TOKEN)
    return written / best(decoder_alone(deltas), runs) / 1e6


def _figures(
    rates: dict[int, dict[str, float]], growth: dict[str, list[float]], linear: bool
) -> dict[str, Any]:
    return {
        "content_mb_s": {
            str(characters): {name: round(value, 2) for name, value in rate.items()}
            for characters, rate in rates.items()
        },
        "decoder_mb_s": {name: [round(rate, 2) for rate in by] for name, by in growth.items()},
        "growth": {name: round(by[0] / by[-1], 2) for name, by in growth.items()},
        "linear": linear,
    }
