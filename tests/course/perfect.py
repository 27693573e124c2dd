#!/usr/bin/python3
"""A server that keeps the whole contract, with a thread for each connection. students.py changes
it in one place for each fault and each cheat.
"""

import os
import re
import signal
import socket
import stat
import sys
import threading

USER = re.compile(rb"[A-Za-z0-9._@+-]{1,64}")
UNAVAILABLE = b"ERR unavailable the authserver cannot be asked now\n"


def address_of(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


def ask(auth, question):
    try:
        with socket.create_connection(address_of(auth), timeout=5) as connection:
            connection.sendall(question + b"\n")
            reply = b""
            while not reply.endswith(b"\n"):
                chunk = connection.recv(600)
                if not chunk:
                    return UNAVAILABLE
                reply += chunk
            return reply
    except OSError:
        return UNAVAILABLE


def content_of(root, name):
    """None when there is no such file. Links that leave the folder are followed nowhere."""
    if any(part in (b"", b".", b"..") for part in name.split(b"/")):
        return None
    try:
        path = os.path.realpath(os.path.join(root, name))
        if not path.startswith(root + b"/") or not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):
        return None


def account_of(rest):
    is_spaced = rest.startswith(b" ")
    user, colon, password = rest[is_spaced:].partition(b":")
    if is_spaced and password.startswith(b" "):
        password = password[1:]
    return (user, password) if colon else None


class Session:
    def __init__(self, connection, flags):
        self.connection = connection
        self.flags = flags
        self.root = os.path.realpath(os.fsencode(flags["--root"]))
        self.is_granted = False

    def run(self):
        received = b""
        with self.connection:
            while True:
                line, end, rest = received.partition(b"\n")
                if end and len(line) < 512:
                    received = rest
                    self.connection.sendall(self.answer(line[: -line.endswith(b"\r") or None]))
                elif len(received) >= 512:
                    self.connection.sendall(b"ERR too-long at most 512 bytes\n")
                    return
                elif chunk := self.connection.recv(4096):
                    received += chunk
                else:
                    return

    def answer(self, line):
        verb = line[:4]
        if verb == b"get:":
            self.is_granted = False
        if not line or any(byte < 32 or byte == 127 for byte in line):
            return b"ERR syntax the line cannot be understood\n"
        if line == b"ping":
            reply = ask(self.flags["--auth"], b"ping")
            return reply if reply == b"OK\n" else UNAVAILABLE
        if verb not in (b"get:", b"new:"):
            return self.file(line)
        account = account_of(line[4:])
        if account is None:
            return b"ERR syntax a colon is missing\n"
        user, password = account
        if not USER.fullmatch(user) or not 0 < len(password) <= 128:
            return b"ERR invalid the user or the password is not acceptable\n"
        question = (b"auth:" if verb == b"get:" else b"new:") + user + b":" + password
        reply = ask(self.flags["--auth"], question)
        if verb == b"get:":
            self.is_granted = reply == b"OK\n"
        return reply

    def file(self, name):
        if not self.is_granted:
            return b"ERR denied no granted get: yet\n"
        content = content_of(self.root, name)
        if content is None:
            return b"ERR not-found no such file\n"
        return b"OK %d\n%b" % (len(content), content)


def serve(connection, flags):
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Session(connection, flags).run()
    except OSError:
        pass


def main():
    flags = {"--listen": "127.0.0.1:9000", "--auth": "127.0.0.1:9001", "--root": "files"}
    flags.update(zip(sys.argv[1::2], sys.argv[2::2]))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    with socket.create_server(address_of(flags["--listen"]), backlog=128) as listener:
        host, port = listener.getsockname()[:2]
        print(f"READY {host}:{port}", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, flags), daemon=True).start()


if __name__ == "__main__":
    main()
