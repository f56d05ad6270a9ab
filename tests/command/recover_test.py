#!/usr/bin/env python3
"""What `sluice recover` writes, what it leaves alone, and what it says: on journals that are made
up here, byte by byte."""
import contextlib
import fcntl
import os
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

SLUICE = os.environ["SLUICE"]
SECOND = 10**9
RECORDS = 4096 + 4096 * 8 + 3 * 4096
HEADER = "<QII64s40sqqqQqqq40s"
HEAD = "<QQq8xQQqqqqQQqII"
GET_GENERATION = 0x80087601  # ioctl(2), of file systems that have them


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def boot_id():
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def birth_of(path):
    """When a file was made, in nanoseconds, and its generation."""
    told = subprocess.run(["stat", "--format=%.9W", path], capture_output=True, text=True,
                          check=True).stdout
    seconds, _, fraction = told.strip().partition(".")
    generation = 0
    with open(path, "rb") as file, contextlib.suppress(OSError):
        generation, = struct.unpack("I", fcntl.ioctl(file, GET_GENERATION, bytes(8))[:4])
    return int(seconds) * SECOND + int(fraction or 0), generation


def record(number, path, offset, data, stamp=0, inode=None, device=None, torn=False, birth=None):
    """A contiguous write."""
    about = os.stat(path) if os.path.exists(path) else None
    name = str(path).encode()
    born, generation = birth or (birth_of(path) if about else (0, 0))

    def head(checksum):
        return struct.pack(HEAD, 0x32304A6563756C53, number, stamp or number,
                           about.st_dev if device is None else device,
                           about.st_ino if inode is None else inode, offset, 0, 0, len(data),
                           len(name), 0, born, generation, checksum)

    rest = name + bytes(-(struct.calcsize(HEAD) + len(name)) % 64) + data
    return head(crc32c(head(0) + rest) ^ torn) + rest


def journal(records, boot=None, host=None, void_below=0, active=None, created=None):
    now = time.time_ns()
    header = struct.pack(HEADER, 0x32306C6A63756C53, 4, 1, (host or socket.gethostname()).encode(),
                         (boot_id() if boot is None else boot).encode(), 3, 4711,
                         created or now, void_below,
                         active or now, 0, 0, b"")
    slots, body = b"", b""
    for one in records:
        slots += struct.pack("<Q", RECORDS + len(body))
        body += one + bytes(-len(one) % 64)
    front = header.ljust(4096, b"\0") + slots.ljust(RECORDS - 4096, b"\0")
    return (front + body).ljust(1 << 17, b"\0")


