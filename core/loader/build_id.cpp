#include "loader/build_id.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace lockstep {
namespace {

struct Search {
  std::uintptr_t address;
  std::string build_id;
};

bool contains(const dl_phdr_info& object, std::uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz) return true;
  }
  return false;
}

std::string build_id_in_notes(const char* notes, std::size_t size) {
  const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof header);
    const std::size_t total = sizeof header + padded(header.n_namesz) + padded(header.n_descsz);
    if (total > size) break;
    const std::string_view name(notes + sizeof header, header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
      std::string hex;
      const auto* bytes = reinterpret_cast<const unsigned char*>(notes + sizeof header + padded(header.n_namesz));
      for (std::size_t i = 0; i < header.n_descsz; ++i) hex += fmt::format("{:02x}", bytes[i]);
      return hex;
    }
    notes += total;
    size -= total;
  }
  return {};
}

int visit(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!contains(*object, search.address)) return 0;
  for (int i = 0; i < object->dlpi_phnum && search.build_id.empty(); ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE) {
      search.build_id =
          build_id_in_notes(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
    }
  }
  return 1;
}

}  // namespace

std::string build_id_of(const void* address) {
  Search search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(&visit, &search);
  return search.build_id;
}

}  // namespace lockstep
