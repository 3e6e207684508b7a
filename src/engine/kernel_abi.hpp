// Constants of the kernel's io_uring interface that an old liburing's header lacks, each with the
// kernel that brought it. Source: include/uapi/linux/io_uring.h.
#pragma once

#include <liburing.h>

#include <cstdint>

namespace uringbench::engine::abi {

inline constexpr std::uint32_t kSetupNoSqArray = 1U << 16;      // 6.6
inline constexpr std::uint32_t kSetupHybridIopoll = 1U << 17;   // 6.13
inline constexpr std::uint8_t kOpReadvFixed = 60;               // 6.15
inline constexpr std::uint32_t kNopInjectResult = 1U << 0;      // 6.10
inline constexpr std::uint32_t kNopFile = 1U << 1;              // 6.13
inline constexpr std::uint32_t kNopFixedFile = 1U << 2;         // 6.13
inline constexpr std::uint32_t kNopFixedBuffer = 1U << 3;       // 6.13
inline constexpr std::uint32_t kEnterRegisteredRing = 1U << 4;  // 5.18

/// io_uring_register(-1, …): asks without a ring what the kernel knows (6.18).
inline constexpr unsigned kRegisterQuery = 35;
inline constexpr std::uint32_t kQueryOpcodes = 0;
struct QueryHeader {
  std::uint64_t next_entry = 0;
  std::uint64_t query_data = 0;
  std::uint32_t query_op = 0;
  std::uint32_t size = 0;
  std::int32_t result = 0;
  std::uint32_t reserved[3] = {};
};
struct QueryOpcodes {
  std::uint32_t request_opcodes = 0;
  std::uint32_t register_opcodes = 0;
  std::uint64_t feature_flags = 0;
  std::uint64_t setup_flags = 0;
  std::uint64_t enter_flags = 0;
  std::uint64_t sqe_flags = 0;
  std::uint32_t query_opcodes = 0;
  std::uint32_t pad = 0;
};

struct NamedBit {
  std::uint32_t bit;
  const char* name;
};

inline constexpr NamedBit kSetupFlagNames[] = {
    {1U << 0, "IOPOLL"},         {1U << 1, "SQPOLL"},
    {1U << 2, "SQ_AFF"},         {1U << 3, "CQSIZE"},
    {1U << 4, "CLAMP"},          {1U << 5, "ATTACH_WQ"},
    {1U << 6, "R_DISABLED"},     {1U << 7, "SUBMIT_ALL"},
    {1U << 8, "COOP_TASKRUN"},   {1U << 9, "TASKRUN_FLAG"},
    {1U << 10, "SQE128"},        {1U << 11, "CQE32"},
    {1U << 12, "SINGLE_ISSUER"}, {1U << 13, "DEFER_TASKRUN"},
    {1U << 14, "NO_MMAP"},       {1U << 15, "REGISTERED_FD_ONLY"},
    {1U << 16, "NO_SQARRAY"},    {1U << 17, "HYBRID_IOPOLL"},
    {1U << 18, "CQE_MIXED"},     {1U << 19, "SQE_MIXED"},
    {1U << 20, "SQ_REWIND"},
};

inline constexpr NamedBit kFeatureNames[] = {
    {1U << 0, "SINGLE_MMAP"},    {1U << 1, "NODROP"},          {1U << 2, "SUBMIT_STABLE"},
    {1U << 3, "RW_CUR_POS"},     {1U << 4, "CUR_PERSONALITY"}, {1U << 5, "FAST_POLL"},
    {1U << 6, "POLL_32BITS"},    {1U << 7, "SQPOLL_NONFIXED"}, {1U << 8, "EXT_ARG"},
    {1U << 9, "NATIVE_WORKERS"}, {1U << 10, "RSRC_TAGS"},      {1U << 11, "CQE_SKIP"},
    {1U << 12, "LINKED_FILE"},   {1U << 13, "REG_REG_RING"},   {1U << 14, "RECVSEND_BUNDLE"},
    {1U << 15, "MIN_TIMEOUT"},   {1U << 16, "RW_ATTR"},        {1U << 17, "NO_IOWAIT"},
};

}  // namespace uringbench::engine::abi
