// The functions of sluice.h.
#include "sluice/sluice.h"

#include "mpi/file/file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

namespace {

void set_tally(sluice::Tally const& from, sluice_statistics& to) {
    to.survey_seconds = from.summary_exchange;
    to.claims_seconds = from.claims;
    to.exchange_seconds = from.exchange;
    to.agreement_seconds = from.agreement;
    to.copy_seconds = from.copies;
    to.transfer_seconds = from.transfers;
    to.message_seconds = from.messages;
    to.messages = from.messages_sent;
    to.message_bytes = from.bytes_sent;
}

}  // namespace

extern "C" {

char const* sluice_version(void) { return SLUICE_VERSION; }

int sluice_file_statistics(MPI_File handle, sluice_statistics* to) {
    constexpr std::size_t first_size = offsetof(sluice_statistics, storage_seconds);
    constexpr std::size_t second_size = offsetof(sluice_statistics, survey_seconds);
    constexpr std::size_t third_size = offsetof(sluice_statistics, priced_operations);
    constexpr std::array sizes{first_size, second_size, third_size, sizeof *to};
    if (!to || std::find(sizes.begin(), sizes.end(), to->size) == sizes.end()) {
        return MPI_ERR_ARG;
    }
    auto const file = sluice::find_file(handle);
    if (!file) return MPI_ERR_FILE;
    file->delayed->settle();
    auto const from = file->statistics();
    to->operations = from.operations;
    to->writes = from.writes;
    to->reads = from.reads;
    to->bytes = from.bytes;
    to->blocked_seconds = from.blocked_seconds;
    to->busy_seconds = from.busy_seconds;
    to->helper_seconds = sluice::Progress::instance().helper_seconds();
    if (to->size > first_size) to->storage_seconds = sluice::storage_seconds();
    if (to->size > second_size) set_tally(from.tally, *to);
    if (to->size > third_size) {
        to->priced_operations = from.priced.operations;
        to->estimated_seconds = from.priced.estimated;
        to->priced_seconds = from.priced.measured;
    }
    return MPI_SUCCESS;
}

int sluice_file_plan(MPI_File handle, char* text, size_t text_bytes) {
    if (!text || text_bytes == 0) return MPI_ERR_ARG;
    auto const file = sluice::find_file(handle);
    if (!file) return MPI_ERR_FILE;
    file->delayed->settle();
    auto const statistics = file->statistics();
    std::string const plan = statistics.operations > 0 ? describe(statistics.last_plan) : "";
    std::snprintf(text, text_bytes, "%s", plan.c_str());
    return MPI_SUCCESS;
}

int sluice_file_set_stream(MPI_File handle, char const* type, void* stream) {
    auto const known = type ? sluice::stream_type(type) : sluice::ProgramStream::Type::none;
    if (!known) return MPI_ERR_ARG;
    auto const file = sluice::find_file(handle);
    if (!file) return MPI_ERR_FILE;
    file->hints.memory.stream = {*known, reinterpret_cast<std::uintptr_t>(stream)};
    return MPI_SUCCESS;
}

}  // extern "C"
