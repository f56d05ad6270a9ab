#!/usr/bin/env python3
"""What a hostile peer can do to `sluice device --serve --over DIR`: nothing outside of the folder,
nothing with what another connection opened, no memory without end, and the others are served on.
Speaks the protocol by itself, so that no FUSE is needed. Part of `make test-device`, and of the
tests of the build; without a device to test it ends with exit code 77."""
import errno
import os
import random
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import check
from peer import (BATCH_FORGET, FSYNC, GETATTR, INIT, INTERRUPT, LINK, LOOKUP, MKDIR, MKNOD, READ,
                  READDIR, RELEASE, RENAME, RENAME2, RMDIR, ROOT, SECRET, SETATTR, SYMLINK, UNLINK,
                  WRITE, Ended, Peer, name)

OUTSIDE = ("..", ".", "../outside", "../made", "/etc/passwd", "inner/../../outside", "inner/",
           "inner/file", "../../../../../../../../etc/passwd", "", "link/outside", "n" * 256,
           "n" * 5000)


class Hostile(unittest.TestCase):
    options = ("--over", "OVER")
    files_max = 4096

    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory(prefix="emulated-hostile-")
        cls.above = Path(cls.keep.name)
        cls.folder = cls.above / "folder"
        (cls.folder / "inner").mkdir(parents=True)
        (cls.above / "outside").write_text("nobody's business")
        (cls.folder / "file").write_text("inside")
        (cls.folder / "inner" / "file").write_text("deeper")
        (cls.folder / "link").symlink_to("../outside")
        (cls.folder / "above").symlink_to("..")
        os.mkfifo(cls.folder / "pipe")
        words = [word.replace("OVER", str(cls.folder)) for word in cls.options]
        limit = (cls.files_max, cls.files_max)
        cls.server = subprocess.Popen(
            [check.command(), "device", "--bandwidth", "4G", "--serve", "127.0.0.1:0", *words],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "SLUICE_DEVICE_SECRET": SECRET},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
        line = cls.server.stdout.readline()
        host, port = line.split()[1].rstrip(":").rsplit(":", 1)
        cls.place = (host, int(port))

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait(20)
        cls.server.stdout.close()
        cls.keep.cleanup()

    def setUp(self):
        self.before = self.everything_outside()
        self.witness = self.peer()

    def tearDown(self):
        """Whatever was done: nothing changed outside, and another connection is served."""
        self.assertEqual(self.everything_outside(), self.before)
        self.assertIsNone(self.server.poll(), "the server has ended")
        self.assertEqual(self.witness.ask(GETATTR, ROOT, bytes(16))[0], 0)
        self.assertEqual(self.peer().ask(GETATTR, ROOT, bytes(16))[0], 0)

    def everything_outside(self):
        return {path: path.read_text() if path.is_file() else ""
                for path in self.above.iterdir() if path != self.folder}

    def peer(self, hello=True):
        peer = Peer(self.place, hello)
        self.addCleanup(peer.close)
        return peer

    def memory(self, what="VmRSS"):
        """In MiB."""
        for line in Path(f"/proc/{self.server.pid}/status").read_text().splitlines():
            if line.startswith(what + ":"):
                return int(line.split()[1]) / 1024
        return 0


class Names(Hostile):
    def test_none_leads_out(self):
        peer = self.peer()
        (_, file), (_, inner) = peer.look("file"), peer.look("inner")
        two = struct.pack("<Q", ROOT)
        for word in OUTSIDE:
            for opcode, body in ((LOOKUP, name(word)), (UNLINK, name(word)), (RMDIR, name(word)),
                                 (MKDIR, bytes(8) + name(word)),
                                 (MKNOD, struct.pack("<IIII", 0o100644, 0, 0, 0) + name(word)),
                                 (SYMLINK, name(word, "/etc/passwd")),
                                 (LINK, struct.pack("<Q", file) + name(word)),
                                 (RENAME, two + name("file", word)),
                                 (RENAME, two + name(word, "taken")),
                                 (RENAME2, two + bytes(8) + name("file", word))):
                for parent in (ROOT, inner):
                    error, _ = peer.ask(opcode, parent, body)
                    self.assertIn(error, (errno.EINVAL, errno.ENAMETOOLONG), (opcode, word))
            self.assertIn(peer.create(word)[0], (errno.EINVAL, errno.ENAMETOOLONG), word)
        self.assertEqual((self.folder / "file").read_text(), "inside")

    def test_links_and_pipes_are_not_followed(self):
        peer = self.peer()
        for word in ("link", "above", "pipe"):
            error, inode = peer.look(word)
            self.assertEqual(error, 0)
            self.assertNotEqual(peer.open(inode)[0], 0)
            self.assertNotEqual(peer.look("outside", inode)[0], 0)
            self.assertNotEqual(peer.create("made", inode)[0], 0)

    def test_no_program_of_another_user(self):
        peer = self.peer()
        peer.ask(MKNOD, ROOT, struct.pack("<IIII", 0o106755, 0, 0, 0) + name("program"))
        (_, inode) = peer.look("program")
        mode_too = struct.pack("<IIQQQQQQIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0o106755, 0, 0,
                               0, 0)
        self.assertEqual(peer.ask(SETATTR, inode, mode_too)[0], 0)
        self.assertEqual((self.folder / "program").stat().st_mode & 0o6000, 0)
        self.assertNotEqual(
            peer.ask(MKNOD, ROOT, struct.pack("<IIII", 0o020666, 0x103, 0, 0) + name("null"))[0], 0)


