// Where a file is that a parameter names, as a path or as package://PACKAGE/PATH within what a package has installed.
#pragma once

#include <ament_index_cpp/get_package_share_directory.hpp>

#include <stdexcept>
#include <string>

namespace poise_kinematics
{
// Raises std::runtime_error for a package that is not there, and for package:// without one.
inline std::string place_of(const std::string & named)
{
  const std::string scheme = "package://";
  if (named.compare(0, scheme.size(), scheme) != 0) {
    return named;
  }
  const std::size_t end = named.find('/', scheme.size());
  if (end == std::string::npos || end == scheme.size()) {
    throw std::runtime_error("'" + named + "' is no file of a package: write package://PACKAGE/PATH");
  }
  const std::string package = named.substr(scheme.size(), end - scheme.size());
  try {
    return ament_index_cpp::get_package_share_directory(package) + named.substr(end);
  } catch (const std::exception &) {
    throw std::runtime_error("'" + named + "': no package '" + package + "' is installed, or its setup was not sourced");
  }
}
}  // namespace poise_kinematics
