import json
from pathlib import Path

import pytest

from harness.model.classify import classify, seconds_of
from harness.model.failures import CAUSES, RequestFailed, one_line

ROOT = Path(__file__).parents[2]


def body(message: str, **fields: object) -> str:
    return json.dumps({"error": {"message": message, **fields}})


@pytest.mark.parametrize(
    ("status", "text", "error_class"),
    [
        (
            400,
            body("request (9 tokens) exceeds the available context size (8 tokens)"),
            "context_overflow",
        ),
        (500, body("the request exceeds the available context size"), "context_overflow"),
        (400, body("x", type="exceed_context_size_error"), "context_overflow"),
        (
            400,
            '{"object":"error","message":"This model\'s maximum context length is 8 tokens."}',
            "context_overflow",
        ),
        (400, '{"error":"tokens to keep is greater than the context length"}', "context_overflow"),
        (400, body("x", code="context_length_exceeded"), "context_overflow"),
        (200, body("Input does not fit in context length."), "context_overflow"),
        (500, body("no user query found in messages"), "context_overflow"),
        (
            400,
            body("prompt too long; exceeded max context length by 17 tokens"),
            "context_overflow",
        ),
        (
            400,
            body("The input token count (11) exceeds the maximum number of tokens allowed (10)."),
            "context_overflow",
        ),
        (413, "<html><title>413 Request Entity Too Large</title></html>", "context_overflow"),
        (
            429,
            body("Rate limit reached: 200000 tokens per min, too many tokens"),
            "backend_unavailable",
        ),
        (429, body("You exceeded your current quota", code="insufficient_quota"), "auth"),
        (529, body("Overloaded", type="overloaded_error"), "backend_unavailable"),
        (200, body("slow down", code="429"), "backend_unavailable"),
        (500, body(body("Failed to parse input at pos 7: <tool_call>")), "malformed_tool_call"),
        (500, body("Jinja Exception: This model does not support tools"), "tools_unsupported"),
        (500, body("Jinja Exception: Something odd"), "template_rejected"),
        (400, body("System role not supported"), "template_rejected"),
        (400, body("Tool role is not supported"), "template_rejected"),
        (400, body("Unrecognized request argument supplied: stream_options"), "bad_request"),
        (404, body("No endpoints found that support tool use."), "tools_unsupported"),
        (
            500,
            body("...raise_exception('S...\nError: Jinja Exception: roles must alternate"),
            "template_rejected",
        ),
        (
            400,
            body("Failed to initialize samplers: failed to parse grammar"),
            "tool_schema_rejected",
        ),
        (400, body("registry.ollama.ai/x does not support tools"), "tools_unsupported"),
        (500, body("tools param requires --jinja flag"), "tools_unsupported"),
        (
            500,
            body("Failed to parse input at pos 9: <tool_call>does not exist"),
            "malformed_tool_call",
        ),
        (500, body("invalid character ']' after object key:value pair"), "malformed_tool_call"),
        (503, body("Loading model", type="unavailable_error"), "model_loading"),
        (503, body("server busy, please try again"), "backend_unavailable"),
        (429, body("slow down"), "backend_unavailable"),
        (502, "<html><title>502 Bad Gateway</title></html>", "backend_unavailable"),
        (404, body("model 'qwen' not found"), "model_not_found"),
        (404, body("x", code="model_not_found"), "model_not_found"),
        (404, "<html>model not found</html>", "backend_unavailable"),
        (404, '{"detail":"Not Found"}', "backend_unavailable"),
        (301, "", "backend_unavailable"),
        (401, body("Unauthorized"), "auth"),
        (403, body("model does not exist"), "auth"),
        (400, body("bad temperature"), "bad_request"),
        (422, '{"detail":[{"msg":"field required"}]}', "bad_request"),
        (500, body("boom"), "server_error"),
        (500, "", "server_error"),
        (200, body("EngineCore failed", code=500), "server_error"),
        (500, "[" * 50_000, "server_error"),
    ],
)
def test_errors_are_known_by_their_body(status: int, text: str, error_class: str) -> None:
    assert classify(status, text).error_class == error_class


def test_a_template_error_says_what_the_template_said() -> None:
    trace = (
        "\n------\nWhile executing at line 85\n ^\nError: Jinja Exception: Roles must alternate."
    )
    assert ": Roles must alternate. " in classify(500, body(trace)).line("HOST")


def test_a_wait_is_seconds_or_a_date() -> None:
    assert classify(429, "", "2.5").wait == 2.5
    noon = 1_784_462_400.0
    assert seconds_of("Sun, 19 Jul 2026 12:00:30 GMT", noon) == 30
    assert seconds_of("Sun, 19 Jul 2026 11:00:00 GMT", noon) == 0
    for odd in ("", "soon", "nan", "inf", "-", "Sun, 99 Jul 2026 12:00:30 GMT", "9" * 400):
        assert seconds_of(odd, noon) is None
    assert seconds_of("-3", noon) == 0


def test_the_line_is_one_short_line_whatever_was_said() -> None:
    page = "<html><head><style>p{}</style></head><body>" + "<p>An error\n\n</p>" * 5000
    for said in (page, "\x1b[31mred\x1b[0m\nnext" * 500, "x" * 100_000):
        line = RequestFailed("server_error", said).line("http://h/v1")
        assert len(line) < 400
        assert line.isprintable()


def test_a_page_is_quoted_by_its_title() -> None:
    assert one_line("<html><title>\n502 Bad\nGateway </title><p>x") == "502 Bad Gateway"


def test_every_cause_names_a_documented_class() -> None:
    page = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
    for cause in CAUSES.values():
        assert f"| `{cause.error_class}` |" in page