class Handles(Hostile):
    def test_those_of_others_are_refused(self):
        one, other = self.peer(), self.peer()
        _, inode = one.look("file")
        _, handle = one.open(inode)
        self.assertEqual(one.read(inode, handle, 6), (0, b"inside"))
        self.assertNotEqual(other.read(inode, handle, 6)[0], 0)
        other.look("file")
        self.assertNotEqual(other.read(inode, handle, 6)[0], 0)
        self.assertNotEqual(other.write(inode, handle, b"xx")[0], 0)
        self.assertNotEqual(other.ask(FSYNC, inode, struct.pack("<QII", handle, 0, 0))[0], 0)
        other.ask(RELEASE, inode, struct.pack("<QIIQ", handle, 0, 0, 0))
        self.assertEqual(one.read(inode, handle, 6), (0, b"inside"))
        for number in range(256):  # descriptors of the server
            self.assertNotEqual(other.read(inode, number, 6)[0], 0)
            self.assertNotEqual(other.write(inode, number, b"xx")[0], 0)

    def test_inodes_have_to_be_looked_up(self):
        one, other = self.peer(), self.peer()
        _, inner = one.look("inner")
        self.assertEqual(other.look("file", inner)[0], errno.ESTALE)
        self.assertEqual(other.open(10 ** 9)[0], errno.ESTALE)

    def test_nobody_takes_all(self):
        peer, other = self.peer(), self.peer()
        _, inode = peer.look("file")
        for opened in range(self.files_max):
            if error := peer.open(inode)[0]:
                break
        self.assertEqual(error, errno.EMFILE)
        self.assertLess(opened, self.files_max / 16)
        self.assertEqual(other.open(other.look("file")[1])[0], 0)


