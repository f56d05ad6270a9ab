// Where libfabric is looked for. See fabric_library.hpp.
#ifdef SLUICE_HAVE_LIBFABRIC

#include "transport/fabric_library.hpp"
#include "transport/fabric_offers.hpp"

#include <dlfcn.h>
#include <rdma/fi_errno.h>

namespace sluice {
namespace {

constexpr char const* soname = "libfabric.so.1";

/// A function of the MPI; null: the process finds it by name, if it has one.
void* function_of_mpi = nullptr;

/// The only one that is opened; empty: it is looked for.
std::string& wanted_file() {
    static std::string file;
    return file;
}

/// The folder of the MPI's library, with a slash; empty where the process has none.
std::string folder_of_mpi() {
    void* const function = function_of_mpi ? function_of_mpi : dlsym(RTLD_DEFAULT, "PMPI_Init");
    Dl_info found{};
    if (!function || dladdr(function, &found) == 0 || !found.dli_fname) return {};
    std::string const path = found.dli_fname;
    return path.substr(0, path.rfind('/') + 1);
}

template <class Function> bool look_up(void* library, char const* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

}  // namespace

bool FabricLibrary::load(char const* name, int flags) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL | flags);
    if (!library) return false;
    bool const complete =
        look_up(library, "fi_getinfo", get_info) && look_up(library, "fi_freeinfo", free_info) &&
        look_up(library, "fi_dupinfo", dup_info) && look_up(library, "fi_fabric", open_fabric) &&
        look_up(library, "fi_strerror", text_of) && look_up(library, "fi_version", version_of);
    Dl_info found{};
    if (complete && dladdr(reinterpret_cast<void*>(get_info), &found) != 0) path = found.dli_fname;
    return complete;
}

void look_for_fabric_beside(void* function) { function_of_mpi = function; }

void open_as_fabric(std::string const& file) { wanted_file() = file; }

/// In the process, beside its MPI, or on the system.
bool FabricLibrary::find() {
    if (load(soname, RTLD_NOLOAD)) return true;
    std::string const folder = folder_of_mpi();
    // Wheels of MPICH and Open MPI keep what they bring in a folder beside the MPI's library.
    for (char const* const brought : {"", "mpich/", "openmpi/"}) {
        if (!folder.empty() && load((folder + brought + soname).c_str(), 0)) return true;
    }
    return load(soname, 0);
}

FabricLibrary const* FabricLibrary::get(std::string& why) {
    std::string const& file = wanted_file();
    static FabricLibrary* const only = [&]() -> FabricLibrary* {
        auto library = std::make_unique<FabricLibrary>();
        bool const found = file.empty() ? library->find() : library->load(file.c_str(), 0);
        return found ? library.release() : nullptr;
    }();
    if (only) return only;
    why = file.empty()
              ? "there is no libfabric.so.1 in the process, beside its MPI, or on the system"
              : file + " is no libfabric";
    return nullptr;
}

}  // namespace sluice

#endif
