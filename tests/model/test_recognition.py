"""Each server by what it tells of itself, in the shapes of its public documentation."""

import json
from typing import Any

import pytest
from served_routes import listed, routes_at

from harness.model.servers import Discovery, Model, discover

PROPS = {
    "default_generation_settings": {"n_ctx": 16384, "params": {}},
    "total_slots": 4,
    "chat_template_caps": {"supports_tools": True, "supports_tool_calls": True},
    "modalities": {"vision": False},
    "build_info": "b9800-0a1b2c3d4",
}

STUDIO = {
    "models": [
        {
            "type": "llm",
            "key": "qwen/qwen3-coder",
            "loaded_instances": [],
            "max_context_length": 262144,
            "capabilities": {"vision": False, "trained_for_tool_use": True},
        },
        {
            "type": "llm",
            "key": "google/gemma-3",
            "loaded_instances": [
                {"id": "google/gemma-3", "config": {"context_length": 4096}},
                {"id": "google/gemma-3:2", "config": {"context_length": 8192}},
            ],
            "max_context_length": 131072,
            "capabilities": {"vision": True, "trained_for_tool_use": True},
        },
        {
            "type": "embedding",
            "key": "some-vectors",
            "loaded_instances": [{"id": "some-vectors", "config": {"context_length": 2048}}],
            "max_context_length": 2048,
        },
    ]
}
SHOW = {
    "capabilities": ["completion", "tools", "thinking"],
    "model_info": {"general.architecture": "qwen35", "qwen35.context_length": 262144},
    "parameters": "",
}


def found(routes: dict[str, Any], header: str = "", wanted: str | None = None) -> Discovery:
    with routes_at(routes, header=header) as served:
        return discover(served.url, wanted=wanted)


def models(listing: Any) -> dict[str, Any]:
    return {"GET /v1/models": listing}


class TestLlamaCpp:
    LISTED = listed("q.gguf", owned_by="llamacpp", meta={"n_ctx_train": 262144})

    def test_the_context_is_that_of_one_slot(self) -> None:
        seen = found({**models(self.LISTED), "GET /props": PROPS})
        assert seen.recognised == "llama.cpp"
        assert seen.model == Model("q.gguf", 16384, 262144, True, True, vision=False)

    def test_its_header_or_its_properties_give_it_away(self) -> None:
        plain = listed("q.gguf")
        assert found(models(plain), header="llama.cpp").recognised == "llama.cpp"
        seen = found({**models(plain), "GET /props": PROPS})
        assert (seen.recognised, seen.model.context_length) == ("llama.cpp", 16384)

    @pytest.mark.parametrize(
        ("caps", "tools"),
        [
            ({"supports_tools": False, "supports_tool_calls": True}, False),
            ({"supports_tool_calls": True}, True),
            ({"supports_tool_calls": "yes"}, None),
            ({}, None),
            (None, None),
        ],
    )
    def test_tools_are_what_the_template_shows_to_the_model(
        self, caps: object, tools: bool | None
    ) -> None:
        props = {**PROPS, "chat_template_caps": caps}
        assert found({**models(self.LISTED), "GET /props": props}).model.tools is tools

    def test_any_name_means_the_one_model_it_has(self) -> None:
        seen = found({**models(self.LISTED), "GET /props": PROPS}, wanted="mine")
        assert (seen.model.name, seen.model.context_length) == ("mine", 16384)

    def test_a_router_is_asked_about_loaded_models_and_loads_none(self) -> None:
        entries = [
            {"id": "org/a:Q4", "owned_by": "llamacpp", "status": {"value": "loaded"}},
            {"id": "org/b:Q4", "owned_by": "llamacpp", "status": {"value": "unloaded"}},
        ]
        path = "GET /props?model=org%2Fa%3AQ4&autoload=false"
        routes = {**models({"data": entries}), path: PROPS, "GET /props": {"role": "router"}}
        with routes_at(routes) as served:
            seen = discover(served.url)
        assert served.paths() == ["GET /v1/models", path]
        assert [m.context_length for m in seen.server.entries] == [16384, None]
        assert seen.model.name == "org/a:Q4"

    def test_a_model_that_only_decides_is_no_chat_model(self) -> None:
        entries = [
            {
                "id": "d",
                "owned_by": "llamacpp",
                "architecture": {"output_modalities": ["decisions"]},
            },
            {"id": "c", "owned_by": "llamacpp", "architecture": {"output_modalities": ["text"]}},
        ]
        assert found(models({"data": entries})).model.name == "c"


