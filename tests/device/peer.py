"""A client of a served device that may say anything: the secret's proof, then messages of FUSE."""
import hashlib
import hmac
import os
import socket
import struct

SECRET = "a secret of the test alone"
ROOT = 1
(LOOKUP, FORGET, GETATTR, SETATTR, READLINK, SYMLINK) = range(1, 7)
(MKNOD, MKDIR, UNLINK, RMDIR, RENAME, LINK, OPEN, READ, WRITE, STATFS, RELEASE) = range(8, 19)
FSYNC, INIT, OPENDIR, READDIR, RELEASEDIR = 20, 26, 27, 28, 29
CREATE, INTERRUPT, BATCH_FORGET, RENAME2 = 35, 36, 42, 45


def name(*words):
    return b"".join(word.encode() + b"\0" for word in words)


class Ended(Exception):
    pass


class Peer:
    """A client that may say anything."""

    def __init__(self, place, hello=True):
        self.socket = socket.create_connection(place, timeout=15)
        self.unique = 0
        if hello:
            try:
                self.prove(SECRET)
            except Ended:
                self.close()
                raise
            self.ask(INIT, 0, struct.pack("<IIII", 7, 31, 1 << 20, 0))

    def exactly(self, count):
        data = b""
        while len(data) < count:
            try:
                more = self.socket.recv(count - len(data))
            except ConnectionResetError:
                more = b""
            if not more:
                raise Ended
            data += more
        return data

    def greeting(self):
        return self.exactly(40)[8:]

    def claim(self, secret, challenge):
        own = os.urandom(32)
        return own + hmac.new(secret.encode(), b"client" + challenge + own + b"0",
                              hashlib.sha256).digest()

    def prove(self, secret):
        challenge = self.greeting()
        claim = self.claim(secret, challenge)
        self.socket.sendall(claim)
        answer = self.exactly(36)
        status = struct.unpack("<I", answer[:4])[0]
        wanted = hmac.new(secret.encode(), b"server" + challenge + claim[:32] +
                          str(status).encode(), hashlib.sha256).digest()
        if answer[4:] != wanted:
            raise Ended("the server does not know the secret")
        if status:
            raise Ended("full")

    def message(self, opcode, inode, body):
        self.unique += 1
        return struct.pack("<IIQQIIII", 40 + len(body), opcode, self.unique, inode, os.getuid(),
                           os.getgid(), os.getpid(), 0) + body

    def ask(self, opcode, inode=ROOT, body=b""):
        """(number of the error, data)."""
        try:
            self.socket.sendall(self.message(opcode, inode, body))
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Ended from error
        length, error, _ = struct.unpack("<IiQ", self.exactly(16))
        return -error, self.exactly(length - 16)

    def look(self, file, parent=ROOT):
        error, data = self.ask(LOOKUP, parent, name(file))
        return error, struct.unpack("<Q", data[:8])[0] if not error else 0

    def open(self, inode, flags=os.O_RDWR):
        error, data = self.ask(OPEN, inode, struct.pack("<II", flags, 0))
        return error, struct.unpack("<Q", data[:8])[0] if not error else 0

    def read(self, inode, handle, count, offset=0):
        return self.ask(READ, inode, struct.pack("<QQIIQII", handle, offset, count, 0, 0, 0, 0))

    def write(self, inode, handle, data, offset=0, count=None):
        count = len(data) if count is None else count
        return self.ask(WRITE, inode, struct.pack("<QQIIQII", handle, offset, count, 0, 0, 0, 0) +
                        data)

    def create(self, file, parent=ROOT):
        return self.ask(CREATE, parent, struct.pack("<IIII", os.O_RDWR, 0o100644, 0, 0) +
                        name(file))

    def close(self):
        self.socket.close()
