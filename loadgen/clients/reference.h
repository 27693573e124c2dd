// Compares received files with local copies, for --verify.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace loadgen {

// Compares the files that one thread receives, one after the other.
//
// One thread.
class Reference {
 public:
  // `folder` holds the copies.
  explicit Reference(std::string folder) : folder_(std::move(folder)) {}

  // Starts with the copy of `name`. If there is no copy, the comparison will fail.
  void begin(std::string_view name);

  // Compares the next bytes of the received file.
  void compare(std::string_view bytes);

  // Whether all bytes were equal and the copy has no further ones. Requires: all bytes of the
  // received file were compared.
  bool is_whole_and_equal();

 private:
  const std::string folder_;
  std::ifstream copy_;
  bool is_equal_ = false;
};

}  // namespace loadgen
