// Reading of ELF files, 64 bits, this machine's byte order. See elf.hpp.
#include "tools/elf.hpp"

#include <algorithm>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace sluice {
namespace {

/// A file whose every read is checked: nothing in it is believed.
class Elf {
public:
    explicit Elf(std::string const& name) : file_(name, std::ios::binary) {}

    /// `count` records at an offset; empty if the file does not hold them.
    template <class Record> std::vector<Record> read(std::uint64_t offset, std::uint64_t count) {
        constexpr std::uint64_t most = 1U << 20;  // A table that is longer is damage.
        if (count > most || offset > std::uint64_t{1} << 62) return {};
        std::vector<Record> records(count);
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(offset));
        file_.read(reinterpret_cast<char*>(records.data()),
                   static_cast<std::streamsize>(count * sizeof(Record)));
        return file_ ? records : std::vector<Record>{};
    }
    /// The bytes up to the next zero.
    std::string text(std::uint64_t offset) {
        if (read<char>(offset, 1).empty()) return {};
        file_.seekg(static_cast<std::streamoff>(offset));
        std::string all;
        std::getline(file_, all, '\0');
        return all;
    }
    /// The program headers; empty if this is no ELF file of our kind.
    std::vector<Elf64_Phdr> segments() {
        auto const header = read<Elf64_Ehdr>(0, 1);
        if (header.empty()) return {};
        Elf64_Ehdr const& h = header[0];
        bool const ours = std::equal(ELFMAG, ELFMAG + SELFMAG, h.e_ident) &&
                          h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_ident[EI_DATA] == ELFDATA2LSB &&
                          h.e_phentsize == sizeof(Elf64_Phdr);
        return ours ? read<Elf64_Phdr>(h.e_phoff, h.e_phnum) : std::vector<Elf64_Phdr>{};
    }

private:
    std::ifstream file_;
};

/// Where in the file lies what is loaded at `address`?
std::optional<std::uint64_t> place(std::vector<Elf64_Phdr> const& segments, std::uint64_t address) {
    for (auto const& s : segments) {
        if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
            return s.p_offset + (address - s.p_vaddr);
    }
    return std::nullopt;
}

}  // namespace

bool is_linked_to(std::string const& file, std::string const& library) {
    Elf elf(file);
    auto const segments = elf.segments();
    auto const dynamic = std::find_if(segments.begin(), segments.end(),
                                      [](auto const& s) { return s.p_type == PT_DYNAMIC; });
    if (dynamic == segments.end()) return false;
    auto const entries =
        elf.read<Elf64_Dyn>(dynamic->p_offset, dynamic->p_filesz / sizeof(Elf64_Dyn));
    auto const names = std::find_if(entries.begin(), entries.end(),
                                    [](auto const& e) { return e.d_tag == DT_STRTAB; });
    if (names == entries.end()) return false;
    auto const table = place(segments, names->d_un.d_ptr);
    return table && std::any_of(entries.begin(), entries.end(), [&](auto const& e) {
               return e.d_tag == DT_NEEDED && elf.text(*table + e.d_un.d_val).starts_with(library);
           });
}

}  // namespace sluice
