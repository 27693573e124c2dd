// Passwords that a program is told.
#pragma once

#include <optional>
#include <string>

#include "flags/option.h"

namespace flags {

// `name`, such as --mysql-password, and `name`-file, which are alternatives. Neither's value is
// ever shown.
void add_secret(App& app, const std::string& name, std::string& target, std::string& target_file);

// Reads the first line of the file into `secret`, if a file is named. What is wrong in one line: it
// cannot be read, or everybody on the machine may read it.
std::optional<std::string> read_secret_file(const std::string& flag, const std::string& path,
                                            std::string& secret);

// Overwrites the value of every --...password among the arguments, so that the process list does
// not show it.
void hide_secrets(int argc, char** argv);

}  // namespace flags
