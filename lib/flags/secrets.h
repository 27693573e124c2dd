// Flags whose values are passwords.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "flags/option.h"

namespace flags {

// Declares a flag such as --mysql-password, and --mysql-password-file as its alternative. The
// values of both are never shown.
void add_secret(App& app, const std::string& name, std::string& target, std::string& target_file);

// Returns the first line of the file. The error is one line that begins with the flag, if the file
// cannot be read. parse() warns of one that every user of the machine can read.
base::Result<std::string> read_secret_file(const std::string& flag, const std::string& path);

// Whether the flag with this name takes a password.
bool is_secret(std::string_view name);

// Whether the value of the flag with this name is the path of a file with a password.
bool is_secret_file(std::string_view name);

// Overwrites the value of every --...password flag in `argv`, and of every variable that begins
// with `prefix` and ends with PASSWORD, so that neither the list of processes nor /proc/PID/environ
// shows it. Threads: only one may run, because this changes the environment in place.
void hide_secrets(int argc, char** argv, std::string_view prefix);

}  // namespace flags
