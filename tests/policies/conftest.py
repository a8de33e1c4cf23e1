from collections.abc import Iterator

import pytest

from twin.policy_pack import PolicyPack


@pytest.fixture(scope="session")
def process() -> Iterator[PolicyPack]:
    """The pack as a process; starting it is what takes time."""
    with PolicyPack() as running:
        yield running


@pytest.fixture
def pack(process: PolicyPack) -> PolicyPack:
    """The pack in a preview of its own."""
    process.begin(preview=True)
    return process


@pytest.fixture
def updating(process: PolicyPack) -> PolicyPack:
    """The pack in an update of its own, when every value is known that ever will be."""
    process.begin(preview=False)
    return process
