"""The schema of the result document against the golden documents and against spoilt ones."""

import json
import re

import jsonschema
import pytest

from helpers import ROOT, parse_document

SCHEMA = parse_document((ROOT / "docs/schema/result-v1.schema.json").read_text())
DOCTOR = parse_document((ROOT / "docs/schema/doctor-v1.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
GOLDEN = sorted((ROOT / "tests/golden").glob("result-v1-*.json"))


def document(path):
    return parse_document(path.read_text())


def shortened():
    """The full document without what is there many times: it is validated a thousand times."""
    small = document(ROOT / "tests/golden/result-v1-full.json")
    runs = small["cells"][0]["runs"]
    runs[:] = [runs[0], runs[-1]]
    for run in runs:
        del run["latency_ns"]["buckets"][2:]
    return json.dumps(small)


FULL_TEXT = shortened()


def full():
    """A fresh copy, to be spoilt."""
    return json.loads(FULL_TEXT)


def step(value, path):
    for key in path:
        value = value[key]
    return value


def objects(value, path=()):
    """Path of every object in a document, the outermost first."""
    if isinstance(value, dict):
        yield path
        for key, member in value.items():
            yield from objects(member, (*path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from objects(member, (*path, index))


# Objects whose keys the writer does not choose.
FREE_FORM = {"asked", "granted", "mitigations", "smt", "temperature_celsius", "queue",
             "queue_restored", "by_errno"}


def test_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_there_are_golden_documents():
    assert [path.name for path in GOLDEN] == ["result-v1-full.json", "result-v1-minimal.json"]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_golden_documents_are_valid(path):
    errors = [f"{list(error.absolute_path)}: {error.message}"
              for error in VALIDATOR.iter_errors(document(path))]
    assert not errors


def test_full_document_is_full():
    """Every key the schema knows is in the golden document, so every key is tested."""
    seen = set()

    def collect(value):
        if isinstance(value, dict):
            seen.update(value)
            for member in value.values():
                collect(member)
        elif isinstance(value, list):
            for member in value:
                collect(member)

    collect(full())
    known = set()
    for definition in (SCHEMA, *SCHEMA["$defs"].values()):
        known.update(definition.get("properties", {}))
    assert known <= seen


def test_every_closed_object_refuses_an_unknown_key():
    for path in objects(full()):
        if path and path[-1] in FREE_FORM:
            continue
        spoilt = full()
        step(spoilt, path)["unheard_of"] = 1
        assert not VALIDATOR.is_valid(spoilt), path


def required_of(path):
    """The keys that this object of the document must have, found by following the schema."""
    schema = SCHEMA
    for key in path:
        while "$ref" in schema:
            schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
        schema = schema["items"] if isinstance(key, int) else schema["properties"].get(key, {})
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    return schema.get("required", [])


def test_every_required_key_is_missed():
    checked = 0
    for path in objects(full()):
        for key in required_of(path):
            spoilt = full()
            del step(spoilt, path)[key]
            assert not VALIDATOR.is_valid(spoilt), (path, key)
            checked += 1
    assert checked > 100


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, member in value.items():
            yield from leaves(member, (*path, key))
    elif isinstance(value, list):
        for index in sorted({0, len(value) - 1} & set(range(len(value)))):
            yield from leaves(value[index], (*path, index))
    else:
        yield path, value


def put(path, value):
    spoilt = full()
    step(spoilt, path[:-1])[path[-1]] = value
    return spoilt


def test_every_number_refuses_text_null_and_negatives():
    for path, value in leaves(full()):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        if {"asked", "granted"} & set(path):
            continue  # free-form: types differ by setting
        assert not VALIDATOR.is_valid(put(path, str(value))), path
        assert not VALIDATOR.is_valid(put(path, None)), path
        assert not VALIDATOR.is_valid(put(path, True)), path
        if "temperature_celsius" not in path:
            assert not VALIDATOR.is_valid(put(path, -1)), path


def test_every_count_refuses_a_fraction():
    for path, value in leaves(full()):
        if isinstance(value, int) and not isinstance(value, bool):
            if {"asked", "granted"} & set(path):
                continue
            if "temperature_celsius" in path and path[-2] == "temperature_celsius":
                continue
            assert not VALIDATOR.is_valid(put(path, value + 0.5)), path


def test_every_text_and_flag_refuses_a_number():
    for path, value in leaves(full()):
        if isinstance(value, (bool, str)) and not {"asked", "granted"} & set(path):
            assert not VALIDATOR.is_valid(put(path, 1)), path


RUN = ("cells", 0, "runs", 0)
LAST = ("cells", 0, "runs", 1)


@pytest.mark.parametrize("path, value", [
    (("schema", "version"), 2),
    (("schema", "name"), "fio"),
    (("session", "started_at"), "2026-11-30 10:00:00"),
    (("session", "started_at"), "2026-11-30T10:00:00.123+01:00"),
    (("session", "started_at"), "2026-13-30T10:00:00.123Z"),
    (("session", "started_at"), "2026-11-30T10:00:00.123Z\n"),
    (("session", "verb"), "walk"),
    (("session", "label"), ""),
    (("session", "signal"), "INT"),
    (("session", "interrupted"), False),
    (("session", "seed"), 1 << 64),
    (("targets", 0, "kind"), "character"),
    (("targets", 0, "sparse"), False),
    (("targets", 0, "device", "local_cpus"), "0-"),
    (("findings", 0, "severity"), "refusal"),
    (("findings", 0, "code"), "Sparse Target"),
    ((*RUN, "errors"), {"count": 0, "by_errno": {"EIO": 1}}),
    ((*RUN, "errors"), {"count": 1, "by_errno": {}}),
    ((*RUN, "errors"), {"count": 1, "by_errno": {"5": 1}}),
    ((*RUN, "errors"), {"count": 0, "by_errno": {},
                        "first": {"errno": "EIO", "target": 0, "offset_bytes": 0}}),
    ((*RUN, "inflight_mean_method"), "guess"),
    ((*RUN, "block"), 1),
    ((*RUN, "latency_ns", "count"), 0),
    ((*RUN, "latency_ns", "buckets"), []),
    ((*RUN, "latency_ns", "buckets"), [[1, 2, 3]]),
    ((*RUN, "latency_ns", "buckets"), [[1]]),
    ((*RUN, "latency_ns", "buckets"), [[1, 0]]),
    ((*RUN, "latency_ns", "p101"), 5),
    ((*RUN, "latency_ns", "0.00"), 5),
    (("targets", 1, "namespace_id"), 0),
    ((*LAST, "sqpoll", "pollers"), []),
    ((*LAST, "sqpoll"), {"thread_id": 1, "wakeups": 0, "utilisation": 0.5}),
    (("cells", 0, "asked", "depth"), 0),
    (("cells", 0, "asked", "threads"), "many"),
    (("cells", 0, "asked", "cpus"), "0-3"),
    (("cells", 0, "asked", "taskrun"), "eager"),
    (("cells", 0, "asked", "queue"), ["iostats"]),
    (("cells", 0, "asked", "sqthread_stats_bit"), 32),
    (("cells", 0, "granted", "sqthread_stats"), "off"),
    (("cells", 0, "granted", "restrictions"), "READ"),
    (("cells", 0, "asked", "depth"), "128"),
    (("cells", 0, "granted", "setup_flags"), "SQPOLL"),
    (("cells", 0, "asked", "anything"), None),
    (("cells", 0, "asked", "anything"), {"nested": 1}),
    (("cells", 0, "summary", "iops", "ci95"), [1]),
    (("cells", 0, "summary", "iops", "ci95"), [1, 2, 3]),
    (("cells", 0, "summary", "iops", "ci95_coverage"), 0.9),
    (("cells", 0, "summary", "iops", "n"), 0),
    (("cells", 0, "summary", "latency"), {}),
], ids=str)
def test_spoilt_documents_are_refused(path, value):
    assert not VALIDATOR.is_valid(put(path, value))


def test_an_interval_needs_its_coverage():
    spoilt = full()
    del spoilt["cells"][0]["summary"]["iops"]["ci95_coverage"]
    assert not VALIDATOR.is_valid(spoilt)


@pytest.mark.parametrize("document_without", ["latency_ns", "bytes_per_second", "steady",
                                              "ios_per_submit_call", "ios_per_reap"])
def test_what_was_not_measured_may_be_absent(document_without):
    lacking = full()
    del lacking["cells"][0]["runs"][0][document_without]
    VALIDATOR.validate(lacking)


@pytest.mark.parametrize("name", ["EIO", "errno 4242", "NVME_SC_READ_ERROR", "NVME_STATUS_0x1c2",
                                  "NVME_SC_LBA_RANGE|DNR", "NVME_STATUS_0x1c2|CRD1|DNR"])
def test_names_of_errors(name):
    document_with = full()
    step(document_with, RUN)["errors"] = {
        "count": 1, "by_errno": {name: 1}, "first": {"errno": name, "target": 0, "offset_bytes": 0}}
    VALIDATOR.validate(document_with)


@pytest.mark.parametrize("name", ["5", "eio", "NVME", "NVME_SC_", "NVME_STATUS_450", "EIO|DNR",
                                  "NVME_SC_READ_ERROR|", "NVME_SC_READ_ERROR DNR"])
def test_what_is_no_name_of_an_error(name):
    spoilt = full()
    step(spoilt, RUN)["errors"] = {"count": 1, "by_errno": {name: 1}}
    assert not VALIDATOR.is_valid(spoilt)


@pytest.mark.parametrize("where, settings", [
    ("asked", {"engine": "aio", "passthrough": True, "threads": "auto", "cpus": "local-core"}),
    ("asked", {"cpus": "local-node", "taskrun": "plain", "hugetlb": "anon", "queue": []}),
    ("asked", {"note": "x", "ratio": 0.5}),
    ("granted", {"sqpoll": False, "sqthread_stats": "accepted-but-not-off", "nodes": [0, 1]}),
    ("granted", {"cpus": [0, 2], "restrictions": ["READ_FIXED"], "buffer_page_bytes": 0}),
])
def test_settings_that_are_welcome(where, settings):
    extended = full()
    extended["cells"][0][where].update(settings)
    VALIDATOR.validate(extended)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinity_do_not_even_parse(constant):
    text = json.dumps(full()).replace('"iops": ', f'"iops": {constant}, "was": ', 1)
    assert constant in text
    with pytest.raises(Exception, match=constant):
        parse_document(text)


def test_duplicate_keys_do_not_even_parse():
    with pytest.raises(Exception, match="p50"):
        parse_document('{"latency_ns": {"p50": 1, "p99": 2, "p50": 3}}')


def test_the_example_of_the_documentation_is_valid():
    page = (ROOT / "docs/result-schema.md").read_text()
    example = re.search(r"```json\n(.*?)```", page, re.DOTALL)[1]
    VALIDATOR.validate(parse_document(example))


def test_the_documentation_names_every_key():
    page = (ROOT / "docs/result-schema.md").read_text()
    known = set()
    for definition in (SCHEMA, *SCHEMA["$defs"].values()):
        known.update(definition.get("properties", {}))
    # Percentiles are described as a range, settings by their most important members.
    known -= {"p90", "runtime_ns"}
    missing = {key for key in known if f"`{key}`" not in page}
    assert not missing


DOCTOR_VALIDATOR = jsonschema.Draft202012Validator(DOCTOR)
CHECKUPS = sorted((ROOT / "tests/golden").glob("doctor-v1-*.json"))


def test_doctor_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(DOCTOR)


def test_what_both_schemas_define_is_the_same():
    shared = SCHEMA["$defs"].keys() & DOCTOR["$defs"].keys()
    assert {"tool", "identity", "weather", "target", "device", "finding"} <= shared
    for name in shared:
        assert SCHEMA["$defs"][name] == DOCTOR["$defs"][name], name


def test_there_are_golden_checkups():
    assert [path.name for path in CHECKUPS] == ["doctor-v1-full.json", "doctor-v1-minimal.json"]


@pytest.mark.parametrize("path", CHECKUPS, ids=lambda path: path.name)
def test_golden_checkups_are_valid(path):
    DOCTOR_VALIDATOR.validate(document(path))


def test_every_object_of_a_checkup_is_closed_and_misses_what_it_needs():
    whole = document(CHECKUPS[0])
    checked = 0
    for path in objects(whole):
        if path and path[-1] in FREE_FORM:
            continue
        spoilt = json.loads(json.dumps(whole))
        step(spoilt, path)["unheard_of"] = 1
        assert not DOCTOR_VALIDATOR.is_valid(spoilt), path
        for key in step(whole, path):
            spoilt = json.loads(json.dumps(whole))
            step(spoilt, path)[key] = None
            assert not DOCTOR_VALIDATOR.is_valid(spoilt), (path, key)
            checked += 1
    assert checked > 60


def test_the_page_names_every_key_of_a_checkup():
    section = (ROOT / "docs/result-schema.md").read_text().split("## The document of `doctor`")[1]
    missing = {key for key in DOCTOR["properties"] if f"`{key}`" not in section}
    assert not missing
