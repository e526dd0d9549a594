#include "prepared.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace poise_kinematics
{
Prepared::Prepared(const std::string & path) : path_(path)
{
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw std::runtime_error("poise's file '" + path + "' cannot be read");
  }
  const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
  memory_.reset(new char[pz_size(file.data(), file.size()) + 1]);
  const pz_status status = pz_load(file.data(), file.size(), memory_.get(), &solver_);
  if (status != PZ_OK) {
    throw std::runtime_error("'" + path + "': " + pz_message(status));
  }
}

std::int64_t Prepared::find(pz_what what, const std::string & name) const
{
  for (std::int64_t k = 0; k < count(what); ++k) {
    if (name == pz_name(solver_, what, k)) {
      return k;
    }
  }
  return -1;
}
}  // namespace poise_kinematics
