// The lines of calls: their names, and what each says. See calls.hpp.
#include "mpi/events/calls.hpp"

#include <array>

namespace sluice::record {
namespace {

/// The name of a function without MPI_File_, and without the end of those with large counts.
std::string_view short_name(std::string_view name) {
    name.remove_prefix(std::string_view("MPI_File_").size());
    return name.ends_with("_c") ? name.substr(0, name.size() - 2) : name;
}

std::string words_of_mode(int amode) {
    constexpr std::pair<int, std::string_view> words[] = {
        {MPI_MODE_CREATE, "create"},
        {MPI_MODE_RDONLY, "rdonly"},
        {MPI_MODE_WRONLY, "wronly"},
        {MPI_MODE_RDWR, "rdwr"},
        {MPI_MODE_DELETE_ON_CLOSE, "delete_on_close"},
        {MPI_MODE_UNIQUE_OPEN, "unique_open"},
        {MPI_MODE_EXCL, "excl"},
        {MPI_MODE_APPEND, "append"},
        {MPI_MODE_SEQUENTIAL, "sequential"}};
    std::string all;
    for (auto const& [bit, word] : words)
        if (amode & bit) all += (all.empty() ? "" : "+") + std::string(word);
    return all;
}

}  // namespace

LineWriter& LoggedCall::begin(std::string_view name, std::int64_t file) {
    line_.name(name).number(file).number(log_.since_start(began_)).number(ended_ - began_);
    return line_;
}

void LoggedCall::hints(MPI_Info info) {
    int count = 0;
    if (info != MPI_INFO_NULL) PMPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; ++i) {
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        std::array<char, MPI_MAX_INFO_VAL + 1> value{};
        int found = 0;
        PMPI_Info_get_nthkey(info, i, key.data());
        PMPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &found);
        if (found) line_.field("hint." + encoded(key.data()), value.data());
    }
}

void LoggedCall::access(char const* name, AccessArguments const& a, MPI_Request const* request) {
    std::int64_t const type = log_.type_number(a.type);
    begin(short_name(name), log_.file_of(a.handle)).field("n", a.count).field("t", type);
    if (a.from == From::offset) line_.field("at", a.offset);
    if (request && *request != MPI_REQUEST_NULL) line_.field("r", log_.add_request(*request));
}

void LoggedCall::open(MPI_Comm communicator, char const* name, int amode, MPI_Info info,
                      MPI_File handle) {
    bool const has_ranks = communicator != MPI_COMM_NULL;
    std::int64_t const group = has_ranks ? log_.group_number(communicator) : -1;
    begin("open", handle == MPI_FILE_NULL ? -1 : log_.add_file(handle));
    line_.field("group", group).field("name", name).field("mode", words_of_mode(amode));
    hints(info);
}

void LoggedCall::set_view(MPI_File handle, ViewArguments const& view, MPI_Info info) {
    std::int64_t const etype = log_.type_number(view.etype);
    std::int64_t const filetype = log_.type_number(view.filetype);
    begin("set_view", log_.file_of(handle)).field("at", view.displacement);
    line_.field("etype", etype).field("filetype", filetype);
    line_.field("rep", view.representation ? view.representation : "");
    hints(info);
}

void LoggedCall::set_info(MPI_File handle, MPI_Info info) {
    begin("set_info", log_.file_of(handle));
    hints(info);
}

void LoggedCall::delete_file(char const* name, MPI_Info info) {
    begin("delete", -1).field("name", name);
    hints(info);
}

void LoggedCall::seek(char const* name, MPI_File handle, MPI_Offset offset, int whence) {
    char const* const from = whence == MPI_SEEK_SET   ? "set"
                             : whence == MPI_SEEK_CUR ? "cur"
                                                      : "end";
    begin(name, log_.file_of(handle)).field("at", offset).field("whence", from);
}

void LoggedCall::other(char const* name, MPI_File handle, char const* key, std::int64_t value) {
    begin(name, log_.file_of(handle));
    if (key) line_.field(key, value);
    if (std::string_view(name) == "close") log_.forget_file(handle);
}

void LoggedCall::completion(char const* name, std::vector<CallLog::Live> const& completed) {
    std::vector<std::int64_t> numbers;
    std::int64_t tests = 0;
    for (auto const& one : completed) {
        numbers.push_back(one.number);
        tests = std::max(tests, log_.forget_request(one));
    }
    begin(name, -1).list("r", std::span<std::int64_t const>(numbers));
    if (tests > 0) line_.field("tests", tests);
}

void CompletionCall::begin(int count) {
    began_ = clock_now();
    tried_ = log_->find_requests(count, requests_);
}

void CompletionCall::end() noexcept try {
    std::vector<CallLog::Live> completed;
    for (auto const& one : tried_)
        if (requests_[one.index] != one.request) completed.push_back(one);
    if (completed.empty()) return log_->count_tests(tried_);
    log_->add<LoggedCall>(began_, [&](LoggedCall& call) { call.completion(name_, completed); });
} catch (std::exception const&) {
    log_->give_up();
}

}  // namespace sluice::record
