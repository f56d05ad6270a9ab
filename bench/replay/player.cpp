// The calls of a log, one after the other. See player.hpp; files and checks are in files.cpp.
#include "bench/replay/player.hpp"

#include "bench/measure/end_job.hpp"
#include "system/clock.hpp"

#include <algorithm>
#include <ctime>

namespace sluice::replay {
namespace {

constexpr double nanosecond = 1e-9;

double now() { return SteadyClock().now(); }

int mode_of(std::string const& words) {
    constexpr std::pair<std::string_view, int> known[] = {
        {"create", MPI_MODE_CREATE},
        {"rdonly", MPI_MODE_RDONLY},
        {"wronly", MPI_MODE_WRONLY},
        {"rdwr", MPI_MODE_RDWR},
        {"delete_on_close", MPI_MODE_DELETE_ON_CLOSE},
        {"unique_open", MPI_MODE_UNIQUE_OPEN},
        {"excl", MPI_MODE_EXCL},
        {"append", MPI_MODE_APPEND},
        {"sequential", MPI_MODE_SEQUENTIAL}};
    int mode = 0;
    for (auto const& [word, bit] : known)
        if (("+" + words + "+").find("+" + std::string(word) + "+") != std::string::npos)
            mode |= bit;
    return mode;
}

int whence_of(std::string_view word) {
    return word == "set" ? MPI_SEEK_SET : word == "cur" ? MPI_SEEK_CUR : MPI_SEEK_END;
}

void add_hints(MPI_Info info, std::string const& hints) {
    for (std::size_t begin = 0; begin < hints.size();) {
        auto const end = std::min(hints.find(';', begin), hints.size());
        auto const one = hints.substr(begin, end - begin);
        auto const equals = one.find('=');
        if (equals != std::string::npos)
            MPI_Info_set(info, one.substr(0, equals).c_str(), one.substr(equals + 1).c_str());
        begin = end + 1;
    }
}

}  // namespace

Player::Player(Options const& options, record::RankLog const& log, int pass)
    : options_(options),
      log_(log),
      pass_(pass),
      types_(log),
      datatypes_(types_) {
    for (auto const& entry : log.entries)
        if (entry.name == "group") groups_[entry.subject] = entry.list("ranks");
}

void Player::note_error(record::Entry const& entry, int code) {
    if (code == MPI_SUCCESS) return;
    ++outcome_.errors;
    if (!outcome_.first_error.empty()) return;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    outcome_.first_error = std::string(entry.name) + ": " + text;
}

void Player::pass_computation(double until) {
    if (options_.compute == Compute::none) return;
    if (options_.compute == Compute::sleep) {
        double const left = until - now();
        timespec const time = timespec_of(std::max(left, 0.0));
        if (left > 0) nanosleep(&time, nullptr);
        return;
    }
    while (now() < until) {
    }
}

/// As long after the previous call as in the log.
double Player::due(record::Entry const& entry) const {
    double const gap = static_cast<double>(entry.begin - recorded_end_) * nanosecond;
    return previous_end_ + std::max(gap, 0.0);
}

/// Making bytes for the call was within that time.
void Player::wait_until_due(record::Entry const& entry) {
    if (options_.compute != Compute::none) outcome_.late += std::max(now() - due(entry), 0.0);
    pass_computation(due(entry));
}

/// Tests that were in vain gave the MPI time: questions do, which complete nothing too early.
void Player::poll_until_due(record::Entry const& entry, std::vector<MPI_Request> const& requests) {
    std::int64_t const tests = entry.number("tests", 0);
    double const until = due(entry);
    for (std::int64_t i = 0; i < tests && now() < until; ++i) {
        pass_computation(now() + (until - now()) / static_cast<double>(tests - i));
        for (MPI_Request const request : requests) {
            int flag = 0;
            MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        }
    }
}

template <class Call> void Player::timed(record::Entry const& entry, Call&& call) {
    wait_until_due(entry);
    double const began = now();
    note_error(entry, call());
    double const end = now();
    double const recorded = static_cast<double>(entry.took) * nanosecond;
    for (Times* const times : {&outcome_.calls[std::string(entry.name)], &outcome_.blocked}) {
        ++times->calls;
        times->replayed += end - began;
        times->recorded += recorded;
    }
    previous_end_ = end;
    recorded_end_ = entry.begin + entry.took;
}

void Player::play() {
    began_ = previous_end_ = now();
    recorded_end_ = 0;
    for (auto const& entry : log_.entries)
        if (entry.is_call()) play_entry(entry);
    outcome_.seconds = previous_end_ - began_;
    outcome_.recorded = static_cast<double>(recorded_end_) * nanosecond;
    for (auto& pending : freed_) end(*pending);
}

void Player::play_entry(record::Entry const& entry) {
    if (Function const* const function = function_named(entry.name))
        return access(entry, *function);
    if (entry.name == "open") return open(entry);
    if (entry.name == "set_view") return set_view(entry);
    if (entry.name == "finish") return finish(entry);
    if (entry.find("r")) return complete(entry);
    if (!play_upkeep(entry))
        end_job("sluice replay: the log has a call that is not known here: " +
                std::string(entry.name));
}

Player::OpenFile* Player::file_of(record::Entry const& entry) {
    auto const found = files_.find(entry.subject);
    return found == files_.end() ? nullptr : &found->second;
}

MPI_Info Player::info_of(record::Entry const& entry) const {
    constexpr std::string_view prefix = "hint.";
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    for (auto const& [key, value] : entry.fields)
        if (key.starts_with(prefix))
            MPI_Info_set(info, record::decoded(key.substr(prefix.size())).c_str(),
                         record::decoded(value).c_str());
    add_hints(info, options_.hints);
    return info;
}

void Player::open(record::Entry const& entry) {
    OpenFile file;
    file.path = path_of(entry.text("name"));
    file.seed = options_.seed + std::hash<std::string>{}(file.path);
    MPI_Comm const communicator =
        communicators_.get(entry.number("group", -1), groups_[entry.number("group", -1)]);
    if (communicator == MPI_COMM_NULL)
        end_job("sluice replay: the log does not say which ranks open " + file.path);
    MPI_Info info = info_of(entry);
    int const mode = mode_of(entry.text("mode"));
    timed(entry,
          [&] { return MPI_File_open(communicator, file.path.c_str(), mode, info, &file.handle); });
    MPI_Info_free(&info);
    if (mode & MPI_MODE_DELETE_ON_CLOSE) deleted_.insert(file.path);
    if (file.handle != MPI_FILE_NULL && entry.subject >= 0) files_[entry.subject] = std::move(file);
}

void Player::set_view(record::Entry const& entry) {
    OpenFile* const file = file_of(entry);
    if (!file) return;
    MPI_Datatype const etype = datatypes_.get(entry.number("etype", -1));
    std::int64_t const number = entry.number("filetype", -1);
    MPI_Datatype const filetype = datatypes_.get(number);
    std::string const representation = entry.text("rep");
    MPI_Info info = info_of(entry);
    timed(entry, [&] {
        return MPI_File_set_view(file->handle, entry.number("at", 0), etype, filetype,
                                 representation.c_str(), info);
    });
    MPI_Info_free(&info);
    auto const layout = types_.layout(number);
    file->native = layout && representation != "external32";
    file->view = layout ? layout : Layout::contiguous();
    file->displacement = entry.number("at", 0);
    file->etype = types_.etype_bytes(entry.number("etype", -1));
    file->pointer = 0;
}

/// Memory that the datatype reaches, wherever its offset 0 lies in it.
void Player::take_memory(Pending& pending, std::int64_t type_number, Bytes type_bytes,
                         Offset extent) {
    std::int64_t const count = pending.call.count;
    auto layout = types_.layout(type_number);
    bool const dense = !layout || layout->is_contiguous();
    Span reach{0, count * type_bytes};
    if (!dense) {
        Offset const last = (count - 1) * extent;
        reach = layout->tile_span();
        reach = join(reach, {reach.begin + last, reach.end + last});
    }
    if (count == 0) reach = {};
    pending.transfer.memory = dense ? Layout::contiguous() : layout;
    auto const bytes = static_cast<std::size_t>(reach.bytes());
    auto const fits =
        std::ranges::find_if(spare_, [&](Memory const& memory) { return memory.size() >= bytes; });
    if (fits != spare_.end()) {
        pending.memory = std::move(*fits);
        spare_.erase(fits);
    } else {
        pending.memory.resize(std::max<std::size_t>(bytes, 1));
    }
    pending.origin = pending.memory.data() - reach.begin;
    pending.call.buffer = pending.origin;
}

/// Where the bytes of an access lie; moves the individual pointer.
void Player::lay_out(record::Entry const& entry, Pending& pending, OpenFile& file) {
    Transfer& transfer = pending.transfer;
    transfer.view = file.view;
    transfer.displacement = file.displacement;
    bool const at_offset = pending.function->place == Function::Place::offset;
    transfer.position = (at_offset ? entry.number("at", 0) : file.pointer) * file.etype;
    if (pending.function->place == Function::Place::pointer)
        file.pointer += transfer.bytes / file.etype;
    pending.has_places = file.native && pending.function->place != Function::Place::shared;
    pending.seed = file.seed;
    if (!pending.function->writes) return;
    if (!pending.has_places) {
        shared_.insert(file.path);
        std::ranges::fill(pending.memory, std::byte{0x5a});
        return;
    }
    fill(file.seed, transfer, pending.origin);
    written_.push_back({file.path, file.seed, transfer});
    written_.back().transfer.memory = Layout::contiguous();
}

std::unique_ptr<Player::Pending> Player::pending_of(record::Entry const& entry,
                                                    Function const& function, OpenFile& file) {
    auto pending = std::make_unique<Pending>();
    pending->function = &function;
    std::int64_t const type = entry.number("t", -1);
    record::Types::Type const* const known = types_.find(type);
    if (!known) end_job("sluice replay: an access without a datatype cannot be made again");
    pending->call.file = file.handle;
    pending->call.at = entry.number("at", 0);
    pending->call.count = entry.number("n", 0);
    pending->call.type = datatypes_.get(type);
    pending->transfer.bytes = pending->call.count * known->size;
    take_memory(*pending, type, known->size, known->extent);
    lay_out(entry, *pending, file);
    return pending;
}

void Player::access(record::Entry const& entry, Function const& function) {
    OpenFile* const file = file_of(entry);
    if (!file) return;
    auto pending = pending_of(entry, function, *file);
    timed(entry, [&] { return function.call(pending->call); });
    if (function.has_request)
        requests_[entry.number("r", -1)] = std::move(pending);
    else if (function.begins())
        file->begun = std::move(pending);
    else
        end(*pending);
}

void Player::finish(record::Entry const& entry) {
    OpenFile* const file = file_of(entry);
    if (!file || !file->begun) return;
    auto const pending = std::move(file->begun);
    timed(entry, [&] { return pending->function->finish(pending->call); });
    end(*pending);
}

void Player::complete(record::Entry const& entry) {
    std::vector<std::unique_ptr<Pending>> all;
    std::vector<MPI_Request> requests;
    for (auto const number : entry.list("r")) {
        auto const found = requests_.find(number);
        if (found == requests_.end()) continue;
        requests.push_back(found->second->call.request);
        all.push_back(std::move(found->second));
    }
    std::vector<MPI_Status> statuses(requests.size());
    bool const tests = entry.name.starts_with("test");
    poll_until_due(entry, requests);
    timed(entry, [&] {
        if (entry.name == "request_free") return MPI_Request_free(requests.data());
        int done = 0, code = MPI_SUCCESS;
        int const count = static_cast<int>(requests.size());
        if (!tests) return MPI_Waitall(count, requests.data(), statuses.data());
        while (!done && code == MPI_SUCCESS)
            code = MPI_Testall(count, requests.data(), &done, statuses.data());
        return code;
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i]->call.status = statuses[i];
        // Entries of requests that went away otherwise are not looked up by number again.
        if (entry.name == "request_free")
            freed_.push_back(std::move(all[i]));
        else
            end(*all[i]);
    }
}

/// What was read is compared as far as the call says that it came.
void Player::end(Pending& pending) {
    if (!pending.function->writes && pending.has_places) {
        MPI_Count bytes = 0;
        MPI_Get_elements_x(&pending.call.status, MPI_BYTE, &bytes);
        pending.transfer.bytes = std::min<Bytes>(pending.transfer.bytes, std::max<Bytes>(bytes, 0));
    }
    if (!pending.function->writes && pending.has_places && options_.check) {
        outcome_.wrong += wrong_bytes(pending.seed, pending.transfer, pending.origin);
        outcome_.checked += pending.transfer.bytes;
    }
    constexpr std::size_t spares_most = 16;
    if (spare_.size() < spares_most) spare_.push_back(std::move(pending.memory));
}

void Player::seek(record::Entry const& entry, OpenFile& file) {
    int const whence = whence_of(entry.find("whence").value_or("set"));
    timed(entry, [&] { return MPI_File_seek(file.handle, entry.number("at", 0), whence); });
    MPI_Offset position = 0;
    MPI_File_get_position(file.handle, &position);
    file.pointer = position;
}

void Player::cut(OpenFile const& file, Offset size) {
    for (Written& one : written_)
        if (one.path == file.path) one.until = std::min(one.until, size);
}

bool Player::play_upkeep(record::Entry const& entry) {
    if (entry.name == "delete") {
        std::string const path = path_of(entry.text("name"));
        deleted_.insert(path);
        timed(entry, [&] { return MPI_File_delete(path.c_str(), MPI_INFO_NULL); });
        return true;
    }
    OpenFile* const file = file_of(entry);
    if (!file) return true;  // It could not be opened.
    MPI_Offset const size = entry.number("size", 0);
    auto const play = [&](auto&& call) { return timed(entry, call), true; };
    if (entry.name == "seek") return seek(entry, *file), true;
    if (entry.name == "close") {
        bool const played = play([&] { return MPI_File_close(&file->handle); });
        files_.erase(entry.subject);
        return played;
    }
    if (entry.name == "sync") return play([&] { return MPI_File_sync(file->handle); });
    if (entry.name == "set_size") {
        cut(*file, size);
        return play([&] { return MPI_File_set_size(file->handle, size); });
    }
    if (entry.name == "preallocate")
        return play([&] { return MPI_File_preallocate(file->handle, size); });
    if (entry.name == "set_atomicity")
        return play([&] {
            return MPI_File_set_atomicity(file->handle, static_cast<int>(entry.number("flag", 0)));
        });
    if (entry.name == "seek_shared")
        return play([&] {
            return MPI_File_seek_shared(file->handle, entry.number("at", 0),
                                        whence_of(entry.find("whence").value_or("set")));
        });
    if (entry.name != "set_info") return false;
    MPI_Info info = info_of(entry);
    bool const played = play([&] { return MPI_File_set_info(file->handle, info); });
    MPI_Info_free(&info);
    return played;
}

}  // namespace sluice::replay
