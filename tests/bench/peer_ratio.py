#!/usr/bin/env python3
"""Throughput of uringbench ÷ throughput of a peer that takes the same flags, side by side.

    peer_ratio.py --peer PATH [--uringbench PATH] [--rounds 15] [--case NAME ...] [--zram] [--loop DEV]

Each round runs both programs for about a second, in random order, on the same CPU, and gives one
ratio; printed are the median of the paired ratios and its order-statistic interval. A lone figure of
either program says nothing on a shared machine, so none is printed. The peer is not part of this
project: give the path of one you have built.
"""

import argparse
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

CASES = {
    "nop-s32": ["-N1", "-p0", "FILE"],
    "nop-s1": ["-N1", "-p0", "-s1", "-c1", "FILE"],
    "buffered-s32": ["-p0", "-O0", "FILE"],
    "buffered-s8": ["-p0", "-O0", "-s8", "-c8", "FILE"],
    "buffered-s1": ["-p0", "-O0", "-s1", "-c1", "FILE"],
    "direct-s32": ["-p0", "FILE"],
    "zram-s32": ["-p0", "ZRAM"],
    "loop-s32": ["-p0", "LOOP"],
}


def iops(text):
    found = re.findall(r"^Maximum IOPS=([\d.]+)([KM]?)$", text, re.M)
    if not found:
        sys.exit("no 'Maximum IOPS=' in the output:\n" + text)
    return float(found[-1][0]) * {"": 1, "K": 1e3, "M": 1e6}[found[-1][1]]


def run(program, seconds, flags, cpu):
    def pin():
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})

    done = subprocess.run([program, f"-r{seconds}", *flags], capture_output=True, text=True,
                          timeout=30, preexec_fn=pin, check=False)
    return iops(done.stdout)


def interval(values):
    """95 % order-statistic interval of the median; None below six values."""
    values = sorted(values)
    n, below, k = len(values), 0.0, 0
    probability = 0.5 ** n
    while 1 - 2 * (below + probability) >= 0.95:
        below += probability
        k += 1
        probability = probability * (n - k + 1) / k
    return (values[k - 1], values[n - k]) if k else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", required=True)
    parser.add_argument("--uringbench", default="build/release/uringbench")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--case", action="append", choices=sorted(CASES))
    parser.add_argument("--zram", help="a filled zram device")
    parser.add_argument("--loop", help="a loop device")
    parser.add_argument("--cpu", type=int, help="pin both programs to this CPU")
    parser.add_argument("--directory", default=".", help="where the test file is made")
    arguments = parser.parse_args()

    with tempfile.NamedTemporaryFile(dir=arguments.directory) as file:
        for _ in range(64):
            file.write(os.urandom(1 << 20))
        file.flush()
        os.fsync(file.fileno())
        places = {"FILE": file.name, "ZRAM": arguments.zram, "LOOP": arguments.loop}
        for name in arguments.case or CASES:
            flags = [places.get(flag, flag) for flag in CASES[name]]
            if None in flags:
                print(f"{name:14} not measured: no device given")
                continue
            pathlib.Path(file.name).read_bytes()  # warm the page cache for the buffered cases
            ratios = []
            for _ in range(arguments.rounds):
                # The peer reports a second only after the next one has begun.
                sides = [("ours", arguments.uringbench, 1), ("peer", arguments.peer, 2)]
                random.shuffle(sides)
                seen = {side: run(program, seconds, flags, arguments.cpu)
                        for side, program, seconds in sides}
                ratios.append(seen["ours"] / seen["peer"])
            bounds = interval(ratios)
            text = f"[{bounds[0]:.3f}, {bounds[1]:.3f}]" if bounds else "no interval below 6 rounds"
            print(f"{name:14} ratio {statistics.median(ratios):.3f}  95% CI {text}  n={len(ratios)}",
                  flush=True)


if __name__ == "__main__":
    main()
