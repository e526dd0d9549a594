// Finds packages as ament does: by a marker in one of the folders of AMENT_PREFIX_PATH.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ament_index_cpp
{
inline std::string get_package_share_directory(const std::string & package)
{
  const char * given = std::getenv("AMENT_PREFIX_PATH");
  std::istringstream prefixes(given ? given : "");
  for (std::string prefix; std::getline(prefixes, prefix, ':');) {
    if (std::ifstream(prefix + "/share/ament_index/resource_index/packages/" + package)) {
      return prefix + "/share/" + package;
    }
  }
  throw std::out_of_range("package '" + package + "' not found");
}
}  // namespace ament_index_cpp
