#pragma once

namespace flags {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace flags
