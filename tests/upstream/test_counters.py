"""The counters file of the DCGM exporter, read by Go's reader of CSV with the exporter's rules."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model import document
from model.monitoring import counter_file, counters
from tests.upstream.parsers import Request, Upstream
from tests.upstream.test_shipped import FILES

_many = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", FILES)
def test_the_exporter_reads_the_counters_that_are_meant(upstream: Upstream, name: str):
    env = document.read(FILES[name]).load()
    answer = upstream.read(Request("dcgm-counters", counters.counters_file(env)))
    assert answer.error == ""
    assert answer.config == [[each.field, each.type, each.help] for each in counters.counters(env)]


_help = st.text(st.characters(codec="utf-8", exclude_characters="\r\n", exclude_categories=["Cs", "Cc"]), min_size=1)


@_many
@given(helps=st.lists(_help.filter(lambda text: text.strip(" ") == text), min_size=1, max_size=4))
def test_whatever_a_help_text_holds_the_exporter_reads_it(upstream: Upstream, helps: list[str]):
    written = [counter_file.Counter("DCGM_FI_DEV_GPU_TEMP", "gauge", text) for text in helps]
    answer = upstream.read(Request("dcgm-counters", counter_file.write(written)))
    assert answer.config == [[each.field, each.type, each.help] for each in written]


_fields = st.sampled_from(["DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_SM_CLOCK"])
_pieces = st.sampled_from(
    [" ", "  ", ",", '"', '""', "#", "gauge", "counter", "guage", "label", "help", "a, b", '"a, b"']
)
_lines = st.one_of(
    st.tuples(_fields, st.just(", "), st.sampled_from(["gauge", "counter", "guage"]), st.just(", "), st.just("Help")),
    st.tuples(_fields, st.just(","), st.just("gauge"), st.just(","), st.just('"Help, more"')),
    st.lists(st.one_of(_fields, _pieces), max_size=6).map(tuple),
)


@_many
@given(lines=st.lists(_lines, max_size=4))
def test_what_the_exporter_does_not_read_is_told(upstream: Upstream, lines: list[tuple[Any, ...]]):
    text = "".join("".join(line) + "\n" for line in lines)
    found, problems = counter_file.read(text, (), verbatim=True)
    answer = upstream.read(Request("dcgm-counters", text))
    if answer.error:
        assert problems
    elif not problems:
        assert answer.config == [[each.field, each.type, each.help] for each in found]
