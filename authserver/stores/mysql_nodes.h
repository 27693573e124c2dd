// What all connections of one authserver know of the servers in --mysql-host.
#pragma once

#include "authserver/stores/host_list.h"

namespace authserver {

struct MysqlNodes {
  PreferredAddress preferred;

  // Of a Galera cluster. Set once, at the start.
  bool are_galera = false;
};

}  // namespace authserver
