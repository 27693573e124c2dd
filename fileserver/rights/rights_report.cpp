#include "fileserver/rights/rights_report.h"

#include <fmt/core.h>

#include "fileserver/rights/rights_table.h"

namespace fileserver {

std::string rights_report(const RightsFile& file, std::string_view user) {
  const RightsTable table(file);
  std::string text;
  if (user == "-") {
    for (const std::string& name : table.users()) text += name + "\n";
    return text;
  }
  const auto places = table.places({user, table.member(user)});
  if (places.empty() || !places.front().path.empty()) text += "none        /  (no line)\n";
  for (const auto& [path, decision] : places) {
    text += fmt::format("{:<10}  /{}  (line {})\n", word_of(decision.right), path, decision.line);
  }
  return text;
}

}  // namespace fileserver
