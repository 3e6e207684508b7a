"""The schema of the comparison document against the golden documents and against spoilt ones."""

import json

import jsonschema
import pytest

from helpers import ROOT, parse_document
from test_schema_static import leaves, objects, step

SCHEMA = parse_document((ROOT / "docs/schema/comparison-v1.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
GOLDEN = sorted((ROOT / "tests/golden/comparison").glob("comparison-v1-*.json"))
PAGE = (ROOT / "docs/comparison-schema.md").read_text()
FULL_TEXT = (ROOT / "tests/golden/comparison/comparison-v1-full.json").read_text()

pytestmark = pytest.mark.plain


def full():
    """A fresh copy, to be spoilt."""
    return json.loads(FULL_TEXT)


def put(path, value):
    spoilt = full()
    step(spoilt, path[:-1])[path[-1]] = value
    return spoilt


def known_keys():
    def collect(schema):
        for key, member in schema.get("properties", {}).items():
            yield key
            yield from collect(member)

    return {key for schema in (SCHEMA, *SCHEMA["$defs"].values()) for key in collect(schema)}


def definition_of(path):
    """The schema of this part of the document, found by following its path."""
    schema = SCHEMA
    for key in (*path, None):
        while "$ref" in schema:
            schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
        if key is not None:
            schema = schema["items"] if isinstance(key, int) else schema["properties"].get(key, {})
    return schema


def test_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_there_are_golden_documents():
    assert [path.stem for path in GOLDEN] == [
        "comparison-v1-full", "comparison-v1-minimal", "comparison-v1-series"]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_golden_documents_are_valid(path):
    errors = [f"{list(error.absolute_path)}: {error.message}"
              for error in VALIDATOR.iter_errors(parse_document(path.read_text()))]
    assert not errors


def test_full_document_is_full():
    seen = {key for path in objects(full()) for key in step(full(), path)}
    assert known_keys() <= seen


def test_the_documentation_names_every_key():
    assert not {key for key in known_keys() if f"`{key}`" not in PAGE}


def test_every_object_is_closed_and_misses_what_it_needs():
    checked = 0
    for path in objects(full()):
        if path and path[-1] == "words":
            continue  # the cell's own
        spoilt = full()
        step(spoilt, path)["unheard_of"] = 1
        assert not VALIDATOR.is_valid(spoilt), path
        for key in definition_of(path)["required"]:
            spoilt = full()
            del step(spoilt, path)[key]
            assert not VALIDATOR.is_valid(spoilt), (path, key)
            checked += 1
    assert checked > 100


def test_every_value_refuses_other_types():
    for path, value in leaves(full()):
        assert not VALIDATOR.is_valid(put(path, None)), path
        if isinstance(value, (bool, str)):
            assert not VALIDATOR.is_valid(put(path, 1)), path
            continue
        assert not VALIDATOR.is_valid(put(path, str(value))), path
        assert not VALIDATOR.is_valid(put(path, True)), path
        if isinstance(value, int):
            assert not VALIDATOR.is_valid(put(path, value + 0.5)), path
        signed = {"change", "ci", "ci_low", "ci_high", "bootstrap_ci"} & set(map(str, path))
        if path[-1] != "within_run_r1" and (not signed or "figures" in path):
            assert not VALIDATOR.is_valid(put(path, -0.5)), path


CONTRAST = ("cells", 0, "metrics", 0, "contrasts", 0)
ESTIMATE = (*CONTRAST, "estimate")


@pytest.mark.parametrize("path, value", [
    (("schema", "version"), 2),
    (("schema", "name"), "uringbench.result"),
    (("options", "alpha"), 5),
    (("metrics", 0, "unit"), "ms"),
    (("metrics", 0, "direction"), "up"),
    (("labels", 0, "first_start"), "yesterday"),
    (("differences", 0, "kind"), "mild"),
    (("notes", 0, "code"), "One Boot"),
    ((*CONTRAST, "verdict"), "<1%"),
    ((*CONTRAST, "verdict"), "PROBABLY"),
    ((*CONTRAST, "runs_needed"), 0),
    ((*ESTIMATE, "change"), -1.5),
    ((*ESTIMATE, "ci"), [0.1]),
    ((*ESTIMATE, "ci"), [0.1, 0.2, 0.3]),
    ((*ESTIMATE, "ci_low"), -0.2),
    ((*ESTIMATE, "p"), 1.5),
    ((*ESTIMATE, "test"), "t-test"),
    ((*ESTIMATE, "test"), "mann-whitney"),
    ((*ESTIMATE, "n_from"), 0),
    (("gate", "code"), 1),
    (("gate", "rows", 0, "outcome"), "GREEN"),
    (("verdicts", "SMALL"), -1),
], ids=str)
def test_spoilt_documents_are_refused(path, value):
    assert not VALIDATOR.is_valid(put(path, value))


def test_an_interval_of_a_median_needs_its_coverage():
    spoilt = full()
    del step(spoilt, ("cells", 0, "metrics", 0, "figures", 0))["coverage"]
    assert not VALIDATOR.is_valid(spoilt)


@pytest.mark.parametrize("path", [("gate",), (*CONTRAST, "estimate"), (*ESTIMATE, "p_holm"),
                                  (*ESTIMATE, "ci"), ("options", "bootstrap_seed")], ids=str)
def test_what_there_is_not_may_be_absent(path):
    lacking = full()
    del step(lacking, path[:-1])[path[-1]]
    VALIDATOR.validate(lacking)
