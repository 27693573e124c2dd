#include "flags/alternatives.h"

namespace flags {

void exclude_each_other(const std::vector<Option*>& options) {
  for (auto one = options.begin(); one != options.end(); ++one) {
    auto& excluded = (*one)->excluded;
    excluded.insert(excluded.end(), options.begin(), one);
  }
}

void make_alternatives(const Alternative& one, const Alternative& other) {
  exclude_each_other({one.option, other.option});
  forget_when_taken(one.option, other.forget);
  forget_when_taken(other.option, one.forget);
}

void forget_when_taken(Option* option, const std::function<void()>& forget) {
  option->before_take.push_back(forget);
}

}  // namespace flags
