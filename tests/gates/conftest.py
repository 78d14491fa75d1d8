"""Workspaces to run gates in, and a small Python environment that keeps the runs fast."""

import shutil
import venv
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.gates.registry import run_gate
from harness.gates.values import GateContext, Verdict

EXAMPLE = Path(__file__).resolve().parents[2] / "example_workspace"
MODULES = {
    "pytest": ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments"),
    "xdist": ("xdist", "execnet"),
}

RunGate = Callable[..., Verdict]


def make_environment(folder: Path, packages: tuple[str, ...]) -> Path:
    """A virtual environment with nothing but `packages`, linked to those of this test run."""
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    site_packages = next(folder.glob("lib/python*/site-packages"))
    for name in (module for package in packages for module in MODULES[package]):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        if origin.name == "__init__.py":
            origin = origin.parent
        (site_packages / origin.name).symlink_to(origin)
        for described in origin.parent.glob(f"*{name}-*.dist-info"):
            (site_packages / described.name).symlink_to(described)
    if "pytest" in packages:
        script = folder / "bin/pytest"
        script.write_text(
            f"#!{folder}/bin/python\nimport pytest\nraise SystemExit(pytest.main())\n"
        )
        script.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def bare_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("environment") / "bare", ("pytest",))


@pytest.fixture
def add_environment(root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Give the workspace a `.venv` with the packages that are named."""

    def add(*packages: str) -> Path:
        monkeypatch.delenv("VIRTUAL_ENV")
        return make_environment(root / ".venv", packages)

    return add


@pytest.fixture(autouse=True)
def active_environment(bare_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(bare_environment))


@pytest.fixture(scope="session")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared by all tests, so that pytest is compiled once."""
    return tmp_path_factory.mktemp("private").resolve()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def example(root: Path) -> Path:
    shutil.copytree(EXAMPLE, root, dirs_exist_ok=True)
    return root


@pytest.fixture
def gate(root: Path, private: Path) -> RunGate:
    """Run a gate in `root`: `gate("run_tests", "test_auth.py", seconds=5)`."""

    def run(name: str, *targets: str, seconds: float = 20.0, **options: object) -> Verdict:
        return run_gate(name, targets, GateContext(root, private, seconds, **options))  # type: ignore[arg-type]

    return run


@pytest.fixture
def files(root: Path) -> Callable[[dict[str, str]], None]:
    def write(content: dict[str, str]) -> None:
        for name, text in content.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)

    return write
