#include "flags/alternatives.h"

#include <algorithm>
#include <iterator>

namespace flags {

void exclude_each_other(const std::vector<Option*>& options) {
  for (Option* const one : options) {
    std::copy_if(options.begin(), options.end(), std::back_inserter(one->excluded),
                 [one](const Option* other) { return other != one; });
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
