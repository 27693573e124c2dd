// What connections begin with: certificate, key and settings, as files have them. The files are
// read again when the process is told to.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"
#include "base/shared_memory.h"

struct ssl_ctx_st;

namespace tls {

// A process that forks children reads again for them too: each child then reads for itself, before
// its next connection. Threads: any.
class RenewedContext {
 public:
  // Reads the files, and says what is wrong with which of them.
  using Read = std::function<base::Result<std::shared_ptr<ssl_ctx_st>>()>;

  // Is told what connections that begin from now on have. A child that only follows its parent
  // logs nothing.
  enum class Logs { kNo, kYes };
  using Note = std::function<void(ssl_ctx_st* context, Logs logs)>;

  // Throws std::bad_alloc.
  explicit RenewedContext(
      Read read, Note note = [](ssl_ctx_st*, Logs) {})
      : read_(std::move(read)), note_(std::move(note)) {}

  // The first time; does nothing if that has succeeded. Requires: called before all else.
  base::Status open();

  // Connections that begin from now on have what the files say now. If that cannot be used, logs
  // why, and nothing changes. Requires: no two threads call it at once.
  base::Status read_again();

  // What a new connection begins with, and shares until it ends.
  std::shared_ptr<ssl_ctx_st> current() EXCLUDES(mutex_);

 private:
  base::Status replace(Logs logs) EXCLUDES(mutex_);
  std::atomic<std::uint32_t>& readings_of_all() const {
    return *static_cast<std::atomic<std::uint32_t>*>(shared_.address());
  }

  const Read read_;
  const Note note_;
  const base::SharedMemory shared_{sizeof(std::atomic<std::uint32_t>)};
  std::atomic<std::uint32_t> readings_ = 0;  // that this process has followed

  base::Mutex mutex_;
  std::shared_ptr<ssl_ctx_st> context_ GUARDED_BY(mutex_);  // connections share it until they end
};

}  // namespace tls
