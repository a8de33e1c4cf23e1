"""Faults of Volcano Jobs that people write by hand. Whether Volcano refuses them is asked in tests/end_to_end."""

import pytest

from model.volcano_job_faults import faults
from tests.model.hand_written_jobs import JOBS, TWO, Written


@pytest.mark.parametrize("written", JOBS.values(), ids=JOBS.keys())
def test_one_fault_is_told_where_it_is(written: Written):
    found = faults(written.name, {"queue": "research.llm", **written.spec})
    assert [fault.path for fault in found] == ([] if written.at is None else [written.at])
    if written.refused:
        assert found[0].severity == "error"


def test_root_takes_no_jobs():
    (fault,) = faults("written", {"queue": "root", "tasks": TWO})
    assert (fault.path, fault.severity) == (("queue",), "error")
