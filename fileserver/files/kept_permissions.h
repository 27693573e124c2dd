// What a file that is replaced leaves to the one that replaces it.
#pragma once

#include <string>

namespace fileserver {

// Gives the open file the mode, owner and group of the file that has the name `last` in the folder
// now, and its ACL and user attributes (xattr) where the file system has them. Only root may set
// another owner. It never gets the bits that let a program run as its owner or its group.
//
// What cannot be kept never gives anybody a right that he did not have:
// - Without the group, the group may do what everybody may do.
// - Without the owner, the server may not read the file if it could not read the old one.
// - Without the ACL, the group may do nothing.
//
// Returns false, with errno, if the mode cannot be set, and would have to be. Any thread.
// Requires: nobody else has the file open.
bool keep_permissions(int fd, int folder, const std::string& last);

}  // namespace fileserver
