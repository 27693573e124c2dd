// The copy that a file from the server is compared with.
#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace loadgen {

// One thread.
class Reference {
 public:
  explicit Reference(std::string folder) : folder_(std::move(folder)) {}

  // From the first byte of `name`'s copy. A copy that is not there is unlike everything.
  void begin(std::string_view name);

  // The next bytes that came from the server.
  void compare(std::string_view bytes);

  // Whether all bytes were those of the copy, and there are no more in it.
  bool is_whole_and_equal();

 private:
  const std::string folder_;
  std::ifstream copy_;
  std::vector<char> bytes_;
  bool is_equal_ = false;
};

}  // namespace loadgen
