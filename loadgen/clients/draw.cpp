#include "loadgen/clients/draw.h"

namespace loadgen {

namespace {

// SplitMix64 (Steele, Lea and Flood 2014): a state of 64 bits goes through all its values. The
// distributions of the standard library are not used because each library may draw other numbers.
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

std::uint64_t after(std::uint64_t state, std::uint64_t number) {
  return mixed(state + (number + 1) * kStep);
}

}  // namespace

Draw::Draw(int seed, int stream, std::int64_t request, Drawn what)
    : state_(after(0, static_cast<std::uint64_t>(seed))) {
  state_ = after(state_, static_cast<std::uint64_t>(stream));
  state_ = after(state_, static_cast<std::uint64_t>(request));
  state_ = after(state_, static_cast<std::uint64_t>(what));
}

std::uint64_t Draw::bits() {
  state_ += kStep;
  return mixed(state_);
}

double Draw::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

// The first numbers of 64 bits that would make some remainders more likely are not taken.
std::int64_t Draw::from_one_to(std::int64_t count) {
  const auto size = static_cast<std::uint64_t>(count);
  const std::uint64_t refused = (0 - size) % size;
  std::uint64_t drawn = bits();
  while (drawn < refused) drawn = bits();
  return static_cast<std::int64_t>(drawn % size) + 1;
}

}  // namespace loadgen
