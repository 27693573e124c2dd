#include "loadgen/clients/reference.h"

namespace loadgen {

void Reference::begin(std::string_view name) {
  copy_ = std::ifstream(folder_ + "/" + std::string(name), std::ios::binary);
  is_equal_ = copy_.is_open();
}

void Reference::compare(std::string_view bytes) {
  if (!is_equal_) return;
  bytes_.resize(bytes.size());
  copy_.read(bytes_.data(), static_cast<std::streamsize>(bytes.size()));
  is_equal_ = std::string_view(bytes_.data(), static_cast<std::size_t>(copy_.gcount())) == bytes;
}

bool Reference::is_whole_and_equal() {
  return is_equal_ && copy_.peek() == std::ifstream::traits_type::eof();
}

}  // namespace loadgen
