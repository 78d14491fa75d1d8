"""Which model is taken when nobody named one, and why."""

from dataclasses import replace

import pytest

from harness.errors import ModelFailure
from harness.model.models import Model, Server, context_shown, kind_of
from harness.model.servers import choose


def server(*models: str | Model, kind: str = "x") -> Server:
    entries = [
        each if isinstance(each, Model) else Model(each, kind=kind_of(each)) for each in models
    ]
    return Server(kind, "http://h/v1", tuple(entries), lists_models=True)


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        (["llama3", "qwen3:8b", "starcoder2", "qwen3-coder:30b"], "qwen3-coder:30b"),
        (["llama3", "qwen3:8b", "starcoder2"], "starcoder2"),
        (["llama3", "Qwen3:8b"], "Qwen3:8b"),
        (["llama3", "devstral:24b"], "devstral:24b"),
        (["t5-encoder", "decoder-x", "qwen3:8b"], "qwen3:8b"),
        (["qwen2.5-coder:7b-base", "qwen2.5-coder:7b"], "qwen2.5-coder:7b"),
        (["qwen2.5-coder:1.5b-base-q4_K_M", "llama3"], "llama3"),
        (["base-coder", "llama3"], "base-coder"),
        (["text-embedding-nomic", "bge-m3", "llama3"], "llama3"),
        ([".DS_Store", "x/.hidden", "README.md", "a.lock", "qwen3-coder.gguf"], "qwen3-coder.gguf"),
        (["whisper-1", "tts-1", "qwen-image", "mmproj-f16.gguf", "eclipse"], "eclipse"),
        (["qwen3-reranker-8b", "qwen3-embedding-8b", "all-minilm", "m"], "m"),
    ],
)
def test_a_coder_is_preferred_and_what_cannot_chat_is_skipped(
    models: list[str], chosen: str
) -> None:
    assert choose(server(*models), None).model.name == chosen


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        # without tools a coder is of less use than anything with them
        ([Model("qwen2.5-coder:base", tools=False), Model("llama3", tools=True)], "llama3"),
        ([Model("a-coder"), Model("b-coder", tools=True)], "b-coder"),
        ([Model("a-coder", tools=True), Model("qwen-coder", tools=True)], "qwen-coder"),
        ([Model("qwen-a", tools=True), Model("qwen-b", tools=True, loaded=True)], "qwen-b"),
        # what happens to be loaded does not change the choice between two kinds
        ([Model("qwen", loaded=True), Model("coder", loaded=False)], "coder"),
        ([Model("first"), Model("second")], "first"),
    ],
)
def test_tools_come_first_then_coders_then_qwens(models: list[Model], chosen: str) -> None:
    assert choose(server(*models), None).model.name == chosen


def test_in_lm_studio_the_loaded_model_was_chosen_by_its_user() -> None:
    loaded = Model("gemma", tools=True, loaded=True)
    coder = Model("qwen3-coder", tools=True, loaded=False)
    assert choose(server(coder, loaded, kind="lmstudio"), None).model == loaded
    without = replace(loaded, tools=False)
    assert choose(server(coder, without, kind="lmstudio"), None).model == coder


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Model("q-coder", tools=True), "a coder with tools"),
        (Model("q-coder", tools=False), "a coder without tools"),
        (Model("qwen3"), "a qwen"),
        (Model("gemma", tools=True, loaded=True), "a chat model with tools, already loaded"),
    ],
)
def test_the_reason_is_said_when_there_was_a_choice(model: Model, words: str) -> None:
    other = Model("zzz", tools=False, kind="chat")
    assert choose(server(model, other, "nomic-embed"), None).reason == (
        f"took {model.name!r} of 2 models at http://h/v1: {words} (choose another with --model)"
    )


def test_there_is_no_reason_where_there_was_no_choice() -> None:
    assert choose(server("only", "nomic-embed"), None).reason == ""
    assert choose(server("a", "b"), "b").reason == ""
    assert choose(Server("x", "u"), None).reason == ""


def test_the_wanted_model_is_taken_unseen_with_what_is_known_of_it() -> None:
    known = Model("b", 4096, tools=True)
    assert choose(server("a", known), "b").model == known
    assert choose(server("a", known), "c").model == Model("c")


def test_a_server_without_a_chat_model_is_an_error() -> None:
    with pytest.raises(ModelFailure, match="ollama pull") as caught:
        choose(server("nomic-embed-text", kind="ollama"), None)
    assert caught.value.error_class == "model_not_found"


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        (Model("m"), "?"),
        (Model("m", 4096), "4,096"),
        (Model("m", 4096, 4096), "4,096"),
        (Model("m", 4096, 262144), "4,096 of 262,144"),
        (Model("m", None, 262144), "? of 262,144"),
    ],
)
def test_a_context_is_shown_as_far_as_it_is_known(model: Model, shown: str) -> None:
    assert context_shown(model) == shown
