// Guesses which name was meant by one that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flags {

// The name that is so close to `typed` that it was probably meant, or that begins with it. Empty if
// there is none.
std::string nearest(std::string_view typed, const std::vector<std::string>& names);

// How many letters must be inserted, removed, replaced, or swapped with the next one.
std::size_t edit_distance(std::string_view one, std::string_view other);

}  // namespace flags
