#!/usr/bin/env python3
"""The file system of `sluice device` by ordinary calls: in memory and over a directory, with and
without page cache, with errors on order, and served to two mounts over TCP. Part of `make
test-device`; without FUSE it ends with exit code 77."""
import errno
import mmap
import os
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check
import stripes



class Files(check.Mounted):
    def descriptor(self, name, flags=os.O_RDWR | os.O_CREAT):
        fd = os.open(self.at / name, flags)
        self.addCleanup(os.close, fd)
        return fd


class Layouts(Files):
    """As Lustre's: a file that mknod has made has none until it is opened or asked for one."""
    options = ("--servers", 4)
    NAME = "lustre.lov"

    def made(self, name, *layout):
        path = self.at / name
        os.mknod(path, stat.S_IFREG | 0o644)
        if layout:
            os.setxattr(path, self.NAME, stripes.packed(*layout))
        return path

    def test_a_file_has_the_layout_that_was_asked_for(self):
        path = self.made("asked", 1 << 16, 3)
        self.assertEqual(stripes.layout_of(path), (1 << 16, 3))
        path.write_bytes(b"data")
        os.setxattr(path, self.NAME, stripes.packed(1 << 20, 2))  # Too late, and not refused.
        self.assertEqual(stripes.layout_of(path), (1 << 16, 3))

    def test_what_is_not_asked_for_is_the_default(self):
        self.assertEqual(stripes.layout_of(self.made("default", 0, 0)), (1 << 20, 1))
        self.assertEqual(stripes.layout_of(self.made("many", 0, 2000)), (1 << 20, 4))
        path = self.at / "opened"
        path.write_bytes(b"data")
        self.assertEqual(stripes.layout_of(path), (1 << 20, 1))

    def test_who_has_none(self):
        for path in (self.at, self.made("none")):
            with self.assertRaises(OSError) as raised:
                os.getxattr(path, self.NAME)
            self.assertEqual(raised.exception.errno, errno.ENODATA)

    def test_what_is_refused(self):
        path = self.made("refused")
        for name, value, error in ((self.NAME, b"short", errno.EINVAL),
                                   (self.NAME, stripes.packed(1000, 2), errno.EINVAL),
                                   (self.NAME, bytes(32), errno.EINVAL),
                                   ("user.other", b"value", errno.EOPNOTSUPP)):
            with self.assertRaises(OSError) as raised:
                os.setxattr(path, name, value)
            self.assertEqual(raised.exception.errno, error, name)


