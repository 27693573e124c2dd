// MOVE, COPY, and DELETE of folders (--uploads folder).
#pragma once

#include "fileserver/http/handler.h"

namespace fileserver {

void move_name(Exchange& exchange, Parts& parts);
void copy_name(Exchange& exchange, Parts& parts);

// DELETE of a name that ends with a slash: the folder goes with all that is in it.
void delete_folder(Exchange& exchange, Parts& parts);

}  // namespace fileserver
