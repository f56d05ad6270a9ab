// These functions read the dynamic symbols of a loaded library.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <link.h>

namespace sluice {

/// The dynamic symbols of a loaded object.
class Symbols {
public:
    explicit Symbols(link_map const& object) : base_(object.l_addr) {
        for (auto const* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_SYMTAB) all_ = at<ElfW(Sym)>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRTAB) names_ = at<char>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_GNU_HASH) count_gnu(at<std::uint32_t>(entry->d_un.d_ptr));
            if (entry->d_tag == DT_HASH) count_ = at<std::uint32_t>(entry->d_un.d_ptr)[1];
        }
    }

    /// Calls `visit(name)` for each symbol that others have to define.
    template <class Visit> void for_each_wanted(Visit&& visit) const {
        if (!all_ || !names_) return;
        for (std::size_t i = 0; i < count_; ++i) {
            ElfW(Sym) const& symbol = all_[i];
            bool const needed = ELF64_ST_BIND(symbol.st_info) != STB_WEAK;
            if (needed && symbol.st_shndx == SHN_UNDEF) visit(names_ + symbol.st_name);
        }
    }

    /// Calls `visit(name, address)` for each function that the object defines.
    template <class Visit> void for_each_function(Visit&& visit) const {
        if (!all_ || !names_) return;
        for (std::size_t i = 0; i < count_; ++i) {
            ElfW(Sym) const& symbol = all_[i];
            bool const function = (symbol.st_info & 0xf) == STT_FUNC;
            if (!function || symbol.st_shndx == SHN_UNDEF) continue;
            visit(names_ + symbol.st_name, reinterpret_cast<void*>(base_ + symbol.st_value));
        }
    }

private:
    /// Some systems leave the addresses of a table as they are in the file.
    template <class Entry> Entry const* at(ElfW(Addr) address) const noexcept {
        return reinterpret_cast<Entry const*>(address < base_ ? base_ + address : address);
    }
    /// The table does not say how many there are: the last chain ends with the last symbol.
    void count_gnu(std::uint32_t const* table) noexcept {
        std::uint32_t const buckets = table[0], first = table[1], bloom_words = table[2];
        auto const* const bucket = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
        std::uint32_t last = 0;
        for (std::uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
        auto const* const chain = bucket + buckets;
        while (last >= first && (chain[last - first] & 1) == 0) ++last;
        count_ = std::max<std::size_t>(count_, last + 1);
    }

    ElfW(Addr) base_;
    ElfW(Sym) const* all_ = nullptr;
    char const* names_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace sluice
