// Names of files and folders below the served one, such as "a/b". The served folder itself is "".
#pragma once

#include <string>
#include <string_view>

namespace fileserver {

// "a" and "b" make "a/b". If one of both is empty, the other is the name.
inline std::string joined(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!folder.empty() && !name.empty()) path += '/';
  return path.append(name);
}

}  // namespace fileserver
