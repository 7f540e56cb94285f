"""Which back end is chosen and why, how a build is told from another, and where a wheel is found."""

from __future__ import annotations

from pathlib import Path

import pytest
import system_libraries
import wheel_cache
from console import SetupError
from wheel_cache import Backend, cache_key, choose_backend, find_wheel

CPU, CUDA = Backend("cpu", ""), Backend("cuda", "")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """Pretend a machine: its system, its devices and its tools."""

    def pretend(
        system: str = "linux",
        *,
        nvidia: bool = False,
        render: bool = False,
        tools: tuple[str, ...] = (),
        processor: str = "x86_64",
    ) -> None:
        monkeypatch.setattr(wheel_cache.sys, "platform", system)
        monkeypatch.setattr(wheel_cache.platform, "machine", lambda: processor)
        monkeypatch.setattr(wheel_cache, "_has_nvidia_device", lambda: nvidia)
        monkeypatch.setattr(wheel_cache, "_has_render_device", lambda: render)
        monkeypatch.setattr(wheel_cache.shutil, "which", lambda name: name in tools or None)

    return pretend


@pytest.mark.parametrize(
    ("given", "expected", "reason"),
    [
        ({}, "cpu", "no graphics device"),
        ({"tools": ("nvcc",)}, "cpu", "nvcc is here, but no NVIDIA device"),
        ({"nvidia": True}, "cpu", "no nvcc"),
        ({"nvidia": True, "tools": ("nvcc",)}, "cuda", "nvcc"),
        ({"render": True}, "cpu", "no graphics device with a tool chain"),
        ({"render": True, "tools": ("glslc",)}, "vulkan", "shader compiler"),
        ({"nvidia": True, "render": True, "tools": ("glslc",)}, "vulkan", "shader compiler"),
        ({"system": "darwin", "processor": "arm64"}, "metal", "Apple silicon"),
        ({"system": "darwin"}, "cpu", "no Apple silicon"),
    ],
)
def test_auto_takes_what_has_both_device_and_tools(machine, given, expected, reason) -> None:
    machine(**given)
    backend = choose_backend("auto")
    assert backend.name == expected
    assert reason in backend.reason


@pytest.mark.parametrize("name", ["cpu", "cuda", "metal", "vulkan"])
def test_what_is_asked_for_is_taken(machine, name: str) -> None:
    machine()
    assert choose_backend(name).name == name


@pytest.mark.parametrize("name", ["cpu", "cuda", "metal", "vulkan"])
def test_no_build_picks_instructions_by_itself(name: str) -> None:
    assert "-DGGML_NATIVE=OFF" in Backend(name, "").flags.split()


def test_a_build_is_told_by_version_flags_and_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "llama.lock"
    lock.write_text("llama-cpp-python==1.2.3 \\\n    --hash=sha256:aa\n", encoding="utf-8")
    keys = {cache_key(lock, CPU), cache_key(lock, CUDA)}
    assert all(key.startswith("llama-1.2.3-") for key in keys)
    monkeypatch.setattr(wheel_cache, "_FLAGS", ("-DGGML_NATIVE=OFF", "-DOTHER=ON"))
    keys.add(cache_key(lock, CPU))
    monkeypatch.setattr(wheel_cache.platform, "machine", lambda: "riscv64")
    keys.add(cache_key(lock, CPU))
    lock.write_text("llama-cpp-python==1.2.3 \\\n    --hash=sha256:bb\n", encoding="utf-8")
    keys.add(cache_key(lock, CPU))
    assert len(keys) == 5


def test_a_wheel_is_found_in_the_cache_then_in_the_folder_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIFUGIO_WHEEL_CACHE", str(tmp_path / "cache"))
    lock, given = tmp_path / "llama.lock", tmp_path / "given"
    lock.write_text("llama-cpp-python==1.2.3 \\\n    --hash=sha256:aa\n", encoding="utf-8")
    name = "llama_cpp_python-1.2.3-py3-none-any.whl"
    assert find_wheel(lock, CPU, None) is None
    assert find_wheel(lock, CPU, given) is None

    def put(folder: Path, wheel: str = name) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / wheel).touch()
        return folder / wheel

    put(given, "llama_cpp_python-1.2.2-py3-none-any.whl")
    assert find_wheel(lock, CPU, given) is None
    loose = put(given)
    assert find_wheel(lock, CPU, given) == loose
    keyed = put(given / cache_key(lock, CUDA))
    assert find_wheel(lock, CUDA, given) == keyed
    assert find_wheel(lock, CPU, given) == loose
    cached = put(tmp_path / "cache" / cache_key(lock, CPU))
    assert find_wheel(lock, CPU, given) == cached


def test_a_missing_library_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = {"libno-such-thing.so.7": ("libno-such-thing7", "no-such-thing"), "libc.so.6": ("", "")}
    monkeypatch.setattr(system_libraries, "LIBRARIES", table)
    monkeypatch.setattr(system_libraries.sys, "platform", "linux")
    monkeypatch.setattr(system_libraries.os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(system_libraries, "_loads", lambda name: name == "libc.so.6")
    which = {"apt-get": "/usr/bin/apt-get"}
    monkeypatch.setattr(system_libraries.shutil, "which", which.get)
    with pytest.raises(
        SetupError, match=r"libno-such-thing\.so\.7.*apt-get install -y libno-such-thing7$"
    ):
        system_libraries.require_libraries(tests=False)
    which.clear()
    which["dnf"] = "/usr/bin/dnf"
    with pytest.raises(SetupError, match=r"dnf install -y no-such-thing$"):
        system_libraries.require_libraries(tests=False)


def test_tools_that_only_tests_use_do_not_stop_set_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system_libraries, "LIBRARIES", {})
    monkeypatch.setattr(system_libraries, "WAYLAND", {})
    monkeypatch.setattr(system_libraries.sys, "platform", "linux")
    monkeypatch.setattr(system_libraries.os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr(system_libraries.shutil, "which", lambda _: None)
    system_libraries.require_libraries(tests=True)
    assert "some tests are skipped" in capsys.readouterr().err
    with pytest.raises(SetupError, match=r"c\+\+"):
        system_libraries.require_compiler()


def test_root_on_debian_gets_them_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    monkeypatch.setattr(system_libraries, "BUILD_TOOLS", {"cc": ("gcc", ""), "c++": ("g++", "")})
    monkeypatch.setattr(system_libraries.sys, "platform", "linux")
    monkeypatch.setattr(system_libraries.os, "geteuid", lambda: 0, raising=False)
    which = {"apt-get": "/usr/bin/apt-get"}
    monkeypatch.setattr(system_libraries.shutil, "which", which.get)
    monkeypatch.setattr(
        system_libraries, "run", lambda command, **_: commands.append(list(command))
    )
    system_libraries.require_compiler()
    assert commands[-1][:3] == ["apt-get", "install", "-y"]
    assert commands[-1][-2:] == ["g++", "gcc"]
