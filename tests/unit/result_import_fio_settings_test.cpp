// What the options of a job of fio become in the words of a cell's identity.
#include <nlohmann/json.hpp>

#include "plan/plan.hpp"
#include "result_import_support.hpp"

namespace uringbench::result {
namespace {

using nlohmann::ordered_json;
using testing::finding_of;

class ResultImportFioSettings : public testing::ResultImportJson {
 protected:
  /// The id of a job with these options.
  std::string id_with(const ordered_json& options) const {
    ordered_json json = fixture("fio-3.33-group.json");
    json["jobs"][0]["job options"] = options;
    return only_cell(json).id;
  }
};

TEST_F(ResultImportFioSettings, WhatIsAskedAndWhatIsNotStated) {
  const Document document = import_file("fio-3.33-jobs.json");
  const Settings& asked = document.cells.at(1).asked;
  EXPECT_EQ(*asked.find("random"), Settings::Value(true));
  EXPECT_EQ(*asked.find("depth"), Settings::Value(std::int64_t{64}));
  EXPECT_EQ(*asked.find("batch_submit"), Settings::Value(std::int64_t{8}));
  EXPECT_EQ(*asked.find("runtime_ns"), Settings::Value(std::int64_t{500'000'000}));
  EXPECT_EQ(*asked.find("warmup_ns"), Settings::Value(std::int64_t{100'000'000}));
  EXPECT_EQ(*asked.find("register_files"), Settings::Value(true));
  // fio does not list an option without a value ("fixedbufs"): it may be set.
  EXPECT_EQ(asked.find("fixed_buffers"), nullptr);
  EXPECT_EQ(asked.find("sqpoll"), nullptr);
  ASSERT_EQ(document.targets.size(), 1U);
  EXPECT_EQ(document.targets[0].path, "data");
  EXPECT_EQ(document.targets[0].device->name, "vda");
  ASSERT_NE(finding_of(document, "unknown-settings"), nullptr);
  EXPECT_EQ(finding_of(document, "unknown-settings")->message.substr(0, 61),
            "settings that fio does not state: polled, fixedbufs, regring,");
}

TEST_F(ResultImportFioSettings, OptionsBecomeSettings) {
  EXPECT_EQ(id_with({{"name", "group"}, {"numjobs", "2"}}),
            "seqread bs=4096 qd=1 submit=1 complete=1 threads=2 direct=0 polled=0 fixedbufs=0 "
            "regfiles=0 engine=sync passthrough=0 sqpoll=0");
  EXPECT_EQ(id_with({{"rw", "randread:8"},
                     {"bs", "128K,4k"},
                     {"numjobs", "2"},
                     {"iodepth", "0x"},
                     {"ioengine", "io_uring"},
                     {"hipri", "1"},
                     {"fixedbufs", ""},
                     {"registerfiles", "0"},
                     {"sqthread_poll", "1"},
                     {"sqthread_poll_cpu", "3"},
                     {"iodepth_batch", "4"},
                     {"iodepth_batch_complete_min", "2"},
                     {"buffered", "0"},
                     {"filename", "/dev/a\\:b:/dev/c"}}),
            "randread bs=131072 submit=4 complete=2 threads=2 direct=1 polled=1 fixedbufs=1 "
            "regfiles=0 engine=io_uring targets=2 passthrough=0 sqpoll=1 sqpoll_cpu=3");
  EXPECT_NE(id_with({{"ioengine", "io_uring_cmd"}, {"numjobs", "2"}})
                .find("engine=io_uring passthrough=1"),
            std::string::npos);
  EXPECT_NE(id_with({{"ioengine", "posixaio"}, {"numjobs", "2"}}).find(" engine=posixaio "),
            std::string::npos);
  // A depth that the engine does not have.
  EXPECT_NE(id_with({{"iodepth", "32"}, {"numjobs", "2"}}).find(" qd=1 "), std::string::npos);
  // Sizes that are not one size, and options that we have no word for.
  const std::string other =
      id_with({{"numjobs", "2"}, {"bssplit", "4k/50:8k/50"}, {"rate_iops", "1000 "}});
  EXPECT_EQ(other.find(" bs="), std::string::npos);
  EXPECT_TRUE(other.ends_with(" fio_bssplit=4k/50:8k/50 fio_rate_iops=1000_")) << other;
}

TEST_F(ResultImportFioSettings, WhatChangesTheLoadIsPartOfTheCell) {
  for (const char* option : {"size", "offset", "io_size", "iodepth_low", "cpus_allowed", "nrfiles",
                             "mem", "prioclass", "norandommap", "an_option_of_tomorrow"}) {
    const std::string id = id_with({{"numjobs", "2"}, {option, "1"}});
    EXPECT_NE(id.find(std::string(" fio_") + option + "=1"), std::string::npos) << id;
  }
  EXPECT_EQ(id_with({{"numjobs", "2"}, {"randseed", "1"}}), id_with({{"numjobs", "2"}}));
}

TEST_F(ResultImportFioSettings, NoRampTimeIsNoWarmUp) {
  ordered_json json = fixture("fio-3.33-group.json");
  json["jobs"][0]["job options"].erase("ramp_time");
  EXPECT_EQ(*only_cell(json).asked.find("warmup_ns"), Settings::Value(std::int64_t{0}));
  json["jobs"][0]["job options"]["ramp_time"] = "10";
  EXPECT_EQ(*only_cell(json).asked.find("warmup_ns"),
            Settings::Value(std::int64_t{10'000'000'000}));
}

TEST_F(ResultImportFioSettings, DurationsInAllUnits) {
  const auto runtime = [&](const char* text) -> std::int64_t {
    ordered_json json = fixture("fio-3.33-group.json");
    json["jobs"][0]["job options"]["runtime"] = text;
    const Cell cell = only_cell(json);
    const Settings::Value* value = cell.asked.find("runtime_ns");
    return value ? std::get<std::int64_t>(*value) : -1;
  };
  EXPECT_EQ(runtime("30"), 30'000'000'000);
  EXPECT_EQ(runtime("30s"), 30'000'000'000);
  EXPECT_EQ(runtime("500ms"), 500'000'000);
  EXPECT_EQ(runtime("250us"), 250'000);
  EXPECT_EQ(runtime("2m"), 120'000'000'000);
  EXPECT_EQ(runtime("1h"), 3'600'000'000'000);
  for (const char* text : {"", "x", "5x", "-5", "99999999999999999h", "30 s"}) {
    EXPECT_EQ(runtime(text), -1) << text;
  }
}

TEST_F(ResultImportFioSettings, NamesTellCellsApartOnlyWhereNeeded) {
  ordered_json json = fixture("fio-3.33-jobs.json");
  json["jobs"].erase(3);
  json["jobs"][1]["job options"]["filename"] = "other";
  json["jobs"][1]["jobname"] = "a gain";
  Document document = import(json.dump());
  ASSERT_EQ(document.cells.size(), 3U);
  EXPECT_TRUE(document.cells[0].id.ends_with(" passthrough=0 job=first")) << document.cells[0].id;
  EXPECT_TRUE(document.cells[1].id.ends_with(" passthrough=0 job=a_gain"));
  EXPECT_TRUE(document.cells[2].id.ends_with(" passthrough=0"));
  EXPECT_EQ(*document.cells[0].asked.find("job"), Settings::Value(std::string("first")));
  json["jobs"][0]["jobname"] = "a gain";
  document = import(json.dump());
  EXPECT_TRUE(document.cells[1].id.ends_with(" job=a_gain#2")) << document.cells[1].id;
}

TEST_F(ResultImportFioSettings, WithoutOptionsNothingIsKnownOfThem) {
  ordered_json json = fixture("fio-3.33-copies.json");
  for (auto& job : json["jobs"]) job.erase("job options");
  EXPECT_EQ(only_cell(json).id, "threads=2");
  json["jobs"][1]["jobname"] = "other";
  const Document document = import(json.dump());
  ASSERT_EQ(document.cells.size(), 2U);
  EXPECT_EQ(document.cells[0].id, "job=copies");
}

TEST_F(ResultImportFioSettings, HintsFillInEveryWordInOrder) {
  plan::Options options;
  options.depth = 16;
  options.batch_submit = options.batch_complete = 1;
  options.random = true;
  options.polled = plan::PolledWish::off;
  options.passthrough = false;
  options.files = {"data"};
  plan::TargetShape shape;
  shape.path = "data";
  shape.size_bytes = 1 << 24;
  ImportHints hints;
  hints.cell_id = plan::cell_id(plan::make_plan(options, {shape}, {}, 1));
  ordered_json json = fixture("fio-3.33-jobs.json");
  json["jobs"] = {json["jobs"][0]};
  const Document document = import(json.dump(), hints);
  EXPECT_EQ(document.cells.at(0).id, hints.cell_id);
  EXPECT_EQ(finding_of(document, "unknown-settings"), nullptr);
  json["jobs"][0]["job options"]["iodepth"] = "17";
  EXPECT_EQ(refusal_of_import(json.dump(), hints).what, "says qd=17, but qd=16 was stated for it");
  // Words that are newer than this program stand behind those it knows.
  hints.cell_id += " newer=1";
  json["jobs"][0]["job options"]["iodepth"] = "16";
  EXPECT_EQ(import(json.dump(), hints).cells.at(0).id, hints.cell_id);
}

}  // namespace
}  // namespace uringbench::result
