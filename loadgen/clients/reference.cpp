#include "loadgen/clients/reference.h"

#include <algorithm>
#include <array>

namespace loadgen {

void Reference::begin(std::string_view name) {
  copy_ = std::ifstream(folder_ + "/" + std::string(name), std::ios::binary);
  is_equal_ = copy_.is_open();
}

// A piece at a time, because thousands of users may each have a Reference.
void Reference::compare(std::string_view bytes) {
  std::array<char, 16 * 1024> piece;
  while (is_equal_ && !bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), piece.size());
    copy_.read(piece.data(), static_cast<std::streamsize>(size));
    const std::string_view read(piece.data(), static_cast<std::size_t>(copy_.gcount()));
    is_equal_ = read == bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
}

bool Reference::is_whole_and_equal() {
  return is_equal_ && copy_.peek() == std::ifstream::traits_type::eof();
}

}  // namespace loadgen
