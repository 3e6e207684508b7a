// What may be set in a block queue.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace uringbench::machine {

std::string queue_folder(const std::string& disk, const Root& root);
/// How an attribute is called in messages: "--queue: vda/queue/iostats".
std::string queue_subject(const std::string& disk, const std::string& key);
/// By its mode: root may open any file for writing, but the kernel then has nothing to do with it.
bool has_write_bit(const std::string& path);
/// Sorted names of what may be set in a queue's folder, or in one below it.
std::vector<std::string> writable_names(const std::string& folder);
/// All that is wrong with setting these on these disks, before anything is touched.
std::vector<base::Problem> problems_with_settings(const std::vector<std::string>& disks,
                                                  const std::vector<plan::QueueSetting>& settings,
                                                  const Root& root);

}  // namespace uringbench::machine