class TestLMStudio:
    LISTED = listed("some-vectors", "qwen/qwen3-coder", "google/gemma-3", "google/gemma-3:2")

    def test_the_loaded_model_is_taken_with_the_context_it_was_loaded_with(self) -> None:
        # it answers every path with status 200
        routes = {**models(self.LISTED), "GET /api/v1/models": STUDIO}
        with routes_at(routes, otherwise={"error": "Unexpected endpoint or method."}) as served:
            seen = discover(served.url)
        assert seen.recognised == "lmstudio"
        assert seen.model == Model("google/gemma-3", 4096, 131072, True, True, vision=True)
        by_name = {model.name: model for model in seen.server.entries}
        assert by_name["some-vectors"].kind == "embedding"
        assert by_name["google/gemma-3:2"].context_length == 8192
        coder = by_name["qwen/qwen3-coder"]
        assert (coder.context_length, coder.context_trained, coder.loaded) == (None, 262144, False)
        assert "already loaded" in seen.reason

    def test_the_older_api_tells_it_as_well(self) -> None:
        entries = [
            {
                "id": "a",
                "type": "vlm",
                "state": "loaded",
                "max_context_length": 32768,
                "loaded_context_length": 8192,
                "capabilities": ["tool_use"],
            },
            {"id": "b", "type": "llm", "state": "not-loaded", "max_context_length": 32768},
        ]
        listing = listed("b", "a", owned_by="organization_owner")
        seen = found({**models(listing), "GET /api/v0/models": {"data": entries}})
        assert seen.recognised == "lmstudio"
        assert seen.model == Model("a", 8192, 32768, True, True, vision=True)
        assert seen.server.entries[0] == Model("b", None, 32768, None, False)


class TestOllama:
    LISTED = listed("q:9b", owned_by="library")

    def test_what_runs_tells_the_context_and_not_what_was_trained(self) -> None:
        running = {"models": [{"name": "q:9b", "model": "q:9b", "context_length": 4096}]}
        routes = {**models(self.LISTED), "POST /api/show": SHOW, "GET /api/ps": running}
        with routes_at(routes) as served:
            seen = discover(served.url)
        assert seen.recognised == "ollama"
        assert seen.model == Model("q:9b", 4096, 262144, True, True, vision=False)
        bodies = [json.loads(body) for line, _, body in served.asked if line == "POST /api/show"]
        assert bodies == [{"model": "q:9b"}]

    def test_the_context_is_unknown_until_the_model_runs(self) -> None:
        routes = {**models(self.LISTED), "POST /api/show": SHOW, "GET /api/ps": {"models": []}}
        model = found(routes).model
        assert (model.context_length, model.context_trained, model.loaded) == (None, 262144, False)

    @pytest.mark.parametrize(
        ("parameters", "length"),
        [
            ('temperature    0.7\nnum_ctx        8192\nstop  "x"', 8192),
            ("num_ctx 999999999", 262144),
            ("num_ctx 0", 4096),
            ("num_ctx many", 4096),
            (["num_ctx 8192"], 4096),
        ],
    )
    def test_the_models_own_parameter_comes_before_what_somebody_else_runs_it_with(
        self, parameters: object, length: int
    ) -> None:
        running = {"models": [{"name": "q:9b", "context_length": 4096}]}
        show = {**SHOW, "parameters": parameters}
        routes = {**models(self.LISTED), "POST /api/show": show, "GET /api/ps": running}
        assert found(routes).model.context_length == length

    def test_newer_ones_tell_of_all_models_at_once(self) -> None:
        tags = {
            "models": [
                {
                    "name": "a:1b",
                    "capabilities": ["completion"],
                    "details": {"context_length": 1000},
                },
                {"name": "v:1b", "capabilities": ["embedding"]},
                {"name": "i:1b", "capabilities": ["image"]},
                {
                    "name": "c:cloud",
                    "remote_model": "c",
                    "capabilities": ["completion", "tools", "vision"],
                    "details": {"context_length": 200000},
                },
            ]
        }
        listing = listed("a:1b", "v:1b", "i:1b", "c:cloud", owned_by="library")
        seen = found({**models(listing), "GET /api/tags": tags, "GET /api/ps": {"models": []}})
        assert seen.model == Model("c:cloud", 200000, 200000, True, False, vision=True)
        assert [m.kind for m in seen.server.entries] == ["chat", "embedding", "other", "chat"]
        assert seen.server.entries[0].tools is False

    def test_its_version_gives_it_away_where_the_owner_does_not(self) -> None:
        listing = listed("hf.co/me/q:Q4", owned_by="me")
        seen = found({**models(listing), "GET /api/version": {"version": "0.32.6"}})
        assert seen.recognised == "ollama"

    def test_a_name_without_a_tag_is_the_latest(self) -> None:
        listing = listed("q:latest", owned_by="library")
        seen = found({**models(listing), "POST /api/show": SHOW}, wanted="q")
        assert (seen.model.name, seen.model.context_trained) == ("q", 262144)

    def test_few_of_many_models_are_asked_about_one_by_one(self) -> None:
        names = [f"m{number}" for number in range(40)]
        routes = {**models(listed(*names, owned_by="library")), "POST /api/show": SHOW}
        with routes_at(routes) as served:
            discover(served.url)
        assert served.paths().count("POST /api/show") == 4


