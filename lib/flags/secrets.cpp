#include "flags/secrets.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/text_lines.h"
#include "flags/alternatives.h"
#include "flags/values.h"

namespace flags {

void add_secret(App& app, const std::string& name, std::string& target, std::string& target_file) {
  Option* const told = app.add_option(
      name, target,
      "password; safer in the environment variable or in a file, because other users can see a "
      "command line");
  Option* const kept =
      add_path(app, name + "-file", target_file,
               "read the password from the first line of FILE; warns if others can read FILE");
  told->type_name("SECRET");
  make_alternatives({told, [&target] { target.clear(); }},
                    {kept, [&target_file] { target_file.clear(); }});
}

base::Result<std::string> read_secret_file(const std::string& flag, const std::string& path) {
  const auto refused = [&](const std::string& reason) {
    return base::Error{base::ErrorCode::kInvalid, flag + ": " + path + reason};
  };
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return refused(": " + std::generic_category().message(errno));
  std::ifstream file(path);
  std::string secret;
  if (!base::read_line(file, secret)) return refused(": cannot be read, or is empty");
  if (secret.ends_with('\r')) secret.pop_back();
  return secret;
}

namespace {

void hide(char* value) { ::memset(value, 'x', ::strlen(value)); }

void hide_variables(std::string_view prefix) {
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos || !variable.starts_with(prefix)) continue;
    if (variable.substr(0, equals).ends_with("PASSWORD")) hide(*entry + equals + 1);
  }
}

}  // namespace

bool is_secret(std::string_view name) { return name.ends_with("password"); }

bool is_secret_file(std::string_view name) { return name.ends_with("password-file"); }

void hide_secrets(int argc, char** argv, std::string_view prefix) {
  hide_variables(prefix);
  for (int i = 1; i < argc && argv[i] != nullptr; ++i) {
    const std::string_view argument(argv[i]);
    const std::size_t equals = argument.find('=');
    if (!argument.starts_with("--") || !is_secret(argument.substr(0, equals))) continue;
    char* const value = equals != std::string_view::npos ? argv[i] + equals + 1
                        : i + 1 < argc                   ? argv[i + 1]
                                                         : nullptr;
    if (value != nullptr) hide(value);
  }
}

}  // namespace flags
