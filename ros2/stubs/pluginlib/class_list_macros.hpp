// A stub of pluginlib for poise's tests: classes by name in one program, in place of libraries by description.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace pluginlib
{
template <typename Base>
std::map<std::string, std::function<std::shared_ptr<Base>()>> & classes()
{
  static std::map<std::string, std::function<std::shared_ptr<Base>()>> all;
  return all;
}

template <typename Derived, typename Base>
struct Listed
{
  explicit Listed(const char * name)
  {
    classes<Base>()[name] = [] { return std::make_shared<Derived>(); };
  }
};
}  // namespace pluginlib

#define PLUGINLIB_EXPORT_CLASS(Derived, Base) static const pluginlib::Listed<Derived, Base> listed_class(#Derived);
