// fio's JSON, by files that fio 3.33 wrote and one as fio 2.16 did.
#include <nlohmann/json.hpp>

#include "result_import_support.hpp"

namespace uringbench::result {
namespace {

using nlohmann::ordered_json;
using testing::file_text;
using testing::finding_of;
using testing::import_fixture;
using testing::kNotComparable;
using testing::kUnreadable;
using testing::with_replaced;

class ResultImportFio : public testing::ResultImportJson {};

TEST_F(ResultImportFio, JobsAreRunsOfCells) {
  const Document document = import_file("fio-3.33-jobs.json");
  EXPECT_EQ(document.tool.version, "fio-3.33");
  EXPECT_EQ(imported_from(document), "fio");
  EXPECT_EQ(document.session.started_at.substr(0, 11), "2026-11-30T");
  EXPECT_EQ(document.session.started_at.size(), 24U);
  ASSERT_EQ(document.cells.size(), 2U);
  EXPECT_EQ(document.cells[0].id,
            "randread bs=4096 qd=16 submit=1 complete=1 threads=1 direct=1 regfiles=1 "
            "engine=io_uring targets=1 passthrough=0");
  EXPECT_EQ(document.cells[1].id,
            "randread bs=4096 qd=64 submit=8 complete=1 threads=1 direct=1 regfiles=1 "
            "engine=io_uring targets=1 passthrough=0");
}

TEST_F(ResultImportFio, TheFiguresOfAJob) {
  const ordered_json json = fixture("fio-3.33-jobs.json");
  const Document document = import_file("fio-3.33-jobs.json");
  const Cell& cell = document.cells.at(0);
  // "first" and "again" have other names and the same settings.
  ASSERT_EQ(cell.runs.size(), 2U);
  EXPECT_EQ(cell.summary.at(0).second.n, 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const ordered_json& job = json["jobs"][i];
    const ordered_json& side = job["read"];
    const result::Run& run = cell.runs[i];
    EXPECT_EQ(run.index, i);
    EXPECT_EQ(run.started_at, document.session.started_at);
    EXPECT_EQ(run.ios, side["total_ios"]);
    EXPECT_EQ(run.elapsed_ns, side["runtime"].get<std::int64_t>() * 1'000'000);
    EXPECT_EQ(run.warmup_ns, 100'000'000);
    EXPECT_DOUBLE_EQ(run.iops,
                     side["total_ios"].get<double>() * 1000 / side["runtime"].get<double>());
    EXPECT_EQ(*run.bytes_per_second, side["bw_bytes"].get<double>());
    EXPECT_EQ(run.latency->count, side["clat_ns"]["N"]);
    EXPECT_EQ(run.latency->min, side["clat_ns"]["min"]);
    EXPECT_EQ(run.latency->max, side["clat_ns"]["max"]);
    EXPECT_EQ(run.latency->mean, side["clat_ns"]["mean"]);
    const ordered_json& percentiles = side["clat_ns"]["percentile"];
    ASSERT_EQ(run.latency->percentiles.size(), percentiles.size());
    EXPECT_EQ(run.latency->percentiles.front().first, "p1");
    EXPECT_EQ(run.latency->percentiles.back().first, "p99.99");
    EXPECT_EQ(run.latency->percentiles.back().second, percentiles["99.990000"]);
    const double percent = job["usr_cpu"].get<double>() + job["sys_cpu"].get<double>();
    const double cpu_ns = percent / 100 * job["job_runtime"].get<double>() * 1e6;
    EXPECT_NEAR(*run.cpu.per_io_ns, cpu_ns / static_cast<double>(run.ios), 0.01);
    EXPECT_EQ(run.errors.count, 0U);
    EXPECT_TRUE(run.intervals.empty());
  }
}

TEST_F(ResultImportFio, JobsThatWriteAreLeftOut) {
  const Document document = import_file("fio-3.33-jobs.json");
  ASSERT_NE(finding_of(document, "left-out"), nullptr);
  EXPECT_EQ(finding_of(document, "left-out")->message,
            "job mixed is left out: it does not only read (rw=randrw)");
  ordered_json json = fixture("fio-3.33-jobs.json");
  json["global options"]["rw"] = "randwrite";
  const auto refusal = refusal_of_import(json.dump());
  EXPECT_EQ(refusal.code, kNotComparable);
  EXPECT_EQ(refusal.what, "is a result of fio with no jobs that only read");
  EXPECT_NE(refusal.hint.find("rw=rand"), std::string::npos);
  json["jobs"] = ordered_json::array();
  EXPECT_EQ(refusal_of_import(json.dump()).what, "is a result of fio with no jobs");
}

TEST_F(ResultImportFio, CopiesOfAJobAreOneRun) {
  const ordered_json json = fixture("fio-3.33-copies.json");
  const Cell cell = only_cell(json);
  EXPECT_EQ(cell.id,
            "seqread bs=65536 qd=8 submit=1 complete=1 threads=2 direct=1 fixedbufs=0 regfiles=0 "
            "engine=aio targets=1 passthrough=0 sqpoll=0");
  ASSERT_EQ(cell.runs.size(), 1U);
  const result::Run& run = cell.runs[0];
  const ordered_json &a = json["jobs"][0]["read"], &b = json["jobs"][1]["read"];
  EXPECT_EQ(run.ios, a["total_ios"].get<std::uint64_t>() + b["total_ios"].get<std::uint64_t>());
  EXPECT_NEAR(run.iops, a["iops"].get<double>() + b["iops"].get<double>(), 0.01);
  EXPECT_EQ(*run.bytes_per_second, a["bw_bytes"].get<double>() + b["bw_bytes"].get<double>());
  ASSERT_TRUE(run.latency);
  EXPECT_EQ(run.latency->count, run.ios);
  EXPECT_EQ(run.latency->min, std::min(a["clat_ns"]["min"], b["clat_ns"]["min"]));
  EXPECT_EQ(run.latency->max, std::max(a["clat_ns"]["max"], b["clat_ns"]["max"]));
  EXPECT_EQ(run.latency->percentiles.size(), a["clat_ns"]["percentile"].size());
  for (const auto& [name, value] : run.latency->percentiles) {
    if (name != "p50") continue;
    const std::uint64_t one = a["clat_ns"]["percentile"]["50.000000"];
    const std::uint64_t other = b["clat_ns"]["percentile"]["50.000000"];
    EXPECT_GE(value, std::min(one, other));
    EXPECT_LE(value, std::max(one, other));
  }
}

TEST_F(ResultImportFio, PercentilesOfCopiesNeedBins) {
  ordered_json json = fixture("fio-3.33-copies.json");
  // Twice the same: merged bins must give what fio made of them.
  ordered_json twins = json;
  twins["jobs"][1] = twins["jobs"][0];
  const Cell cell = only_cell(twins);
  const ordered_json& percentiles = json["jobs"][0]["read"]["clat_ns"]["percentile"];
  std::size_t i = 0;
  for (const auto& [key, value] : percentiles.items()) {
    EXPECT_EQ(cell.runs.at(0).latency->percentiles.at(i).second, value) << key;
    ++i;
  }
  json["jobs"][1]["read"]["clat_ns"].erase("bins");
  const Latency latency = *only_cell(json).runs.at(0).latency;
  EXPECT_TRUE(latency.percentiles.empty());
  EXPECT_GT(latency.mean, 0);
  json["jobs"][1]["read"]["clat_ns"] = {{"min", 0}, {"max", 0}, {"mean", 0.0}, {"N", 0}};
  EXPECT_FALSE(only_cell(json).runs.at(0).latency);
}

TEST_F(ResultImportFio, GroupReportingIsOneRun) {
  ordered_json json = fixture("fio-3.33-group.json");
  const Cell cell = only_cell(json);
  EXPECT_NE(cell.id.find(" threads=2 "), std::string::npos) << cell.id;
  ASSERT_EQ(cell.runs.size(), 1U);
  EXPECT_EQ(cell.runs[0].latency->percentiles.size(), 17U);
  // Percentages of the time of both threads, which older versions do not state.
  const double per_io_ns = *cell.runs[0].cpu.per_io_ns;
  json["jobs"][0].erase("job_runtime");
  EXPECT_NEAR(*only_cell(json).runs.at(0).cpu.per_io_ns, per_io_ns, per_io_ns * 0.01);
}

TEST_F(ResultImportFio, ShortReadsAreSeenByTheBytes) {
  ordered_json json = fixture("fio-3.33-group.json");
  EXPECT_EQ(only_cell(json).runs.at(0).short_reads, 0U);
  ordered_json& reads = json["jobs"][0]["read"];
  reads["io_bytes"] = reads["io_bytes"].get<std::uint64_t>() - 4096;
  EXPECT_EQ(only_cell(json).runs.at(0).short_reads, 1U);
}

TEST_F(ResultImportFio, ASignalInterruptsIt) {
  const std::string text = file_text(import_fixture("fio-3.33-group.json"));
  EXPECT_FALSE(import(text).session.interrupted);
  const Document document = import("\nfio: terminating on signal 2\n" + text);
  EXPECT_TRUE(document.session.interrupted);
  EXPECT_NE(finding_of(document, "unfinished"), nullptr);
}

TEST_F(ResultImportFio, GroupsOfDifferentJobsAreLeftOut) {
  const char* kWhy =
      "job group is left out: group_reporting added the figures of different jobs up";
  ordered_json json = fixture("fio-3.33-group.json");
  json["jobs"][0]["job options"]["name"] = "other";
  EXPECT_EQ(refusal_of_import(json.dump()).hint, kWhy);
  json["jobs"][0]["job options"].erase("name");
  json["jobs"][0]["job options"]["numjobs"] = "1";
  EXPECT_EQ(refusal_of_import(json.dump()).hint, kWhy);
  json["jobs"][0]["job_runtime"] = 301;
  EXPECT_EQ(refusal_of_import(json.dump()).code, 0);
}

TEST_F(ResultImportFio, AFailedJobIsARunWithErrors) {
  // With fio's messages before the document.
  const Document document = import_file("fio-3.33-errors.json");
  const result::Run& run = document.cells.at(0).runs.at(0);
  EXPECT_EQ(run.errors.count, 1U);
  EXPECT_EQ(run.errors.by_errno.at("EOPNOTSUPP"), 1U);
  EXPECT_NE(document.cells[0].id.find(" polled=1 "), std::string::npos);
  ordered_json json = fixture("fio-3.33-group.json");
  json["jobs"][0]["total_err"] = 17;
  json["jobs"][0]["first_error"] = 5;
  const Cell cell = only_cell(json);
  EXPECT_EQ(cell.runs.at(0).errors.count, 17U);
  EXPECT_EQ(cell.runs[0].errors.by_errno.at("EIO"), 17U);
  // Without a single read there is nothing to count.
  json = fixture("fio-3.33-group.json");
  json["jobs"][0]["read"]["total_ios"] = 0;
  json["jobs"][0]["read"]["iops"] = 0;
  EXPECT_EQ(refusal_of_import(json.dump()).hint, "job group is left out: it completed no read");
}

TEST_F(ResultImportFio, OfStatusReportsTheLastOneIsTaken) {
  const Document document = import_file("fio-3.33-status.json");
  ASSERT_NE(finding_of(document, "last-status"), nullptr);
  EXPECT_EQ(finding_of(document, "last-status")->message,
            "of 3 results in the file, the last one is taken");
  EXPECT_EQ(document.cells.at(0).runs.at(0).elapsed_ns, 501'000'000);
}

TEST_F(ResultImportFio, VersionTwo) {
  const Document document = import_file("fio-2.16.json");
  ASSERT_EQ(document.cells.size(), 1U);
  EXPECT_EQ(document.cells[0].id,
            "randread bs=4096 qd=32 submit=1 complete=1 threads=1 direct=1 fixedbufs=0 regfiles=0 "
            "engine=aio targets=2 passthrough=0 sqpoll=0");
  const result::Run& run = document.cells[0].runs.at(0);
  EXPECT_DOUBLE_EQ(run.iops, 488280 / 5.001);
  EXPECT_EQ(*run.bytes_per_second, 390546 * 1024.0);  // KiB
  EXPECT_EQ(run.latency->count, 488280U);
  EXPECT_EQ(run.latency->max, 7'113'000U);  // microseconds
  EXPECT_DOUBLE_EQ(run.latency->mean, 324'530);
  using Percentiles = std::vector<std::pair<std::string, std::uint64_t>>;
  EXPECT_EQ(
      run.latency->percentiles,
      (Percentiles{{"p1", 181'000}, {"p50", 318'000}, {"p99", 612'000}, {"p99.9", 1'192'000}}));
  EXPECT_NEAR(*run.cpu.per_io_ns, 0.4 * 5.001e9 / 488280, 0.01);
  ASSERT_EQ(document.targets.size(), 2U);
  EXPECT_EQ(document.targets[1].path, "/dev/sdb");
  EXPECT_EQ(document.targets[1].device->name, "sdb");
  EXPECT_EQ(document.session.started_at, "2016-11-30T10:00:00.000Z");
}

TEST_F(ResultImportFio, JobsSideBySideAreTold) {
  ordered_json json = fixture("fio-3.33-jobs.json");
  EXPECT_EQ(finding_of(import(json.dump()), "ran-together"), nullptr);
  json["jobs"][2]["groupid"] = 0;
  const Document document = import(json.dump());
  ASSERT_NE(finding_of(document, "ran-together"), nullptr);
  EXPECT_EQ(finding_of(document, "ran-together")->message,
            "2 jobs of fio ran at the same time: first, deep");
}

TEST_F(ResultImportFio, RatesThatDisagreeAreFios) {
  ordered_json json = fixture("fio-3.33-group.json");
  json["jobs"][0]["read"]["iops"] = 1000.0;
  const result::Run run = only_cell(json).runs.at(0);
  EXPECT_EQ(run.iops, 1000.0);
  EXPECT_EQ(run.warnings.size(), 1U);
}

TEST_F(ResultImportFio, OurOwnDocumentsTakeNoHints) {
  ImportHints hints;
  hints.cell_id = "nop qd=3";
  const std::string own =
      file_text(std::filesystem::path(TEST_DATA_DIR) / "golden" / "result-v1-full.json");
  const Document document = import(own, hints);
  EXPECT_EQ(imported_from(document), "");
  EXPECT_EQ(to_json(load_any(path_, Detail::everything, hints)), own);
  // Also with the keys in another order, and words of fio in it.
  auto sorted = nlohmann::json::parse(own);
  sorted["session"]["argv"] = {"fio version"};
  EXPECT_EQ(refusal_of_import(sorted.dump()).code, 0);
  EXPECT_EQ(refusal_of_import("{\"a\": 1}").what,
            "is no result of uringbench: it is JSON, but has no schema.name");
}

TEST_F(ResultImportFio, TextAroundTheDocument) {
  const std::string plain = file_text(import_fixture("fio-3.33-group.json"));
  const std::string around = "fio: this is a {warning}\nsecond line\n" + plain + "fio: bye\n";
  Document document = import(around);
  const Document expected = import(plain);
  document.session.id = expected.session.id;  // made of the text
  EXPECT_EQ(to_json(document), to_json(expected));
  const auto refusal =
      refusal_of_import("one\ntwo\n" + with_replaced(plain, "\"jobs\" :", "jobs :"));
  EXPECT_EQ(refusal.code, kUnreadable);
  EXPECT_EQ(refusal.what, "is not JSON: line 8, column 3 cannot be read (time)");
}

TEST_F(ResultImportFio, WhatIsMissingOrImpossibleIsNamed) {
  const auto refusal_with = [&](const char* pointer, const ordered_json& value) {
    ordered_json json = fixture("fio-3.33-group.json");
    if (value.is_null()) {
      const ordered_json::json_pointer at(pointer);
      json[at.parent_pointer()].erase(at.back());
    } else {
      json[ordered_json::json_pointer(pointer)] = value;
    }
    return refusal_of_import(json.dump());
  };
  EXPECT_EQ(refusal_with("/jobs", nullptr).what, "jobs: is missing");
  EXPECT_EQ(refusal_with("/jobs", 5).what, "jobs: must be a list, is 5");
  EXPECT_EQ(refusal_with("/jobs/0/jobname", nullptr).what, "jobs[0].jobname: is missing");
  EXPECT_EQ(refusal_with("/jobs/0/read/total_ios", -1).code, kNotComparable);
  EXPECT_EQ(refusal_with("/jobs/0/read/iops", 1e300).what,
            "jobs[0].read.iops: must be a rate, is 1e+300");
  EXPECT_EQ(refusal_with("/jobs/0/read/clat_ns/mean", 1e300).code, kNotComparable);
  EXPECT_EQ(refusal_with("/jobs/0/read/runtime", 1e18).code, kNotComparable);
  EXPECT_EQ(refusal_with("/jobs/0/usr_cpu", 1e308).code, 0);  // cut to what fits
  EXPECT_EQ(refusal_with("/timestamp_ms", UINT64_MAX).code, 0);
  EXPECT_EQ(refusal_with("/fio version", 3).what, "[\"fio version\"]: must be a text, is 3");
}

TEST_F(ResultImportFio, CutOffAnywhere) {
  const std::string text = file_text(import_fixture("fio-2.16.json"));
  const std::size_t whole = text.rfind('}') + 1;
  for (std::size_t size = 1; size < whole; ++size) {
    const auto refusal = refusal_of_import(text.substr(0, size));
    EXPECT_EQ(refusal.code, kUnreadable) << size;
    EXPECT_TRUE(refusal.what.starts_with("is not complete: it ends in the middle")) << refusal.what;
  }
  EXPECT_EQ(refusal_of_import(text.substr(0, whole)).code, 0);
}

}  // namespace
}  // namespace uringbench::result
