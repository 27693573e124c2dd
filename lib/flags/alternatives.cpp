#include "flags/alternatives.h"

namespace flags {

void make_alternatives(const Alternative& one, const Alternative& other) {
  one.option->excludes(other.option);
  forget_when_taken(one.option, other.forget);
  forget_when_taken(other.option, one.forget);
}

void forget_when_taken(CLI::Option* option, const std::function<void()>& forget) {
  option->each([forget](const std::string&) { forget(); });
}

}  // namespace flags
