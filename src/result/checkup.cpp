// What doctor found, as JSON; docs/schema/doctor-v1.schema.json is the same thing for machines.
#include <algorithm>

#include "result/json_text.hpp"
#include "result/writing.hpp"

namespace uringbench::result {

constexpr int kCheckupVersion = 1;

Json to_value(const Checkup::Ability& ability) {
  Json object;
  object["name"] = ability.name;
  object["works"] = ability.works;
  put_text(object, "remark", ability.remark);
  return object;
}

Json to_value(const Checkup::Problem& problem) {
  Json object;
  object["what"] = problem.what;
  put_text(object, "hint", problem.hint);
  return object;
}

Json to_value(const Checkup::TargetCheck& check) {
  Json object;
  object["path"] = check.path;
  if (check.target) object["target"] = to_value(*check.target);
  object["modes"] = to_array(check.modes);
  object["problems"] = to_array(check.problems);
  object["findings"] = to_array(check.findings);
  return object;
}

bool Checkup::healthy() const {
  return problems.empty() &&
         std::all_of(targets.begin(), targets.end(),
                     [](const TargetCheck& check) { return check.problems.empty(); });
}

std::string to_json(const Checkup& checkup) {
  Json root;
  root["schema"]["name"] = "uringbench.doctor";
  root["schema"]["version"] = kCheckupVersion;
  root["tool"] = to_value(checkup.tool);
  root["healthy"] = checkup.healthy();
  root["environment"]["identity"] = to_value(checkup.identity);
  root["environment"]["weather"] = to_value(checkup.weather);
  root["kernel"] = to_array(checkup.kernel);
  root["setup_flags"] = to_array(checkup.setup_flags);
  root["opcodes"] = to_array(checkup.opcodes);
  root["limits"] = Json::array();
  for (const auto& [name, value] : checkup.limits) {
    root["limits"].push_back({{"name", name}, {"value", value}});
  }
  root["problems"] = to_array(checkup.problems);
  root["findings"] = to_array(checkup.findings);
  root["targets"] = to_array(checkup.targets);
  return json_text(root);
}

}  // namespace uringbench::result
