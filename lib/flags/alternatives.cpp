#include "flags/alternatives.h"

namespace flags {

void make_alternatives(const Alternative& one, const Alternative& other) {
  one.option->excluded.push_back(other.option);
  forget_when_taken(one.option, other.forget);
  forget_when_taken(other.option, one.forget);
}

void forget_when_taken(Option* option, const std::function<void()>& forget) {
  option->before_take.push_back(forget);
}

}  // namespace flags
