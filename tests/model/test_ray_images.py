"""Images of Ray: exact, and of the Ray that the cluster says."""

import pytest

from model import ray
from tests.model.documents import drop, environment, errors, only, put

TUNING = "ray.clusters.tuning"


@pytest.mark.parametrize(
    ("image", "fix"),
    [
        ("rayproject/ray", "rayproject/ray:2.52.0"),
        ("rayproject/ray:latest", "rayproject/ray:2.52.0"),
        ("rayproject/ray:2.9.0-gpu", "rayproject/ray:2.52.0-gpu"),
        ("registry.example.com:5000/rayproject/ray", "registry.example.com:5000/rayproject/ray:2.52.0"),
        ("registry.example.com/rayproject/ray-ml:2.9.0-py311", "registry.example.com/rayproject/ray-ml:2.52.0-py311"),
        ("mirror-2.9.0.example.com/rayproject/ray:2.9.0", "mirror-2.9.0.example.com/rayproject/ray:2.52.0"),
        (f"rayproject/ray:2.9.0@sha256:{'0' * 64}", "rayproject/ray:2.52.0"),
        ("registry.example.com:5000/ray", "registry.example.com:5000/ray:…"),
        ("registry.example.com/team/llm:latest", "registry.example.com/team/llm:…"),
        ("not an image", "rayproject/ray:2.52.0"),
        ("", "rayproject/ray:2.52.0"),
    ],
)
def test_an_image_is_exact_and_of_the_same_ray(image: str, fix: str):
    path, problem = only(errors(put(f"{TUNING}.image", image)))
    assert (path, problem.fix) == (f"{TUNING}.image", fix)


@pytest.mark.parametrize(
    "image",
    [
        "UPPER/Ray:2.52.0",
        "a//b:1",
        "/a:1",
        "a/:1",
        "ray-:1",
        "-ray:1",
        "..:1",
        "a..b/c:1.0",
        "ray:1.\N{LATIN SMALL LETTER E WITH ACUTE}",
        "ray:\N{ARABIC-INDIC DIGIT ONE}",
        "ray:.1",
        "ray:" + "1" * 129,
        "host:port/ray:1",
        "a" * 256 + ":1",
    ],
)
def test_what_no_registry_could_name_is_no_image(image: str):
    path, problem = only(errors(put(f"{TUNING}.image", image)))
    assert (path, problem.message) == (f"{TUNING}.image", "is no image reference")


@pytest.mark.parametrize(
    "image",
    [
        "[2001:db8::1]:5000/a__b/c--d.e_f:dev",
        "UPPER/ray:dev",
        "localhost/ray:dev",
        "rayproject/ray:2.52.0",
        "rayproject/ray:2.52.0-py312-gpu",
        "registry.example.com:5000/team/ray:2.52.0",
        "registry.example.com/rayproject/ray:2.52.0-gpu",
        "rayproject/ray:nightly",
        # A team counts its own images as it likes.
        "registry.example.com/team/ray:1.4.2",
        "registry.example.com/notrayproject/ray:1.4.2",
        "team/llm:0.3.1",
        "team/llm:2026.11.30",
        "team/llm:2026.11.30-ray2.52.0",
        "registry.example.com/ray:nightly-20261129",
        f"registry.example.com/ray@sha256:{'0' * 64}",
    ],
)
def test_images_that_do(image: str):
    env = environment(put(f"{TUNING}.image", image))
    assert ray.image(env, env.ray.clusters["tuning"]) == image


def test_the_usual_image_follows_version_gpus_and_architecture():
    env = environment()
    assert ray.image(env, env.ray.clusters["tuning"]) == "rayproject/ray:2.52.0-gpu"
    env = environment(
        put("ray.clusters.answers.pool", "system"),
        put("ray.clusters.answers.workers.gpus", 0),
        put("ray.clusters.answers.workers", {"count": 1, "cpu": 4, "memory": "8Gi"}),
        drop("ray.clusters.answers.image"),
        put("pools.system.shape.architecture", "arm64"),
    )
    assert ray.image(env, env.ray.clusters["answers"]) == "rayproject/ray:2.52.0-aarch64"


@pytest.mark.parametrize("version", ["2.52", "latest", "v2.52.0", 2.52])
def test_the_version_of_ray_is_exact(version: object):
    assert list(errors(put(f"{TUNING}.ray", version))) == [f"{TUNING}.ray"]