class TestOthers:
    def test_vllm_tells_all_in_its_list_and_is_asked_nothing_more(self) -> None:
        lora = {"id": "l", "owned_by": "vllm", "parent": "base", "max_model_len": 65536}
        base = {"id": "base", "owned_by": "vllm", "parent": None, "max_model_len": 65536}
        with routes_at(models({"data": [lora, base]})) as served:
            seen = discover(served.url)
        assert (seen.recognised, seen.model) == ("vllm", Model("base", 65536))
        assert served.paths() == ["GET /v1/models"]

    @pytest.mark.parametrize("path", ["/server_info", "/get_server_info"])
    def test_sglang_bounds_a_request_by_its_memory_as_well(self, path: str) -> None:
        listing = listed("m", owned_by="sglang", max_model_len=163840)
        info = {"context_length": 163840, "max_req_input_len": 59862, "tool_call_parser": "qwen25"}
        seen = found({**models(listing), f"GET {path}": info})
        assert (seen.recognised, seen.model) == ("sglang", Model("m", 59862, None, True, True))

    def test_sglang_without_a_tool_parser_has_no_tools(self) -> None:
        listing = listed("m", owned_by="sglang", max_model_len=4096)
        info = {"context_length": None, "tool_call_parser": None}
        model = found({**models(listing), "GET /server_info": info}).model
        assert (model.context_length, model.tools) == (4096, False)
        assert found(models(listing)).model == Model("m", 4096)

    def test_localai_is_not_taken_for_the_ollama_it_imitates(self) -> None:
        uses = [
            {"id": "qwen3", "capabilities": ["chat", "completion"]},
            {"id": "speech", "capabilities": ["transcript"]},
            {"id": "vectors", "capabilities": ["embeddings"]},
        ]
        seen = found(
            {
                **models(listed("speech", "vectors", "qwen3")),
                "GET /.well-known/localai.json": {"version": "v4", "endpoints": {}},
                "GET /api/version": {"version": "0.9.0"},
                "GET /v1/models/capabilities": {"data": uses},
            }
        )
        assert (seen.recognised, seen.model.name) == ("localai", "qwen3")
        assert [m.kind for m in seen.server.entries] == ["other", "embedding", "chat"]

    def test_jan_is_known_by_its_list_and_by_its_refusal(self) -> None:
        assert found(models(listed("m", created=1, owned_by="user"))).recognised == "jan"
        for words in ("Missing authorization header", "Invalid or missing authorization token"):
            seen = found(models((401, words)))
            assert (seen.recognised, seen.server.wants_key) == ("jan", True)
        assert found(models((401, '{"error": "Unauthorized"}'))).recognised is None

    def test_mlx_is_known_by_pythons_server_and_the_bareness_of_its_list(self) -> None:
        routes = {**models(listed("mlx-community/q", created=1)), "GET /health": {"status": "ok"}}
        assert found(routes, header="BaseHTTP/0.6 Python/3.12.1").recognised == "mlx"
        assert found(routes).recognised is None

    def test_llama_swap_tells_of_a_model_that_runs(self) -> None:
        entries = [
            {"id": "up", "owned_by": "llama-swap", "status": {"value": "loaded"}},
            {
                "id": "down",
                "owned_by": "llama-swap",
                "status": {"value": "unloaded"},
                "context_length": 32768,
                "capabilities": {"function_calling": True},
            },
        ]
        routes = {**models({"data": entries}), "GET /upstream/up/props": PROPS}
        with routes_at(routes) as served:
            seen = discover(served.url)
        assert seen.recognised == "llama-swap"
        assert [m.context_length for m in seen.server.entries] == [16384, 32768]
        assert [m.tools for m in seen.server.entries] == [True, True]
        assert served.paths() == ["GET /v1/models", "GET /upstream/up/props"]

    def test_koboldcpp_tells_its_context(self) -> None:
        listing = listed("koboldcpp/q", owned_by="koboldcpp")
        routes = {**models(listing), "GET /api/extra/true_max_context_length": {"value": 8192}}
        assert found(routes).model == Model("koboldcpp/q", 8192, loaded=True)

    def test_gateways_tell_context_and_tools_in_their_list(self) -> None:
        entries = [
            {"id": "x", "context_length": 1000, "supported_parameters": ["temperature"]},
            {"id": "y", "context_window": 2000, "supported_parameters": ["tools"]},
        ]
        seen = found(models({"data": entries}))
        assert (seen.recognised, seen.model) == (None, Model("y", 2000, tools=True))

    def test_a_server_that_gives_nothing_away_stays_unrecognised(self) -> None:
        seen = found(models(listed("m", owned_by="me")))
        assert (seen.recognised, seen.server.kind) == (None, "openai")
        assert seen.model == Model("m")


