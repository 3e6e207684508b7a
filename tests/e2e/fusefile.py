"""A regular file served by this process, over the kernel's FUSE protocol (linux/fuse.h).

Stands for a drive that can be told to stall, fail, or answer short; and it sees the offset of
every read, which no other target shows. Root only; no library needed.
"""

import contextlib
import ctypes
import errno
import mmap
import os
import signal
import struct
import time

GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH = 3, 14, 15, 17, 18, 25
INIT, FORGET, BATCH_FORGET, INTERRUPT, DESTROY = 26, 2, 42, 36, 38
ASYNC_READ, ASYNC_DIO, FOPEN_DIRECT_IO = 1, 1 << 15, 1
MNT_DETACH = 2
SERVE, STALL, FAIL, SHORT = 0, 1, 2, 3
LOG_ENTRIES = 400_000


class FuseFile:
    """`path` reads as `size` random-looking bytes. `mode`, `error` and `delay` may be changed at
    any time; `reads` lists (offset, length) of what was asked for, in order."""

    def __init__(self, path, size):
        self.path, self.size = str(path), size
        self.shared = mmap.mmap(-1, 4096 + LOG_ENTRIES * 16)
        self.mode = SERVE
        self.payload = os.urandom(1 << 20)
        open(self.path, "wb").close()
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        self.libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self.device},rootmode=100444,user_id=0,group_id=0,allow_other"
        if self.libc.mount(b"fusefile", self.path.encode(), b"fuse.fusefile",
                           ctypes.c_ulong(0), options.encode()):
            number = ctypes.get_errno()
            os.close(self.device)
            raise OSError(number, "mount of a FUSE file")
        self.server = os.fork()
        if self.server == 0:
            code = 1
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                self._serve()
                code = 0
            finally:
                os._exit(code)

    def _word(index):  # pylint: disable=no-self-argument
        def get(self):
            return struct.unpack_from("q", self.shared, index * 8)[0]

        def put(self, value):
            struct.pack_into("q", self.shared, index * 8, value)

        return property(get, put)

    mode = _word(0)
    count = _word(1)
    error = _word(2)
    delay_us = _word(3)
    del _word

    @property
    def reads(self):
        kept = min(self.count, LOG_ENTRIES)
        return [struct.unpack_from("qq", self.shared, 4096 + index * 16)
                for index in range(kept)]

    def _attributes(self):
        return struct.pack("=6Q10I", 1, self.size, self.size // 512, 0, 0, 0, 0, 0, 0, 0o100444,
                           1, 0, 0, 0, 4096, 0)

    def _serve(self):
        held = []
        os.set_blocking(self.device, False)
        while True:
            if held and self.mode != STALL:
                for unique, offset, size in held:
                    self._read(unique, offset, size)
                held = []
            try:
                message = os.read(self.device, 1 << 20)
            except BlockingIOError:
                time.sleep(0.0002)
                continue
            except OSError as problem:
                if problem.errno in (errno.EINTR, errno.ENOENT):
                    continue
                return  # ENODEV: unmounted
            _, opcode, unique = struct.unpack_from("=IIQ", message)
            body = message[40:]
            if opcode == READ:
                _, offset, size = struct.unpack_from("=QQI", body)
                if self.count < LOG_ENTRIES:
                    struct.pack_into("qq", self.shared, 4096 + self.count * 16, offset, size)
                self.count += 1
                if self.mode == STALL:
                    held.append((unique, offset, size))
                else:
                    self._read(unique, offset, size)
            elif opcode not in (FORGET, BATCH_FORGET, INTERRUPT):
                self._other(opcode, unique, body)

    def _other(self, opcode, unique, body):
        if opcode == INIT:
            major, minor, readahead, flags = struct.unpack_from("=4I", body)
            self._reply(unique, struct.pack(
                "=4IHHIIHHI7I", 7, min(minor, 31), readahead, flags & (ASYNC_READ | ASYNC_DIO),
                64, 48, 1 << 17, 1, 32, 0, 0, *[0] * 7))
        elif opcode == GETATTR:
            self._reply(unique, struct.pack("=QII", 3600, 0, 0) + self._attributes())
        elif opcode == OPEN:
            self._reply(unique, struct.pack("=QII", 1, FOPEN_DIRECT_IO, 0))
        elif opcode == STATFS:
            self._reply(unique, struct.pack("=5Q10I", 0, 0, 0, 0, 0, 4096, 255, 4096, *[0] * 7))
        elif opcode in (RELEASE, FLUSH, DESTROY):
            self._reply(unique, b"")
        else:
            self._fail(unique, errno.ENOSYS)

    def _read(self, unique, offset, size):
        if self.delay_us:
            time.sleep(self.delay_us / 1e6)
        if self.mode == FAIL:
            self._fail(unique, self.error)
            return
        size = max(0, min(size, self.size - offset))
        if self.mode == SHORT:
            size //= 2
        data = self.payload
        while len(data) < size:
            data += self.payload
        self._reply(unique, data[:size])

    def _reply(self, unique, data):
        with contextlib.suppress(OSError):  # ENOENT: the request was interrupted
            os.write(self.device, struct.pack("=IiQ", 16 + len(data), 0, unique) + data)

    def _fail(self, unique, number):
        with contextlib.suppress(OSError):
            os.write(self.device, struct.pack("=IiQ", 16, -number, unique))

    def abandon(self):
        """The server dies: every read that waits or comes gets ENOTCONN or ECONNABORTED."""
        with contextlib.suppress(OSError):
            os.kill(self.server, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self.server, 0)
        with contextlib.suppress(OSError):
            os.close(self.device)
        self.device = -1

    def close(self):
        self.mode = SERVE
        self.libc.umount2(self.path.encode(), MNT_DETACH)
        self.abandon()
        with contextlib.suppress(OSError):
            os.unlink(self.path)
