// Passwords that are kept while the server waits for the time to ask the authserver again.
#pragma once

#include <string>
#include <string_view>

namespace fileserver {

// The password, encrypted with a key that this process drew at random. So it is not readable in a
// core dump or in memory that was given back. Whoever can read all of the memory finds the key too.
std::string masked(std::string_view password);

// The password behind masked(), overwritten at the end.
class UnmaskedPassword {
 public:
  // Requires: masked() returned it, in this process.
  explicit UnmaskedPassword(std::string_view masked);
  ~UnmaskedPassword();
  UnmaskedPassword(const UnmaskedPassword&) = delete;
  UnmaskedPassword& operator=(const UnmaskedPassword&) = delete;

  std::string_view view() const { return text_; }

 private:
  std::string text_;
};

}  // namespace fileserver