class InMemory(Files):
    cached = False

    def test_names(self):
        folder = self.at / "names"
        (folder / "deep").mkdir(parents=True)
        (folder / "a").write_text("hello")
        (folder / "a").rename(folder / "deep" / "b")
        (folder / "link").symlink_to("deep/b")
        os.link(folder / "deep" / "b", folder / "hard")
        self.assertEqual((folder / "link").read_text(), "hello")
        self.assertEqual((folder / "hard").stat().st_nlink, 2)
        self.assertEqual(sorted(os.listdir(folder)), ["deep", "hard", "link"])
        with self.assertRaises(OSError) as raised:
            os.rmdir(folder / "deep")
        self.assertEqual(raised.exception.errno, errno.ENOTEMPTY)
        (folder / "other").write_text("gone")
        os.replace(folder / "hard", folder / "other")
        self.assertEqual((folder / "other").read_text(), "hello")
        for name in ("link", "other", "deep/b"):
            (folder / name).unlink()
        (folder / "deep").rmdir()
        folder.rmdir()
        self.assertFalse(folder.exists())

    def test_many_names(self):
        folder = self.at / "many"
        folder.mkdir()
        for i in range(500):
            (folder / f"a name that is long enough for several replies {i}").touch()
        self.assertEqual(len(os.listdir(folder)), 500)

    def test_open_files_outlive_their_names(self):
        fd = self.descriptor("unlinked")
        os.write(fd, b"still there")
        os.unlink(self.at / "unlinked")
        self.assertEqual(os.pread(fd, 100, 0), b"still there")

    def test_ends_and_holes(self):
        fd = self.descriptor("holes")
        os.ftruncate(fd, 10 << 20)
        os.pwrite(fd, b"x" * 5000, 3 << 20)
        os.fsync(fd)
        self.assertEqual(os.fstat(fd).st_size, 10 << 20)
        self.assertLess(os.fstat(fd).st_blocks * 512, 2 << 20)
        self.assertEqual(os.pread(fd, 3, (3 << 20) - 1), b"\0xx")
        os.ftruncate(fd, (3 << 20) + 2)
        os.ftruncate(fd, (3 << 20) + 10)  # what was cut off reads as zero
        self.assertEqual(os.pread(fd, 100, 3 << 20), b"xx" + bytes(8))
        self.assertEqual(os.pread(fd, 100, 20 << 20), b"")
        os.truncate(self.at / "holes", 0)
        self.assertEqual(os.fstat(fd).st_size, 0)
        with open(self.at / "holes", "wb") as again:  # O_TRUNC
            again.write(b"new")
        self.assertEqual(os.pread(fd, 100, 0), b"new")

    def test_append(self):
        fd = self.descriptor("append", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for _ in range(3):
            os.write(fd, b"abc")
        self.assertEqual((self.at / "append").read_bytes(), b"abcabcabc")

    def test_large_unaligned(self):
        data = bytes(i * 7 % 251 for i in range(1 << 16)) * 50
        fd = self.descriptor("large")
        self.assertEqual(os.pwrite(fd, data, 12345), len(data))
        self.assertEqual(os.pread(fd, len(data), 12345), data)

    def test_direct(self):
        fd = self.descriptor("direct", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
        page = mmap.mmap(-1, 8192)
        page.write(b"y" * 8192)
        self.assertEqual(os.pwritev(fd, [page], 4096), 8192)
        back = mmap.mmap(-1, 8192)
        self.assertEqual(os.preadv(fd, [back], 4096), 8192)
        self.assertEqual(bytes(back), bytes(page))

    def test_attributes(self):
        path = self.at / "attributes"
        path.touch()
        path.chmod(0o640)
        os.utime(path, ns=(10**18, 10**18 + 5))
        self.assertEqual(path.stat().st_mode & 0o7777, 0o640)
        self.assertEqual(path.stat().st_mtime_ns, 10**18 + 5)
        space = os.statvfs(path)
        self.assertLess(0, space.f_bavail)
        self.assertLessEqual(space.f_bavail, space.f_blocks)

    def test_mapping(self):
        fd = self.descriptor("mapped")
        os.ftruncate(fd, 8192)
        if not self.cached:
            with self.assertRaises(OSError) as raised:
                mmap.mmap(fd, 8192)
            self.assertEqual(raised.exception.errno, errno.ENODEV)
            return
        with mmap.mmap(fd, 8192) as memory:
            memory[5000:5003] = b"abc"
            memory.flush()
        self.assertEqual(os.pread(fd, 5, 4999), b"\0abc\0")

    def test_programs_run_from_it(self):
        program = self.at / "true"
        program.write_bytes(Path("/bin/true").read_bytes())
        program.chmod(0o755)
        self.assertEqual(subprocess.run([program], check=False).returncode, 0)


class CachedInMemory(InMemory):
    options = ("--page-cache", "on")
    cached = True


class OverDirectory(InMemory):
    options = ("--over", "OVER")

    def test_files_are_the_directorys(self):
        (self.at / "kept").write_text("bytes")
        self.assertEqual((Path(self.folder.name) / "over" / "kept").read_text(), "bytes")


class CachedOverDirectory(OverDirectory):
    options = ("--over", "OVER", "--page-cache", "on")
    cached = True

    def test_files_are_the_directorys(self):
        fd = self.descriptor("kept")
        os.write(fd, b"bytes")
        os.fsync(fd)
        self.assertEqual((Path(self.folder.name) / "over" / "kept").read_text(), "bytes")


class Faults(Files):
    options = ("--faults", "write:ENOSPC:after=3:times=1,write:short:after=4:times=1,"
               "read:EIO:every=3,read:EINTR:after=1:times=1,fsync:EDQUOT,create:EROFS:after=1")

    def outcome(self, function, *words):
        try:
            return function(*words)
        except OSError as error:
            return errno.errorcode[error.errno]

    def test_they_hit_in_order(self):
        fd = self.descriptor("file")
        self.assertEqual([self.outcome(os.pwrite, fd, b"a" * 100, 0) for _ in range(6)],
                         [100, 100, 100, "ENOSPC", 50, 100])
        read = [self.outcome(lambda: len(os.pread(fd, 100, 0))) for _ in range(4)]
        # Python itself goes on after EINTR: the second read is two.
        self.assertEqual(read, ["EIO", 100, "EIO", 100])
        self.assertEqual(self.outcome(os.fsync, fd), "EDQUOT")
        self.assertEqual(self.outcome(os.mkdir, self.at / "folder"), "EROFS")


class Capacity(Files):
    options = ("--capacity", "4M")

    def test_a_full_device(self):
        fd = self.descriptor("full")
        with self.assertRaises(OSError) as raised:
            for i in range(8):
                os.pwrite(fd, bytes(1 << 20), i << 20)
        self.assertEqual(raised.exception.errno, errno.ENOSPC)
        os.ftruncate(fd, 0)
        self.assertEqual(os.pwrite(fd, bytes(1 << 20), 0), 1 << 20)


class Served(unittest.TestCase):
    def start(self, ready, *words):
        program = subprocess.Popen([check.command(), "device", *words], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.stderr.close)
        self.addCleanup(program.wait, 10)
        self.addCleanup(program.terminate)
        line = program.stdout.readline()
        self.assertTrue(line.startswith(ready), line or program.stderr.read())
        return program, line.split()[1].rstrip(":")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="emulated-secret-")
        self.addCleanup(folder.cleanup)
        self.secret = Path(folder.name, "secret")

    def serve(self):
        return self.start("serving", "--profile", "nvm", "--serve", "0", "--secret-file",
                          str(self.secret))

    def mount(self, address):
        folder = tempfile.TemporaryDirectory(prefix="emulated-served-")
        self.addCleanup(folder.cleanup)
        return self.start("mounted", "--connect", address, "--mount", folder.name, "--secret-file",
                          str(self.secret))

    def refused(self, address):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([check.command(), "device", "--connect", address, "--mount",
                                   folder, "--secret-file", str(self.secret)], text=True,
                                  capture_output=True, check=False, timeout=20)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_who_does_not_know_the_secret(self):
        server, address = self.serve()
        self.assertTrue(address.startswith("127.0.0.1:"), address)
        self.assertEqual(self.secret.stat().st_mode & 0o777, 0o600)
        self.secret.write_text("another one, which is as long as that\n")
        self.assertIn("its secret is another one", self.refused(address))
        self.secret.chmod(0o644)
        self.assertIn("chmod 600", self.refused(address))
        self.secret.unlink()
        self.assertIn("no secret", self.refused(address))
        server.terminate()
        server.wait(10)
        self.assertIn("does not know the secret", server.stderr.read())

    def test_two_mounts_see_the_same(self):
        server, address = self.serve()
        (_, one), (other_mount, other) = self.mount(address), self.mount(address)
        Path(one, "file").write_text("one")
        self.assertEqual(Path(other, "file").read_text(), "one")
        data = os.urandom(3 << 20)
        Path(other, "file").write_bytes(data)
        self.assertEqual(Path(one, "file").stat().st_size, len(data))
        self.assertEqual(Path(one, "file").read_bytes(), data)
        Path(one, "file").unlink()
        self.assertFalse(Path(other, "file").exists())
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(10), 0)
        self.assertEqual(other_mount.wait(10), 1)
        self.assertIn("ended", other_mount.stderr.read())
        self.assertFalse(os.path.ismount(other))

    def test_the_server_forgets_who_left(self):
        _, address = self.serve()
        client, folder = self.mount(address)
        Path(folder, "file").write_text("stays")
        open_file = Path(folder, "file").open()
        self.addCleanup(open_file.close)
        client.kill()
        client.wait()
        subprocess.run(["umount", "-l", folder], check=False, capture_output=True)
        _, again = self.mount(address)
        self.assertEqual(Path(again, "file").read_text(), "stays")

    def test_nobody_serves(self):
        self.secret.touch(0o600)
        self.secret.write_text("known to nobody else\n")
        self.assertIn("no connection to 127.0.0.1:9", self.refused("127.0.0.1:9"))


