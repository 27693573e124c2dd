// Removes a folder with all that is in it.
#pragma once

#include <string>

#include "fileserver/files/upload_status.h"

namespace fileserver {

// Removes what has the name in the folder; if it is a folder, all below it too. Links are removed,
// not followed, and what is mounted below stays. It needs few descriptors, however deep the folder
// is, and, where a folder may be moved, time in proportion to what is removed. Returns false, with
// errno, if something is left: what it could remove is removed then, and what is left of a deep
// folder may lie near the top. `may_go_on` is asked between two folders; once it returns false,
// errno is ECANCELED.
bool remove_tree(int folder, const std::string& name, const MayGoOn& may_go_on);

// The same. What a file system keeps while somebody reads it is waited for, for 2.5 s.
bool remove_tree_patiently(int folder, const std::string& name, const MayGoOn& may_go_on);

}  // namespace fileserver
