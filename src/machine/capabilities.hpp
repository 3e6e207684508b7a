// What this process is permitted, by /proc/self/status.
#pragma once

#include "machine/machine.hpp"

namespace uringbench::machine {

inline constexpr int kCapIpcLock = 14;   ///< CAP_IPC_LOCK: no limit of locked memory
inline constexpr int kCapSysAdmin = 21;  ///< CAP_SYS_ADMIN

/// Is the capability in force? False when it cannot be told.
bool has_capability(int number, const Root& root);

}  // namespace uringbench::machine
