"""A wrong expectation of each kind makes a case fail: no check is there for nothing."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.__main__ import main
from tests.cases.wire import loaded, outcome_of
from tests.cases.wire_course import RETRIES, Course, faults_of_deeds, faults_of_retry, unread
from tests.cases.wire_match import Did, Seen, faults_of_reply

Case = dict[str, Any]
FOLDER = Path(__file__).parent / "cases"


def read(name: str) -> Case:
    return loaded(FOLDER / f"{name}.json")


GOOD_CALL = read("004-qwen3coder-missing-open-tag")
GOOD_TEXT = read("079-content-null-opening-chunk")
THOUGHT = read("087-think-block-then-answer")
BROKEN = read("024-unclosed-envelope-stop")
CUT = read("057-trunc-length-valid-json")
EMPTY = read("084-empty-answer-in-reasoning")
OVERFLOW = read("099-ovf-vllm-new-shape")
TEMPLATE = read("105-tmpl-system-500")
NO_TOOLS = read("121-notools-llamacpp-jinja")
AUTH = read("132-auth-401-jan")
LEGAL = read("136-req-tool-message-unpaired")
LOOP = read("144-loop-alternating-calls")
NO_LOOP = read("145-loop-legit-repeat-control")
PATCH = read("153-edit-mixed-eol")
MISSING = read("165-path-not-found-suggest")
SERVER = read("172-disc-ollama-show-ps")
REFUSED = read("156-edit-noop")
INTERRUPTED = read("127-avail-reset-midstream")


def faults(case: Case, changed: Case) -> str:
    """What the runner says of a case of which some expectations are others."""
    other = copy.deepcopy(case)
    other["expect"] = {**other["expect"], **changed}
    return "\n".join(outcome_of("case", other).faults)


@pytest.mark.parametrize(
    ("case", "changed", "told"),
    [
        # decode
        (GOOD_CALL, {"tool_calls": []}, "the calls are"),
        (GOOD_CALL, {"tool_calls": [{"name": "read_file", "arguments": {}}]}, "the calls are"),
        (GOOD_CALL, {"text": "something"}, "the text is ''"),
        (GOOD_CALL, {"error": "empty"}, "the error is None"),
        (GOOD_CALL, {"finish": "stop"}, "the finish is"),
        (GOOD_CALL, {"must_not": ["run_shell executed"]}, "must not: run_shell was run"),
        (GOOD_TEXT, {"text": ""}, "the text is"),
        (GOOD_TEXT, {"text": "", "accept": [{"text": "other"}]}, "the text is"),
        (THOUGHT, {"reasoning_contains": "nobody thought this"}, "the reasoning is"),
        (BROKEN, {"error": "empty"}, "the error is malformed_tool_call"),
        (BROKEN, {"error": None}, "the error is malformed_tool_call"),
        (BROKEN, {"retry": "none"}, "retry none: asked"),
        (BROKEN, {"feedback": ["no such words"]}, "nobody is told 'no such words'"),
        (BROKEN, {"max_requests": 1}, "requests, more than 1"),
        (CUT, {"finish": "stop"}, "the finish is 'length'"),
        (EMPTY, {"retry": "none"}, "retry none: asked"),
        (EMPTY, {"fallback_text": "something else"}, "the turn's answer is"),
        # a request
        (OVERFLOW, {"learn": {"context_length": 1}}, "the context length learned is 16384"),
        (OVERFLOW, {"error": "template_rejected"}, "the error is context_overflow"),
        (OVERFLOW, {"remedy": "fewer max_tokens"}, "remedy: the second request asks for as many"),
        (OVERFLOW, {"retry": "backoff"}, "retry backoff: there was no wait"),
        (OVERFLOW, {"max_requests": 1}, "in a turn: 2 requests, more than 1"),
        (TEMPLATE, {"max_requests": 0}, "more than 0"),
        (NO_TOOLS, {"hint": ["--no-such-flag"]}, "nobody is told '--no-such-flag'"),
        (AUTH, {"retry": "once"}, "retry once: asked 1 times, 1 in the same way"),
        (AUTH, {"retry": "backoff"}, "there was no wait"),
        (AUTH, {"error": "bad_request"}, "the error is auth"),
        (AUTH, {"max_requests": 0}, "1 requests, more than 0"),
        (INTERRUPTED, {"text": "", "accept": []}, "the text is 'Writing the file.'"),
        (LEGAL, {"text": "Refused."}, "the text is 'Understood.'"),
        (LEGAL, {"max_requests": 0}, "1 requests, more than 0"),
        # turns
        (LOOP, {"error": None}, "the error is loop_detected"),
        (LOOP, {"max_requests": 2}, "requests, more than 2"),
        (NO_LOOP, {"error": "loop_detected"}, "the error is None"),
        (NO_LOOP, {"text": "No."}, "the text is 'All tests pass.'"),
        (NO_LOOP, {"must_not": ["patch_file executed"]}, "must not: patch_file was run"),
        (NO_LOOP, {"must_not": ["a.py changed"]}, "must not: a call for a.py was run"),
        # tools
        (PATCH, {"files": {"mix.py": "a = 1\nb = 2\nc = 30\n"}}, "the files are"),
        (PATCH, {"files": {}, "accept_files": [{"mix.py": ""}]}, "the files are"),
        (PATCH, {"must_not": ["file_modified asserted"]}, "must not: file_modified"),
        (PATCH, {"tool_calls": []}, "the calls are"),
        (PATCH, {"error": "file_not_found"}, "the error is None"),
        (PATCH, {"result_contains": "no such words"}, "without 'no such words'"),
        (REFUSED, {"feedback": ["no such words"]}, "nobody is told 'no such words'"),
        (MISSING, {"error": "path_outside_workspace"}, "the error is file_not_found"),
        (MISSING, {"error": None, "accept_result": ["no such words"]}, "the error is file_not"),
        (MISSING, {"feedback": ["no such words"]}, "nobody is told 'no such words'"),
        # servers
        (SERVER, {"discovered": {"server": "vllm"}}, "the server is 'ollama'"),
        (SERVER, {"discovered": {"model": "other"}}, "the model is 'qwen3.5:9b'"),
        (SERVER, {"discovered": {"context_length": 262144}}, "the context_length is 4096"),
        (SERVER, {"discovered": {"tools": False}}, "the tools is True"),
        (SERVER, {"discovered": {"colour": "red"}}, "'colour' is not known"),
        (SERVER, {"error": "model_not_found"}, "the error is None"),
    ],
)
def test_a_wrong_expectation_fails(case: Case, changed: Case, told: str) -> None:
    assert told in faults(case, changed)


@pytest.mark.parametrize(
    ("case", "changed"),
    [
        (GOOD_TEXT, {"text": "", "accept": [{"text": GOOD_TEXT["expect"]["text"]}]}),
        (GOOD_TEXT, {"text": "", "text_mode": "any"}),
        (PATCH, {"files": {}, "accept_files": [PATCH["expect"]["files"]]}),
        (MISSING, {"accept_result": ["src/store.py"], "feedback": ["no such words"]}),
    ],
)
def test_an_accepted_alternative_is_enough(case: Case, changed: Case) -> None:
    assert faults(case, changed) == ""


def test_a_silence_that_is_too_long_is_a_fault() -> None:
    case = read("168-slow-tokens-alive")
    assert "the error is timeout" in faults(
        {**case, "settings": {"idle_timeout_s": 0.2}}, {"max_requests": 9}
    )


def test_a_reply_that_is_read_to_its_end_is_no_early_stop() -> None:
    case = {**GOOD_TEXT, "chunks": GOOD_TEXT["chunks"][-2:]}
    empty = {"text": "", "error": "empty", "early_stop": True}
    assert faults(case, empty) == "early_stop: the reply was read to its end"


@pytest.mark.parametrize("ids", [("", "b"), ("a", "a")])
def test_ids_that_are_empty_or_twice_are_a_fault(ids: tuple[str, str]) -> None:
    seen = Seen(calls=tuple(Did(each, "f", {}) for each in ids))
    call = {"name": "f", "arguments": {}}
    expect = {"tool_calls": [call, call], "text": "", "error": None, "ids": "unique_nonempty"}
    assert faults_of_reply(seen, expect) == [f"the ids are {list(ids)}"]


@pytest.mark.parametrize(
    ("retry", "course"),
    [
        ("none", Course(tries=2)),
        ("once", Course(tries=1)),
        ("once", Course(tries=3)),
        ("once", Course([{"tools": [1]}] * 3, tries=3)),
        ("once", Course([{"tools": [1]}, {}, {}], tries=3)),
        ("once", Course([{"tools": [1]}] * 2 + [{}, {}], tries=4)),
        ("bounded", Course(tries=1)),
        ("bounded", Course(tries=5)),
        ("backoff", Course(tries=1)),
        ("backoff", Course(tries=3, waits=(2.0, 1.0))),
        ("backoff", Course(tries=2, waits=(0.0,))),
        ("after_fix", Course([{"a": 1}, {"a": 1}], tries=2)),
        ("feedback", Course([{"a": 1}], tries=1)),
        ("feedback", Course([{"a": 1}, {"a": 1}], tries=2)),
        ("for ever", Course()),
    ],
)
def test_each_way_to_retry_can_be_wrong(retry: str, course: Course) -> None:
    assert list(faults_of_retry({"retry": retry}, course))


def test_each_way_to_retry_can_be_right() -> None:
    course = Course([{"a": 1}, {"a": 2}], tries=2, waits=(1.0,))
    right = [retry for retry in RETRIES if not list(faults_of_retry({"retry": retry}, course))]
    assert right == ["once", "bounded", "backoff", "after_fix", "feedback"]
    assert not list(faults_of_retry({"retry": "none"}, Course([{}], tries=1)))
    otherwise = Course([{"tools": [1]}] * 2 + [{"response_format": {}}], tries=3)
    assert not list(faults_of_retry({"retry": "once"}, otherwise))


@pytest.mark.parametrize(
    "phrase",
    ["write_file executed", "write_file with any other content", "app.py created"],
)
def test_each_deed_that_must_not_be_done_is_seen(phrase: str) -> None:
    expect = {"must_not": [phrase], "tool_calls": []}
    done = Course(ran=(Did("a", "write_file", {"path": "app.py", "content": "x"}),))
    assert unread(expect) == []
    assert list(faults_of_deeds(expect, done))
    assert not list(faults_of_deeds(expect, Course()))


def test_a_deed_in_words_that_are_not_understood_is_told_of() -> None:
    assert unread({"must_not": ["it smiles"]}) == ["it smiles"]


def test_other_cases_of_the_format_are_run_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = copy.deepcopy(GOOD_TEXT)
    wrong["expect"]["text"] = "Something that nobody said."
    for name, case in (("a", GOOD_CALL), ("b", wrong), ("c", {**GOOD_TEXT, "layer": "other"})):
        (tmp_path / f"{name}.json").write_text(json.dumps(case))
    assert main(["wire", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "1 passed, 2 failed"
    assert lines[-2] == "c.json: unknown layer 'other'"
    assert {line.split(":")[0] for line in lines[:-1]} == {"b.json", "c.json"}
