"""What a server of MySQL sends to whoever logs in, for replacements of one."""

from typing import Any

# CLIENT_MYSQL, CONNECT_WITH_DB, LOCAL_FILES, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION,
# PLUGIN_AUTH
CAPABILITIES = (0x1 | 0x8 | 0x80 | 0x200 | 0x2000 | 0x8000 | 0x80000).to_bytes(4, "little")
STATUS = b"\2\0"  # autocommit
GREETING = b"".join(
    (
        b"\x0a5.5.5-10.11.0-MariaDB\0",
        b"\1\0\0\0",
        b"saltsalt\0",
        CAPABILITIES[:2],
        b"\x2d",
        STATUS,
        CAPABILITIES[2:],
        bytes([21]),
        bytes(10),
        b"saltsaltsalt\0",
        b"mysql_native_password\0",
    )
)
OK = b"\0\0\0" + STATUS + b"\0\0"


class Packets:
    """Each with its size and its place in the exchange in front."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._next = 0

    def send(self, payload: bytes) -> None:
        self._stream.write(len(payload).to_bytes(3, "little") + bytes([self._next]) + payload)
        self._stream.flush()
        self._next += 1

    def receive(self) -> bytes:
        header = self._stream.read(4)
        if len(header) < 4:
            raise EOFError
        self._next = header[3] + 1
        return self._stream.read(int.from_bytes(header[:3], "little"))
