// The result of a function that can fail: its value, or the error.
#pragma once

#include <utility>
#include <variant>

#include "base/error.h"

namespace base {

// The compiler warns if a caller ignores a Result.
template <typename T>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor): `return value;` and `return error;` make a Result.
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires: ok().
  T& operator*() { return *std::get_if<0>(&held_); }
  const T& operator*() const { return *std::get_if<0>(&held_); }
  T* operator->() { return std::get_if<0>(&held_); }
  const T* operator->() const { return std::get_if<0>(&held_); }

  // Requires: !ok().
  Error& error() { return *std::get_if<1>(&held_); }
  const Error& error() const { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Error> held_;
};

// The result of a function that has no value to return. Success is `return base::kDone;`.
using Status = Result<std::monostate>;
inline constexpr std::monostate kDone{};

}  // namespace base