class Recover(unittest.TestCase):
    def setUp(self):
        own = tempfile.TemporaryDirectory(prefix="sluice_test_")
        self.addCleanup(own.cleanup)
        self.folder = Path(own.name)
        self.journals = self.folder / "journals"
        self.journals.mkdir()
        self.file = self.folder / "data"
        self.file.write_bytes(b"." * 20)

    def put(self, name, content):
        path = self.journals / f"{name}.sluice-journal"
        path.write_bytes(content)
        return path

    def recover(self, *options, code=0, before=()):
        result = subprocess.run([*before, SLUICE, "recover", *options, self.journals], text=True,
                                capture_output=True, check=False, timeout=60)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_writes_in_the_order_of_the_ranks_stamps(self):
        one = self.put("a", journal([record(1, self.file, 0, b"AAAA", 10),
                                     record(2, self.file, 2, b"BB", 30)]))
        self.put("b", journal([record(1, self.file, 2, b"CCCC", 20)]))
        self.assertIn("3 writes", self.recover())
        self.assertEqual(self.file.read_bytes(), b"AABBCC" + b"." * 14)
        self.assertFalse(one.exists())
        self.assertIn("nothing", self.recover())

    def test_what_is_void_or_torn_does_not_count(self):
        self.put("a", journal([record(4, self.file, 0, b"old"), record(5, self.file, 4, b"new"),
                               record(6, self.file, 8, b"torn", torn=True)], void_below=5))
        self.recover()
        self.assertEqual(self.file.read_bytes(), b"....new" + b"." * 13)
        self.assertEqual(os.listdir(self.journals), [])

    def test_dry_run_only_lists(self):
        path = self.put("a", journal([record(1, self.file, 0, b"AAAA")]))
        self.assertIn("1 writes", self.recover("--dry-run"))
        self.assertEqual(self.file.read_bytes(), b"." * 20)
        self.assertTrue(path.exists())

    def test_a_changed_file_is_left_alone_but_with_force(self):
        past = time.time_ns() - 60 * SECOND
        path = self.put("a", journal([record(1, self.file, 0, b"AAAA")], active=past))
        for _ in range(2):
            self.assertIn("was changed", self.recover(code=1))
            self.assertEqual(self.file.read_bytes(), b"." * 20)
        self.assertTrue(path.exists())
        self.recover("--force")
        self.assertEqual(self.file.read_bytes(), b"AAAA" + b"." * 16)

    def test_a_recovery_of_another_node_is_no_change_by_somebody_else(self):
        """Two nodes of a job. Between their recoveries a program changes one of the files, and a
        later job another one, whose writes are all recovered ones."""
        ended = time.time_ns()
        files = dict.fromkeys(("same", "changed", "later"))
        for name in files:
            files[name] = self.folder / name
            files[name].write_bytes(b"." * 8)

        def put(node, name, active, offset, data):
            self.journals = self.folder / f"{node}, {name}"
            self.journals.mkdir()
            self.put("a", journal([record(1, files[name], offset, data)], active=active))

        for name in files:
            put("node 1", name, ended, 4, b"BBBB")
        time.sleep(6)  # More than the ranks may have worked on since they last said so.
        for name in files:
            put("node 0", name, time.time_ns() if name == "later" else ended, 0, b"AAAA")
            self.recover()
        time.sleep(0.1)
        with files["changed"].open("r+b") as file:
            file.write(b"C")
        for name, code, data in (("same", 0, b"AAAABBBB"), ("changed", 1, b"CAAA...."),
                                 ("later", 1, b"AAAA....")):
            self.journals = self.folder / f"node 1, {name}"
            self.assertEqual("was changed" in self.recover(code=code), code == 1)
            self.assertEqual(files[name].read_bytes(), data)

    def test_a_file_that_was_last_changed_by_the_ranks_is_written(self):
        """They tell now and then that they are there."""
        past = time.time_ns() - 3 * SECOND
        self.put("a", journal([record(1, self.file, 0, b"AAAA")], active=past))
        self.recover()

    @unittest.skipIf(os.geteuid() != 0, "only root may tell a process another start of the system")
    def test_after_a_new_start_of_the_system_the_start_counts(self):
        start = time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        other = {"boot": "another", "active": start - 100 * SECOND}
        self.put("a", journal([record(1, self.file, 0, b"AAAA", device=1)], **other))
        self.assertIn("was changed", self.recover(code=1))
        time.sleep(1)  # A start is told in whole seconds.
        just_started = f"-{int(time.clock_gettime(time.CLOCK_BOOTTIME))}"
        self.recover(before=("unshare", "--time", "--boottime", just_started))
        self.assertEqual(self.file.read_bytes(), b"AAAA" + b"." * 16)

    def test_another_file_is_left_alone_always(self):
        self.put("a", journal([record(1, self.file, 0, b"AAAA", inode=1)]))
        self.assertIn("not the file", self.recover("--force", code=1))
        self.assertEqual(self.file.read_bytes(), b"." * 20)

    def test_a_later_file_with_the_same_number_is_left_alone_always(self):
        """As ext4 gives the number of a file that was removed to the next one."""
        born, generation = birth_of(self.file)
        for birth in ((born - 1, generation), (born + SECOND, 0)):
            self.put("a", journal([record(1, self.file, 0, b"OLD!", birth=birth)]))
            for options in ((), ("--force",), ("--force", "--into", self.file)):
                said = self.recover(*options, code=1)
                self.assertIn("not the file any more", said)
                self.assertEqual(self.file.read_bytes(), b"." * 20)

    def test_what_cannot_be_told_from_a_later_file_has_to_be_named(self):
        self.put("a", journal([record(1, self.file, 0, b"mine", birth=(0, 0))]))
        other = self.folder / "other"
        other.write_bytes(b"")
        for options in ((), ("--force",), ("--into", other)):
            self.assertIn(f"add --into {self.file}", self.recover(*options, code=1))
            self.assertEqual(self.file.read_bytes(), b"." * 20)
        self.recover("--into", self.file)
        self.assertEqual(self.file.read_bytes(), b"mine" + b"." * 16)

    def test_a_backup_that_was_put_back_with_its_times_has_changed(self):
        hour = 3600 * SECOND
        self.put("a", journal([record(1, self.file, 0, b"OLD!")], active=time.time_ns() - hour))
        backup = self.folder / "backup"
        backup.write_bytes(b"of yesterday")
        os.utime(backup, (time.time() - 86400,) * 2)
        subprocess.run(["cp", "-p", backup, self.file], check=True)
        self.assertIn("was changed at", self.recover(code=1))
        self.assertEqual(self.file.read_bytes(), b"of yesterday")

    def test_one_file_that_is_gone_does_not_keep_others(self):
        gone = self.folder / "gone"
        path = self.put("a", journal([record(1, gone, 0, b"AAAA", inode=1, device=1),
                                      record(2, self.file, 0, b"BBBB")]))
        self.assertIn("ENOENT", self.recover(code=1))
        self.assertEqual(self.file.read_bytes(), b"BBBB" + b"." * 16)
        self.assertTrue(path.exists())
        self.assertIn("0 writes", self.recover(code=1))

    def test_a_journal_keeps_what_a_refused_flush_may_have_lost(self):
        """The bytes may be in no memory any more: the next recovery has to write them again."""
        library = self.folder / "full.so"
        source = "#include <errno.h>\nint fdatasync(int fd) { return errno = ENOSPC, -(fd >= 0); }"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=source,
                       text=True, check=True)
        path = self.put("a", journal([record(1, self.file, 0, b"AAAA")]))
        beside_sanitizers = f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
        said = self.recover(code=1, before=("env", f"LD_PRELOAD={library}",
                                            f"ASAN_OPTIONS={beside_sanitizers}"))
        self.assertIn(f"4 bytes for {self.file}: fdatasync: No space left", said)
        self.assertTrue(path.exists())
        self.file.write_bytes(b"." * 20)
        self.assertIn("1 writes", self.recover())
        self.assertEqual(self.file.read_bytes(), b"AAAA" + b"." * 16)
        self.assertFalse(path.exists())

    def test_journals_of_others_are_left_alone(self):
        path = self.put("a", journal([record(1, self.file, 0, b"AAAA")]))
        with path.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assertIn("still runs", self.recover())
        path.unlink()
        for boot in ("other", ""):  # Nothing tells that it is of the same start of the system.
            self.put("b", journal([record(1, self.file, 0, b"AAAA")], host="elsewhere", boot=boot))
            self.assertIn("elsewhere", self.recover(code=1))
        self.assertEqual(self.file.read_bytes(), b"." * 20)

    def test_containers_of_this_host_are_no_others(self):
        self.put("a", journal([record(1, self.file, 0, b"AAAA")], host="container"))
        self.recover()
        self.assertEqual(self.file.read_bytes(), b"AAAA" + b"." * 16)

    def test_what_is_no_journal_is_left_alone(self):
        for number, content in enumerate((b"", b"text" * 20000, bytes(1 << 17))):
            self.put(f"a{number}", content)
        self.assertEqual(self.recover(code=1).count("no journal"), 3)
        self.assertEqual(len(os.listdir(self.journals)), 3)

    def test_a_journal_of_another_user_or_a_link_to_one_is_left_alone(self):
        theirs = self.put("theirs", journal([record(1, self.file, 0, b"theirs")]))
        linked = self.folder / "linked"
        linked.write_bytes(journal([record(1, self.file, 4, b"linked")]))
        (self.journals / "link.sluice-journal").symlink_to(linked)
        if os.geteuid() == 0:
            os.chown(theirs, 12345, 12345)
        else:
            theirs.unlink()
        self.assertIn("left alone", self.recover(code=1))
        self.assertEqual(self.file.read_bytes(), b"." * 20)

    def test_a_name_that_is_a_pipe_now_keeps_nobody_waiting(self):
        about = self.file.stat()
        self.put("a", journal([record(1, self.file, 0, b"x", inode=about.st_ino)]))
        self.file.unlink()
        os.mkfifo(self.file)
        self.assertIn("open: No such device or address", self.recover(code=1))

    def test_numbers_that_cannot_be_are_no_records(self):
        about = self.file.stat()
        name = str(self.file).encode()
        for runs, extent, position, size in (
                ([(8, 2**62, 2**62, 4)], 2**62, -1, 64), ([(0, 0, 0, 1)], 0, -1, 64),
                ([(-8, 1, -(2**63), 2)], 64, -1, 64), ([(0, 1, 2**40, 2**40)], -1, -1, 64),
                ([(0, 1, 2**40, 2**20)], 2**60, 2**60, 0)):
            body = struct.pack(HEAD, 0x32304A6563756C53, 1, 1, about.st_dev, about.st_ino, 8,
                               extent, position, size, len(name), len(runs), 0, 0, 0) + name
            body += b"".join(struct.pack("<qqqq", *run) for run in runs)
            body += bytes(-len(body) % 64) + b"x" * size
            checked = bytearray(body)
            at = struct.calcsize(HEAD) - 4
            checked[at:at + 4] = struct.pack("<I", crc32c(bytes(checked)))
            self.put("a", journal([bytes(checked)]))
            self.assertIn("nothing is left to write", self.recover())
            self.assertEqual(self.file.read_bytes(), b"." * 20)

    def test_waits_for_keepers_at_work(self):
        """A keeper holds a lock of the last byte but one of the table of marks."""
        path = Path(f"/dev/shm/sluice-marks-{os.geteuid()}")
        with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as table:
            lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 2**63 - 3, 1, 0)
            fcntl.fcntl(table, fcntl.F_OFD_SETLK, lock)
            with subprocess.Popen([SLUICE, "recover", "--wait"]) as waiting:
                with self.assertRaises(subprocess.TimeoutExpired):
                    waiting.wait(0.5)
                table.close()
                self.assertEqual(waiting.wait(30), 0)

    def test_usage(self):
        for words in ([], ["a", "b"], ["--fast", "a"]):
            result = subprocess.run([SLUICE, "recover", *words], capture_output=True, check=False)
            self.assertEqual(result.returncode, 2)
        result = subprocess.run([SLUICE, "recover", "--help"], capture_output=True, check=False)
        self.assertEqual(result.returncode, 0)


if __name__ == "__main__":
    unittest.main()
