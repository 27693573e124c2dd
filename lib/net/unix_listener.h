// The server's end of a Unix-domain socket, and its file.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "net/fd.h"

namespace net {

// The file of a Unix-domain socket that this process bound. The destructor removes it, unless the
// file is another one by now. A forked child removes nothing. If the process is killed, the file
// stays, and bind_unix() replaces it.
//
// Not synchronised.
class SocketFile {
 public:
  SocketFile() = default;

  // Requires: this process bound a socket to `path`, and the file is there.
  explicit SocketFile(std::string path);
  SocketFile(SocketFile&& other) noexcept { swap(other); }
  SocketFile& operator=(SocketFile&& other) noexcept {
    swap(other);
    return *this;
  }
  ~SocketFile();

 private:
  void swap(SocketFile& other) noexcept;

  std::string path_;  // empty: nothing to remove
  pid_t owner_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct UnixListener {
  Fd fd;
  SocketFile file;
};

// Binds a socket to `path` and listens on it. Only the owner of the process and its group may
// connect (mode 0660). A socket file on which nobody listens is replaced; anything else with this
// name stays, and is an error. Returns kInternal with `what` and the reason on failure.
//
// Connections wait in the queue until they are accepted. A socket that is only bound could not be
// told from one that a killed process left.
base::Result<UnixListener> bind_unix(const std::string& path, const std::string& what);

}  // namespace net
