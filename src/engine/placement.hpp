// Threads and their memory on the device's NUMA node (-P).
//
// Memory is bound, not merely preferred: a preference is given up in silence when the node is
// full, and a result must not say "node 1" of buffers on node 0. A full node makes set-up fail
// instead. The policy is the calling thread's alone, and holds for what it touches first from now
// on: its ring, its buffers.
#pragma once

namespace uringbench::engine {

/// The calling thread may run on the CPUs of `node` that it was allowed before, and takes its
/// memory there. Throws SystemError or UserError with a cure: no NUMA, no such node, no CPU of it
/// allowed, no memory of it allowed.
void place_on_node(int node);

/// The memory alone, for a thread that is pinned to a CPU already.
void place_memory_on_node(int node);

}  // namespace uringbench::engine