class Sizes(Hostile):
    def test_memory_is_bounded(self):
        with open(self.folder / "large", "wb") as file:
            file.truncate(8 << 30)
        peer = self.peer()
        _, inode = peer.look("large")
        _, handle = peer.open(inode)
        before = self.memory("VmHWM")
        self.assertEqual(peer.read(inode, handle, 1 << 30)[0], errno.EINVAL)
        self.assertEqual(peer.ask(READDIR, ROOT, struct.pack("<QQIIQII", 0, 0, 1 << 30, 0, 0, 0,
                                                             0))[0], errno.EINVAL)
        self.assertEqual(len(peer.read(inode, handle, 1 << 20)[1]), 1 << 20)
        self.assertLess(self.memory("VmHWM") - before, 64)

    def test_far_ends(self):
        peer = self.peer()
        peer.create("far")
        _, inode = peer.look("far")
        _, handle = peer.open(inode)
        for offset in (1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
            error, _ = peer.write(inode, handle, b"x" * 4096, offset)
            self.assertTrue(error or offset == 1 << 62, offset)
            peer.read(inode, handle, 4096, offset)
            peer.ask(SETATTR, inode, struct.pack("<IIQQ", 8, 0, 0, offset) + bytes(64))
        # 16 TiB may be beyond what the folder's file system has, but costs no memory.
        peer.write(inode, handle, b"x" * 4096, 1 << 44)

    def test_interrupts_are_not_kept(self):
        peer, before = self.peer(), self.memory()
        peer.ask(INTERRUPT, 0, struct.pack("<Q", 1 << 40))
        for _ in range(100):
            body = struct.pack("<Q", 1 << 40)
            peer.socket.sendall(b"".join(peer.message(INTERRUPT, 0, body) for _ in range(1000)))
            for _ in range(1000):
                peer.exactly(16)
        self.assertLess(self.memory() - before, 8)


class InMemory(Sizes):
    options = ("--capacity", "64M")

    def test_memory_is_bounded(self):
        peer, before = self.peer(), self.memory()
        for number in range(100_000):
            if error := peer.ask(MKDIR, ROOT, struct.pack("<II", 0o755, 0) + name(f"{number}"))[0]:
                break
        self.assertEqual(error, errno.ENOSPC)
        self.assertLess(self.memory() - before, 64)
        for made in range(number):
            peer.ask(RMDIR, ROOT, name(f"{made}"))

    def test_trees_stay_trees(self):
        peer = self.peer()
        self.assertEqual(peer.create("plain")[0], 0)
        for word in ("one", "two"):
            made = peer.ask(MKDIR, ROOT, struct.pack("<II", 0o755, 0) + name(word))
            self.assertEqual(made[0], 0)
        (_, plain), (_, one) = peer.look("plain"), peer.look("one")
        self.assertEqual(peer.create("below", plain)[0], errno.ENOTDIR)
        self.assertEqual(peer.ask(RENAME, ROOT, struct.pack("<Q", one) + name("one", "in"))[0],
                         errno.EINVAL)
        self.assertEqual(peer.ask(LINK, ROOT, struct.pack("<Q", one) + name("again"))[0],
                         errno.EPERM)
        peer.ask(RMDIR, ROOT, name("one"))
        self.assertEqual(peer.create("below", one)[0], errno.ENOENT)


class Messages(Hostile):
    def refused(self, *parts):
        peer = self.peer()
        peer.socket.sendall(b"".join(parts))
        peer.socket.shutdown(socket.SHUT_WR)
        with self.assertRaises(Ended):
            while True:
                peer.exactly(16)

    def test_lengths_that_lie(self):
        peer = self.peer()
        read = struct.pack("<QQIIQII", 0, 0, 1 << 20, 0, 0, 0, 0)
        self.refused(struct.pack("<I", 0xffffffff), bytes(100))
        self.refused(struct.pack("<I", 3), bytes(100))
        self.refused(peer.message(LOOKUP, ROOT, b"no end"))
        self.refused(peer.message(LOOKUP, ROOT, b"two\0names\0"))
        self.refused(peer.message(RENAME, ROOT, struct.pack("<Q", ROOT) + b"one\0"))
        self.refused(peer.message(WRITE, ROOT, read + b"short"))
        self.refused(peer.message(READ, ROOT, read[:20]))
        self.refused(peer.message(BATCH_FORGET, 0, struct.pack("<II", 1 << 30, 0)))
        self.refused(peer.message(INIT, 0, struct.pack("<IIII", 7, 31, 1 << 20, 0)))

    def test_garbage(self):
        dice = random.Random(7)
        memory = self.memory()
        for _ in range(200):
            peer = self.peer()
            words = [peer.message(dice.randrange(60), dice.choice([0, 1, 2, dice.getrandbits(64)]),
                                  dice.randbytes(dice.randrange(120))) for _ in range(20)]
            blob = bytearray(b"".join(words))
            for _ in range(dice.randrange(4)):
                blob[dice.randrange(len(blob))] = dice.randrange(256)
            try:
                peer.socket.sendall(blob[:dice.randrange(len(blob))])
            except OSError:
                pass
            peer.close()
        self.assertLess(self.memory() - memory, 256)

    def test_half_a_message(self):
        peer = self.peer()
        peer.socket.sendall(peer.message(LOOKUP, ROOT, name("file"))[:20])
        time.sleep(0.2)  # The witness is served meanwhile: see tearDown.


class Strangers(Hostile):
    def test_proofs(self):
        peer = self.peer(hello=False)
        with self.assertRaises(Ended):
            peer.prove("another secret, as long as it is")
        heard = self.peer(hello=False)
        challenge = heard.greeting()
        claim = heard.claim(SECRET, challenge)
        again = self.peer(hello=False)
        again.greeting()
        again.socket.sendall(claim)  # proves something to the other connection only
        with self.assertRaises(Ended):
            again.exactly(36)
        unasked = self.peer(hello=False)
        unasked.greeting()
        unasked.socket.sendall(unasked.message(INIT, 0, struct.pack("<IIII", 7, 31, 0, 0)) * 2)
        with self.assertRaises(Ended):
            unasked.exactly(16)

    def test_who_says_nothing_is_let_go(self):
        silent = [self.peer(hello=False) for _ in range(100)]
        self.assertEqual(self.peer().ask(GETATTR, ROOT, bytes(16))[0], 0)
        for peer in silent:
            with self.assertRaises(Ended):  # The socket's own limit is longer.
                peer.greeting()
                peer.exactly(1)
        tasks = len(os.listdir(f"/proc/{self.server.pid}/task"))
        self.assertLess(tasks, 40)

    def test_so_many_and_no_more(self):
        several = []
        with self.assertRaises(Ended) as raised:
            for _ in range(100):
                several.append(self.peer())
        self.assertEqual(str(raised.exception), "full")
        self.assertLess(len(several), 40)
        for peer in several:
            peer.close()
        time.sleep(2.5)  # until their threads have ended


def main():
    try:
        check.command()
    except check.Skip as why:
        print(f"skipped: {why}")
        return check.SKIPPED
    return 0 if unittest.main(exit=False, verbosity=1).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
