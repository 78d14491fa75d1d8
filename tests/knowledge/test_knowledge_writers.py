"""Several programs writing at once lose nothing."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge import Store

WRITER = """
import sys
from pathlib import Path
from knowledge import Store
store = Store(Path(sys.argv[1]), Path(sys.argv[2]))
for n in range(int(sys.argv[4])):
    scope = "workspace" if n % 2 else "global"
    store.remember(f"{sys.argv[3]}-{n}", f"content {n}", scope)
    store.remember("shared", sys.argv[3], "workspace")
"""


def test_four_programs_of_twenty_five_writes_each(tmp_path: Path) -> None:
    path = tmp_path / "ws" / ".mini-coding-agent" / "knowledge" / "entries.json"
    everywhere = tmp_path / "home" / "entries.json"
    (tmp_path / "ws").mkdir()
    command = [sys.executable, "-c", WRITER, str(path), str(everywhere)]
    writers = [subprocess.Popen([*command, f"w{n}", "25"]) for n in range(4)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0, 0]
    store = Store(path, everywhere)
    assert store.load() == []
    keys = {entry.key for entry in store.all()}
    assert keys == {f"w{n}-{m}" for n in range(4) for m in range(25)} | {"shared"}
    assert sum(item["key"] == "shared" for item in json.loads(path.read_bytes())) == 1


steps = st.lists(
    st.tuples(
        st.sampled_from(["first", "second"]),
        st.sampled_from(["remember", "forget", "load"]),
        st.sampled_from(["a", "b", "c"]),
        st.text(alphabet="xyz", min_size=1, max_size=3),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_any_interleaving_of_two_writers_is_what_both_did(
    steps: list[tuple[str, str, str, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ".m" / "knowledge" / "entries.json"
        stores = {name: Store(path, Path(folder) / "none") for name in ("first", "second")}
        expected: dict[str, str] = {}
        for who, what, key, content in steps:
            if what == "remember":
                assert stores[who].remember(key, content, "workspace") is (key in expected)
                expected[key] = content
            elif what == "forget":
                assert stores[who].forget(key, "workspace") is (key in expected)
                expected.pop(key, None)
            else:
                assert stores[who].load() == []
        for store in stores.values():
            store.load()
            assert {entry.key: entry.content for entry in store.entries()} == expected