HOSTILE = [
    "[" * 100_000,
    '{"a":' * 50_000,
    "{} " + "x" * 1_000_000,
    json.dumps({"models": [None, 3, {"key": []}, {"key": {}, "loaded_instances": 3}], "data": 3}),
    json.dumps({"data": [{"id": 3, "state": []}], "models": {"name": {}}}),
    json.dumps({"default_generation_settings": [], "chat_template_caps": 3, "modalities": []}),
    json.dumps({"default_generation_settings": {"n_ctx": True}, "version": {}, "endpoints": 3}),
    json.dumps({"version": "1", "context_length": -5, "max_req_input_len": "x", "value": 1e300}),
    '{"value": ' + "9" * 5000 + "}",
    '{"value": NaN, "context_length": 1' + "0" * 400 + "}",
    "null",
    "\x00\xff",
    "",
]


@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize(
    "owner", ["", "llamacpp", "organization_owner", "library", "sglang", "llama-swap", "koboldcpp"]
)
def test_no_answer_is_more_than_ignored(owner: str, answer: str) -> None:
    listing = listed("m", owned_by=owner, status={"value": "loaded"})
    with routes_at(models(listing), otherwise=answer) as served:
        seen = discover(served.url)
    assert seen.model.name == "m"
    assert seen.model.context_length is None


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "m", "owned_by": ["vllm"], "max_model_len": "65536", "parent": []},
        {"id": "m", "owned_by": {}, "max_model_len": -1, "status": [], "architecture": 3},
        {"id": "m", "max_model_len": True, "status": {"value": {}}, "capabilities": "x"},
        {"id": "m", "max_model_len": 10**12, "meta": {"n_ctx_train": "x"}, "created": []},
        {"id": "m", "max_model_len": 1.5, "architecture": {"output_modalities": {}}},
    ],
    ids=range(5),
)
def test_fields_of_a_wrong_type_are_unknown(entry: dict[str, Any]) -> None:
    seen = found(models({"data": [entry]}))
    assert seen.model == Model("m", loaded=seen.model.loaded)


def test_names_that_cannot_be_shown_or_typed_are_left_out() -> None:
    bad = ["\x1b[2Jx", "a\nb", "\u202eabc", "", "  ", 3, None, ["x"], {"x": 1}, "x" * 300, "\ud800"]
    seen = found(models(listed(*bad, "good", "good")))
    assert seen.server.models == ("good",)


def test_of_endless_models_the_first_thousand_are_read() -> None:
    seen = found(models(listed(*(f"m{number}" for number in range(20_000)))))
    assert len(seen.server.models) == 1000
    assert "of 1000 models" in seen.reason


def test_a_server_on_the_internet_is_asked_nothing_it_has_not_given_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    for owner, number in (("me", 1), ("library", 4)):
        listing = listed("m", owned_by=owner)
        with routes_at({}, otherwise=listing) as proxy:
            monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
            assert discover("http://models.example:8000").model.name == "m"
        assert len(proxy.asked) == number
        assert {line.split("/")[2] for line in proxy.paths()} == {"models.example:8000"}
