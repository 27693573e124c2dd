// The bare cost of an upload that is on disk before its answer: no second hop, nothing checked.
//
//   durable_put FOLDER   keeps what is PUT, on HTTP connections that are kept
//
// The calls for the disk are those of our fileserver: the bytes go into a file without a name and
// are synced, the file gets its name, and the folder is synced. Each waiting thread syncs for
// itself, and the kernel takes to the disk together what several threads sync.
#include <fcntl.h>

#include "sockets.h"

namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLength = "Content-Length: ";

struct Upload {
  std::string name;
  std::string body;
};

// False if the client is gone. Requires: the client waits for each answer.
bool receive(int client, Upload& upload) {
  std::string text;
  char buffer[16 * 1024];
  std::size_t size = std::string::npos;
  while (size == std::string::npos || text.size() < size) {
    const ssize_t got = ::recv(client, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    text.append(buffer, static_cast<std::size_t>(got));
    const auto head = text.find(kHeadEnd);
    const auto length = text.find(kLength);
    if (head != std::string::npos && length < head)
      size = head + kHeadEnd.size() + std::strtoul(&text[length + kLength.size()], nullptr, 10);
  }
  const auto name = text.find('/') + 1;
  upload.name = text.substr(name, text.find(' ', name) - name);
  upload.body = text.substr(text.find(kHeadEnd) + kHeadEnd.size());
  return true;
}

void keep(int folder, const Upload& upload) {
  const int fd = ::openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
  const auto size = static_cast<ssize_t>(upload.body.size());
  if (fd < 0 || ::write(fd, upload.body.data(), upload.body.size()) != size || ::fdatasync(fd) != 0)
    peers::fail("write");
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (::linkat(AT_FDCWD, path.c_str(), folder, upload.name.c_str(), AT_SYMLINK_FOLLOW) != 0 ||
      ::fsync(folder) != 0)
    peers::fail("publish");
  ::close(fd);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: durable_put FOLDER\n", stderr);
    return 2;
  }
  peers::serve_forever(peers::listen_anywhere(), [=] {
    const int folder = ::open(words[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) peers::fail(words[1]);
    return [folder, upload = Upload()](int client) mutable {
      while (receive(client, upload)) {
        keep(folder, upload);
        if (!peers::send_all(client, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")) return;
      }
    };
  });
}
