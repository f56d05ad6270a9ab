// How profiles are found, read and handed to all ranks. See profile.hpp.
#include "mpi/communicator/profile.hpp"

#include "mpi/communicator/team.hpp"
#include "storage/profile_path.hpp"
#include "system/environment.hpp"
#include "system/log.hpp"

#include <mutex>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

/// The profiles that this process has read: texts by number - 1, and which path has which.
struct Profiles {
    std::mutex mutex;
    std::vector<std::string> texts;
    std::map<std::string, ProfileOffer> by_path;      ///< Of the profile's file.
    std::map<std::uint64_t, ProfileOffer> by_device;  ///< Of the files that the program opens.
};
Profiles& profiles() {
    static auto* const only = new Profiles;
    return *only;
}

/// Nothing, with a warning, where the file is no profile.
std::optional<std::string> understood_text(std::string const& path) {
    std::string error;
    auto text = text_of_file(path, error);
    if (text && machine_described(*text, error)) return text;
    if (text) error = path + ": " + error;
    warn("profile " + error + "; the library decides without a profile");
    return std::nullopt;
}

ProfileOffer number_of(std::vector<std::string>& texts, std::string text) {
    auto const bytes = static_cast<std::int32_t>(text.size());
    std::size_t place = 0;
    while (place < texts.size() && texts[place] != text) ++place;
    if (place == texts.size()) texts.push_back(std::move(text));
    return {static_cast<std::int32_t>(place) + 1, bytes};
}

ProfileOffer read_once(Profiles& all, std::string const& path) {
    auto const [found, fresh] = all.by_path.try_emplace(path);
    if (!fresh) return found->second;
    auto text = understood_text(path);
    if (!text) return {};
    note("profile " + path);
    return found->second = number_of(all.texts, std::move(*text));
}

/// Whether `sluice calibrate` has written any profile here. Asked once.
bool any_profiles() {
    static bool const any = [] {
        std::string const folder = profile_folder();
        return !folder.empty() && access(folder.c_str(), R_OK) == 0;
    }();
    return any;
}

/// Kept by the number of the file system, so that the table of mounts is read once for each.
ProfileOffer offer_by_place(Profiles& all, std::string const& path,
                            std::optional<std::uint64_t> device) {
    struct stat about{};
    if (!any_profiles()) return {};
    if (!device && stat(path.c_str(), &about) == 0) device = about.st_dev;
    if (!device) return {};
    auto const [found, fresh] = all.by_device.try_emplace(*device);
    if (!fresh) return found->second;
    std::string const place = profile_path(path);
    if (!place.empty() && access(place.c_str(), F_OK) == 0) found->second = read_once(all, place);
    return found->second;
}

/// Equal texts are one profile in all teams of this process.
std::shared_ptr<MachineProfile const> profile_of(std::string const& text) {
    static std::mutex mutex;
    static auto* const all = new std::map<std::string, std::shared_ptr<MachineProfile const>>;
    std::lock_guard const lock(mutex);
    auto const [found, fresh] = all->try_emplace(text);
    std::string error;
    auto const machine = fresh ? machine_described(text, error) : std::nullopt;
    if (machine && machine->is_measured())
        found->second = std::make_shared<MachineProfile const>(*machine);
    return found->second;
}

}  // namespace

ProfileOffer offer_profile(std::string const& path, std::optional<std::uint64_t> device) {
    std::string const& wanted = settings().profile;
    if (wanted == "none") return {};
    std::lock_guard const lock(profiles().mutex);
    if (wanted != "auto") return read_once(profiles(), wanted);
    bool const emulated = settings().device != "none";  // Then times are not the file system's.
    return emulated ? ProfileOffer{} : offer_by_place(profiles(), path, device);
}

std::shared_ptr<MachineProfile const> take_profile(ProfileOffer const& offer, Team& team) {
    if (offer.number == 0) return nullptr;
    auto const [known, fresh] = team.profiles.try_emplace(offer.number);
    if (!fresh) return known->second;
    std::string text(static_cast<std::size_t>(offer.bytes), ' ');
    if (team.self == 0) {
        std::lock_guard const lock(profiles().mutex);
        text = profiles().texts[static_cast<std::size_t>(offer.number) - 1];
    }
    PMPI_Bcast(text.data(), offer.bytes, MPI_CHAR, 0, team.communicator);
    return known->second = profile_of(text);
}

}  // namespace sluice
