// GET and HEAD of folders: listings, and the way to them.
#pragma once

#include "fileserver/http/handler.h"

namespace fileserver {

// Answers with the listing of the folder in exchange.path().
void get_folder(Exchange& exchange, Parts& parts);

// Whether the path is that of a folder with a listing, but for the slash at its end.
bool is_folder_without_slash(const Exchange& exchange, Parts& parts);

// Answers with the place of the folder.
void redirect_to_folder(Exchange& exchange);

}  // namespace fileserver
