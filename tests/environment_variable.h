// A variable that is set for one test.
#pragma once

#include <stdlib.h>

namespace tests {

class EnvironmentVariable {
 public:
  // `name` must outlive it.
  EnvironmentVariable(const char* name, const char* value) : name_(name) {
    ::setenv(name, value, 1);
  }
  ~EnvironmentVariable() { ::unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
};

}  // namespace tests
