// What a fuzz target may rely on.
#pragma once

#include <cstdlib>
#include <string_view>

namespace fuzz {

// Ends the program, which the fuzzer reports with the input.
inline void require(bool condition) {
  if (!condition) std::abort();
}

// The input of LLVMFuzzerTestOneInput() as text, which it must outlive.
inline std::string_view text_of(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace fuzz
