"""The build from a Go module: good, failing, stopped, twice at once, damaged afterwards, without room."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from twin.tools import ToolError, ensure, load_tools, status
from twin.tools.progress import Progress


def says(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stderr.strip()


def test_a_program_is_built_stamped_and_kept(toy, shim, cache: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", shim.path)
    place = ensure(["toy"], pins=toy.file)["toy"]
    assert place == cache / "tools" / "toy-1.2.3" / "bin" / "toy"
    assert says(place) == "toy 1.2.3"
    assert ensure(["toy"], pins=toy.file)["toy"] == place
    assert shim.count == 1
    assert not list((cache / "staging").iterdir())
    state = status(load_tools(toy.file)["toy"])
    assert (state.where, state.programs) == ("cache", {"toy": place})


def test_what_does_not_compile_is_shown(toy, cache: Path) -> None:
    toy.write("func main() { undefinedThing() }\n")
    with pytest.raises(ToolError) as refusal:
        ensure(["toy"], pins=toy.file)
    assert "undefined: undefinedThing" in refusal.value.problem
    assert str(cache / "logs" / "toy-1.2.3.log") in refusal.value.fix
    assert not (cache / "tools").exists()


def test_other_pins_mean_another_build(toy, shim, monkeypatch) -> None:
    monkeypatch.setenv("PATH", shim.path)
    ensure(["toy"], pins=toy.file)
    toy.write('var Version = "none"\n\nfunc main() { println("new", Version) }\n')
    toy.save()
    assert "other pins" in status(load_tools(toy.file)["toy"]).damage
    assert says(ensure(["toy"], pins=toy.file)["toy"]) == "new 1.2.3"
    assert shim.count == 2


def damage_bytes(entry: Path) -> None:
    with (entry / "bin" / "toy").open("r+b") as stream:
        stream.seek(100)
        stream.write(b"damage")


def damage_size(entry: Path) -> None:
    (entry / "bin" / "toy").write_bytes(b"short")


def damage_absent(entry: Path) -> None:
    (entry / "bin" / "toy").unlink()


def damage_manifest(entry: Path) -> None:
    (entry / "manifest.json").write_text("{")


def damage_no_manifest(entry: Path) -> None:
    (entry / "manifest.json").unlink()


def damage_records(entry: Path) -> None:
    (entry / "manifest.json").write_text(json.dumps({"how": "build", "recipe": "", "files": {"bin/toy": []}}))


@pytest.mark.parametrize(
    "damage", [damage_bytes, damage_size, damage_absent, damage_manifest, damage_no_manifest, damage_records]
)
def test_a_damaged_entry_is_noticed_and_made_anew(toy, cache: Path, damage) -> None:
    class Heard(Progress):
        notes = ""

        def note(self, text: str) -> None:
            self.notes += text

    ensure(["toy"], pins=toy.file)
    damage(cache / "tools" / "toy-1.2.3")
    assert "is damaged" in status(load_tools(toy.file)["toy"]).damage
    heard = Heard()
    assert says(ensure(["toy"], heard, pins=toy.file)["toy"]) == "toy 1.2.3"
    assert "is damaged" in heard.notes


def test_damage_that_keeps_size_and_time_is_found_by_a_thorough_look(toy) -> None:
    place = ensure(["toy"], pins=toy.file)["toy"]
    before = place.stat()
    damage_bytes(place.parent.parent)
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    tool = load_tools(toy.file)["toy"]
    assert status(tool).where == "cache"
    assert status(tool, thorough=True).where == "missing"


def test_a_restored_cache_with_new_times_is_taken(toy, shim, monkeypatch) -> None:
    monkeypatch.setenv("PATH", shim.path)
    place = ensure(["toy"], pins=toy.file)["toy"]
    os.utime(place, (1, 1))
    assert ensure(["toy"], pins=toy.file)["toy"] == place
    assert shim.count == 1


def wait_for(ask) -> None:
    deadline = time.monotonic() + 20
    while not ask():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_build_takes_its_compiler_with_it(toy, shim, cache: Path, number: int) -> None:
    run = toy.start(PATH=shim.path, HANG="1")
    wait_for(shim.hanging.exists)
    compiler = int(shim.hanging.read_text())
    run.send_signal(number)
    run.communicate()
    assert run.returncode != 0
    wait_for(lambda: gone(compiler))
    assert not (cache / "tools").exists()
    assert not list((cache / "staging").iterdir())


def test_a_killed_build_leaves_nothing_that_is_taken(toy, shim, cache: Path) -> None:
    run = toy.start(PATH=shim.path, HANG="1")
    wait_for(shim.hanging.exists)
    compiler = psutil.Process(int(shim.hanging.read_text()))
    shell = compiler.parent()
    assert shell
    run.kill()
    run.communicate()
    # The kernel tells the compiler that its parent died; what it leaves half-written stays in staging.
    wait_for(lambda: gone(shell.pid))
    compiler.kill()
    assert not (cache / "tools").exists()
    assert list((cache / "staging").rglob("bin/toy"))
    assert says(ensure(["toy"], pins=toy.file)["toy"]) == "toy 1.2.3"
    assert not list((cache / "staging").iterdir())


def test_two_runs_build_once(toy, shim) -> None:
    runs = [toy.start(PATH=shim.path) for _ in range(2)]
    said = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    assert shim.count == 1


def test_no_room_is_said_as_such(toy, cache: Path) -> None:
    limited = toy.start("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))")
    said = limited.communicate()[0]
    assert limited.returncode == 1
    assert "ToolError: no room to write" in said
    assert not (cache / "tools").exists()


def test_missing_go_is_said_before_anything_is_built(toy, shim, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(ToolError) as refusal:
        ensure(["toy"], pins=toy.file)
    assert refusal.value.problem.splitlines() == [
        "toy 1.2.3 cannot be had",
        "  on PATH: not asked",
        "  download: no checksum",
        "  build: Go is not installed",
    ]
    assert "https://go.dev/dl/" in refusal.value.fix


def test_an_old_go_that_may_not_fetch_a_newer_one_is_named(toy, monkeypatch) -> None:
    (toy.module / "go.mod").write_text("module example.test/toy\n\ngo 1.999\n")
    toy.save()
    monkeypatch.setenv("GOTOOLCHAIN", "local")
    with pytest.raises(ToolError, match=r"1\.999 is needed"):
        ensure(["toy"], pins=toy.file)


def test_a_module_other_than_the_pinned_one_is_refused(toy, served_module) -> None:
    """A module that the build copies must have the sum that the pins name."""
    module = {"module": "example.test/extra", "version": "v1.0.0", "from": "data.json", "to": "data.json"}
    toy.save(prepare=[module | {"sum": "h1:AAAA"}])
    with pytest.raises(ToolError, match=r"example\.test/extra@v1\.0\.0 has the checksum h1:"):
        ensure(["toy"], pins=toy.file)


def test_prepared_files_are_copied_stamped_and_overlaid(toy, served_module) -> None:
    module = {"module": "example.test/extra", "version": "v1.0.0", "sum": served_module}
    overlay = toy.module / "_overlay" / "extra"
    overlay.mkdir(parents=True)
    (overlay / "more.go").write_text('package extra\n\nconst More = "more"\n')
    (toy.module / "go.mod").write_text("module example.test/toy\n\ngo 1.21\n")
    # What a build by hand may have left in the folder does not count.
    (toy.module / "data.json").write_text("stale")
    toy.write(
        'import (\n\t_ "embed"\n\t"example.test/toy/extra"\n)\n\n//go:embed data.json\nvar data string\n\n'
        "func main() { println(extra.Name, extra.More, data) }\n"
    )
    toy.save(
        ldflags="",
        prepare=[
            module | {"from": "data.json", "to": "data.json", "stamp": {"version": "{version}"}},
            module | {"from": "extra", "to": "extra"},
        ],
    )
    assert says(ensure(["toy"], pins=toy.file)["toy"]) == 'extra more {"version": "1.2.3", "kept": 1}'
    assert (toy.module / "data.json").read_text() == "stale"
