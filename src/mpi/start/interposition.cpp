// The library's own symbols are compared with those that the program sees. See interposition.hpp.
#include "mpi/start/interposition.hpp"

#include "mpi/symbols.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <dlfcn.h>
#include <link.h>
#include <set>
#include <string_view>

namespace sluice {
namespace {

link_map* object_of(void* address) {
    Dl_info about{};
    void* object = nullptr;
    bool const known = dladdr1(address, &about, &object, RTLD_DL_LINKMAP) != 0;
    return known ? static_cast<link_map*>(object) : nullptr;
}

/// A program that is not position independent and takes a function's address has an entry of its
/// own for it, which calls the definition: it is not one.
bool is_definition(void* address) {
    Dl_info about{};
    void* symbol = nullptr;
    bool const known = dladdr1(address, &about, &symbol, RTLD_DL_SYMENT) != 0 && symbol;
    return !known || static_cast<ElfW(Sym) const*>(symbol)->st_shndx != SHN_UNDEF;
}

/// The first object behind the program and before `own` that defines `name`.
link_map* definer_between(char const* name, link_map* own) {
    link_map* first = own;
    while (first->l_prev) first = first->l_prev;
    for (link_map* object = first->l_next; object && object != own; object = object->l_next) {
        void* const handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
        void* const found = handle ? dlsym(handle, name) : nullptr;
        if (handle) dlclose(handle);
        if (found && object_of(found) == object) return object;
    }
    return nullptr;
}

/// The object whose definition the program's calls reach in place of this library's; null: none.
link_map* definer_before(char const* name, void* own_definition, link_map* own) {
    void* const found = dlsym(RTLD_DEFAULT, name);
    if (!found || found == own_definition) return nullptr;
    return is_definition(found) ? object_of(found) : definer_between(name, own);
}

/// mpi_wait_ of MPI_Wait.
std::string fortran_name(std::string_view name) {
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    return lower + "_";
}

/// Of a Fortran name that this library leaves to the MPI, since its definition there calls the C
/// function: one that comes before it need not. The MPI's own stands beside its PMPI_ name.
link_map* definer_before_mpi(std::string const& name, link_map* own) {
    void* const found = dlsym(RTLD_DEFAULT, name.c_str());
    link_map* const definer = found ? object_of(found) : nullptr;
    if (!definer || definer == own) return nullptr;
    void* const mpi = dlsym(RTLD_DEFAULT, ("p" + name).c_str());
    return mpi && object_of(mpi) == definer ? nullptr : definer;
}

/// Of C and of Fortran: MPI_File_open, mpi_file_open_.
bool is_among(std::string_view name, std::initializer_list<std::string_view> beginnings) {
    return std::ranges::any_of(beginnings, [name](std::string_view beginning) {
        return std::ranges::equal(name.substr(0, beginning.size()), beginning, {},
                                  [](unsigned char c) { return std::tolower(c); });
    });
}

/// Whether the library's work rests on seeing each call of it: those that say what a file is, those
/// that complete requests, the first and the last call. If collectives are served, on all.
bool is_needed(std::string_view name) {
    if (is_among(name, {"sluice_"})) return false;
    if (settings().collectives) return true;
    if (is_among(name, {"ompi_"})) name.remove_prefix(1);
    return is_among(name, {"mpi_file_", "mpi_init", "mpi_finalize", "mpi_session_", "mpi_wait",
                           "mpi_test", "mpi_request_", "mpi_start", "mpi_cancel"});
}

struct Missed {
    std::set<std::string> names, definers;

    /// `definer` may be null: nothing is missed then.
    void add(std::string const& name, link_map const* definer) {
        if (!definer) return;
        names.insert(name);
        definers.emplace(*definer->l_name ? definer->l_name : "the program itself");
    }
};

Missed look_for_missed() {
    Missed missed;
    link_map* const own = object_of(reinterpret_cast<void*>(&calls_arrive));
    if (!own || settings().chain) return missed;
    Symbols(*own).for_each_function([&](char const* name, void* definition) {
        if (!is_needed(name)) return;
        missed.add(name, definer_before(name, definition, own));
        if (*name != 'M') return;
        std::string const fortran = fortran_name(name);
        missed.add(fortran, definer_before_mpi(fortran, own));
    });
    return missed;
}

Missed const& missed() {
    static Missed const found = look_for_missed();
    return found;
}

std::string joined(std::set<std::string> const& words, std::size_t most) {
    std::string all;
    std::size_t count = 0;
    for (auto const& word : words) {
        if (count == most) break;
        all += (count++ == 0 ? "" : ", ") + word;
    }
    return words.size() > most ? all + " and " + std::to_string(words.size() - most) + " more"
                               : all;
}

/// No call need arrive where the MPI comes before this library, MPI_Init the least. So this is said
/// when the library is loaded, by the rank that the launcher calls the first one.
[[gnu::constructor]] void tell_if_behind_the_mpi() {
    bool const is_told = !is_silent_now() && launched().rank <= 0;
    if (!is_told || !served_now().enabled) return;
    link_map* const own = object_of(reinterpret_cast<void*>(&calls_arrive));
    void* const mpi = dlsym(RTLD_DEFAULT, "PMPI_Init");
    link_map const* const first = own ? definer_before("MPI_Init", nullptr, own) : nullptr;
    if (!first || first == own || !mpi || first != object_of(mpi)) return;
    std::fprintf(
        stderr,
        "sluice: the program was linked with %s before Sluice, so its calls pass Sluice by "
        "and the MPI serves everything. Link it with -lsluice before the MPI, or start it "
        "by sluice run\n",
        first->l_name);
}

}  // namespace

bool calls_arrive() { return missed().names.empty(); }

void tell_missed_calls(int rank_in_world) {
    static std::atomic<bool> told{false};
    bool const silent = settings().log == LogLevel::silent;
    if (calls_arrive() || rank_in_world != 0 || silent || told.exchange(true)) return;
    say(joined(missed().names, 4) + ": defined before Sluice by " + joined(missed().definers, 4) +
        ". Such calls may go on to their PMPI_ names and pass Sluice by, so the MPI serves "
        "everything. If they are handed on by dlsym(RTLD_NEXT), set SLUICE=chain");
}

}  // namespace sluice
