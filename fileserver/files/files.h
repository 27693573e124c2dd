// What clients may fetch. Two implementations: from disk, and from memory.
#pragma once

#include <string_view>

#include "base/result.h"
#include "serve/connection.h"

namespace fileserver {

class Files {
 public:
  virtual ~Files() = default;

  // Any thread. Sends "OK <size>" and exactly so many bytes of one version of the file, or cuts the
  // connection. An error (kNotFound, kInternal) means that nothing was sent. `name` may be anything
  // that a client can say.
  virtual base::Status send(std::string_view name, serve::Connection& connection) = 0;
};

}  // namespace fileserver
