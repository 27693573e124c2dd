#include "flags/arguments.h"

namespace flags {

std::optional<std::string> Argument::value() const {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {};
  return text.substr(equals + 1);
}

std::vector<Argument> read_arguments(const std::vector<std::string>& texts, const App& app,
                                     const App& common) {
  std::vector<Argument> arguments;
  bool is_value = false;
  bool is_rest = false;  // behind "--" there are no flags
  for (const std::string& text : texts) {
    Argument argument{text, is_value || is_rest};
    is_rest = is_rest || (!is_value && text == "--");
    if (argument.is_flag()) {
      const std::string name = argument.name() == "-h" ? "--help" : argument.name();
      argument.option = app.find(name);
      if (argument.option == nullptr) argument.option = common.find(name);
    }
    is_value = argument.option != nullptr && argument.option->take != nullptr &&
               !argument.value().has_value();
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace flags