class Mounted(unittest.TestCase):
    def attempt(self, folder, *words):
        done = subprocess.run([check.command(), "device", "--profile", "nvm", *words, "--mount",
                               folder], text=True, capture_output=True, check=False, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"fusermount3 -u {folder}", done.stderr)
        return done.stderr

    def test_not_over_another_and_not_over_what_it_left(self):
        with tempfile.TemporaryDirectory(prefix="emulated twice ") as folder:
            first = subprocess.Popen([check.command(), "device", "--profile", "nvm", "--mount",
                                      folder], stdout=subprocess.PIPE, text=True)
            self.addCleanup(first.stdout.close)
            try:
                first.stdout.readline()
                Path(folder, "file").write_text("stays")
                self.assertIn("is a mount already", self.attempt(folder))
                self.assertIn("is a mount already", self.attempt(folder, "--connect", "9"))
                self.assertEqual(Path(folder, "file").read_text(), "stays")
                first.kill()
                first.wait()
                self.assertIn("has ended", self.attempt(folder))
            finally:
                first.kill()
                first.wait()
                subprocess.run(["umount", "-l", folder], check=False, capture_output=True)


class Words(unittest.TestCase):
    def refused(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([check.command(), "device", "--mount", folder, *words], text=True,
                                  capture_output=True, check=False, timeout=20)
        self.assertEqual(done.returncode, 2, done.stdout)
        return done.stderr

    def test_what_cannot_be(self):
        self.assertIn("which device", self.refused())
        self.assertIn("tape", self.refused("--profile", "tape"))
        self.assertIn("expected read", self.refused("--profile", "hdd", "--faults", "paint:EIO"))
        self.assertIn("nowhere", self.refused("--profile", "hdd", "--over", "/nowhere"))


if __name__ == "__main__":
    sys.exit(check.run_tests())
