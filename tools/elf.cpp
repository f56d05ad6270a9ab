// Reading of ELF files, 64 bits, this machine's byte order. See elf.hpp.
#include "tools/elf.hpp"

#include "tools/shell.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

namespace sluice {
namespace {

/// A file whose every read is checked: nothing in it is believed.
class Elf {
public:
    explicit Elf(std::string const& name) : file_(name, std::ios::binary) {
        file_.seekg(0, std::ios::end);
        if (auto const end = file_.tellg(); end > 0) size_ = static_cast<std::uint64_t>(end);
    }

    /// `count` records at an offset; empty if the file does not hold them.
    template <class Record> std::vector<Record> read(std::uint64_t offset, std::uint64_t count) {
        if (offset > size_ || count > (size_ - offset) / sizeof(Record)) return {};
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
        auto const h = header();
        bool const ours = h && h->e_phentsize == sizeof(Elf64_Phdr);
        return ours ? read<Elf64_Phdr>(h->e_phoff, h->e_phnum) : std::vector<Elf64_Phdr>{};
    }
    /// The section headers; empty as well if they were stripped.
    std::vector<Elf64_Shdr> sections() {
        auto const h = header();
        bool const ours = h && h->e_shentsize == sizeof(Elf64_Shdr);
        return ours ? read<Elf64_Shdr>(h->e_shoff, h->e_shnum) : std::vector<Elf64_Shdr>{};
    }

private:
    std::optional<Elf64_Ehdr> header() {
        auto const all = read<Elf64_Ehdr>(0, 1);
        if (all.empty()) return std::nullopt;
        Elf64_Ehdr const& h = all[0];
        bool const ours = std::memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 &&
                          h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_ident[EI_DATA] == ELFDATA2LSB;
        return ours ? std::optional(h) : std::nullopt;
    }

    std::ifstream file_;
    std::uint64_t size_ = 0;
};

using ProgramHeaders = std::vector<Elf64_Phdr>;

/// Where in the file lies what is loaded at `address`?
std::optional<std::uint64_t> place(ProgramHeaders const& segments, std::uint64_t address) {
    for (auto const& s : segments) {
        if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
            return s.p_offset + (address - s.p_vaddr);
    }
    return std::nullopt;
}

Elf64_Phdr const* segment_of(ProgramHeaders const& segments, std::uint32_t type) {
    auto const found = std::find_if(segments.begin(), segments.end(),
                                    [type](auto const& s) { return s.p_type == type; });
    return found == segments.end() ? nullptr : &*found;
}

/// What the dynamic loader reads; empty where it has nothing to do.
std::vector<Elf64_Dyn> dynamic_entries(Elf& elf, ProgramHeaders const& segments) {
    Elf64_Phdr const* const dynamic = segment_of(segments, PT_DYNAMIC);
    if (!dynamic) return {};
    return elf.read<Elf64_Dyn>(dynamic->p_offset, dynamic->p_filesz / sizeof(Elf64_Dyn));
}

bool has_entry(std::vector<Elf64_Dyn> const& entries, std::int64_t tag) {
    return std::any_of(entries.begin(), entries.end(),
                       [tag](auto const& e) { return e.d_tag == tag; });
}

bool has_function(Elf& elf, Elf64_Shdr const& symbols, Elf64_Shdr const& strings,
                  std::string const& name) {
    auto const text = elf.read<char>(strings.sh_offset, strings.sh_size);
    auto const all = elf.read<Elf64_Sym>(symbols.sh_offset, symbols.sh_size / sizeof(Elf64_Sym));
    auto const is_named = [&](std::size_t at) {
        return at < text.size() && text.size() - at > name.size() &&
               std::equal(name.begin(), name.end(), &text[at]) && text[at + name.size()] == '\0';
    };
    return std::any_of(all.begin(), all.end(), [&](Elf64_Sym const& symbol) {
        bool const function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
        return function && symbol.st_shndx != SHN_UNDEF && is_named(symbol.st_name);
    });
}

}  // namespace

bool is_linked_to(std::string const& file, std::string const& library) {
    Elf elf(file);
    auto const segments = elf.segments();
    auto const entries = dynamic_entries(elf, segments);
    auto const names = std::find_if(entries.begin(), entries.end(),
                                    [](auto const& e) { return e.d_tag == DT_STRTAB; });
    if (names == entries.end()) return false;
    auto const table = place(segments, names->d_un.d_ptr);
    return table && std::any_of(entries.begin(), entries.end(), [&](auto const& e) {
               return e.d_tag == DT_NEEDED && elf.text(*table + e.d_un.d_val).starts_with(library);
           });
}

bool is_static(std::string const& file) {
    Elf elf(file);
    auto const segments = elf.segments();
    // The dynamic loader needs no other, but it is a library, with a name of its own.
    return !segments.empty() && !segment_of(segments, PT_INTERP) &&
           !has_entry(dynamic_entries(elf, segments), DT_SONAME);
}

bool defines(std::string const& file, std::string const& function) {
    Elf elf(file);
    auto const sections = elf.sections();
    return std::any_of(sections.begin(), sections.end(), [&](Elf64_Shdr const& section) {
        bool const symbols = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
        return symbols && section.sh_link < sections.size() &&
               has_function(elf, section, sections[section.sh_link], function);
    });
}

std::vector<std::string> needed_libraries(std::string const& file) {
    Elf elf(file);
    auto const segments = elf.segments();
    Elf64_Phdr const* const interpreter = segment_of(segments, PT_INTERP);
    std::string const loader = interpreter ? elf.text(interpreter->p_offset) : "";
    if (loader.empty()) return {};
    std::string const command = "LD_PRELOAD= " + quoted_for_shell(loader) + " --list " +
                                quoted_for_shell(file) + " 2> /dev/null";
    // NOLINTNEXTLINE(bugprone-command-processor): a fixed command, the names are quoted
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const list(popen(command.c_str(), "r"), pclose);
    std::vector<std::string> lines;
    char line[8192];
    while (list && std::fgets(line, sizeof line, list.get())) lines.emplace_back(line);
    return lines;
}

}  // namespace sluice
