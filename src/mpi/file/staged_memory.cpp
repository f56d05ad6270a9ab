// How bytes come to the host and back. See staged_memory.hpp.
#include "mpi/file/staged_memory.hpp"

#include "gpu/gpus.hpp"
#include "mpi/errors.hpp"
#include "mpi/requests/requests.hpp"
#include "system/environment.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

/// How the MPI holds numbers in the file. Not known: in a way of the program's own.
FileView representation_in_mpi(MPI_File file) {
    MPI_Offset displacement = 0;
    MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    char name[MPI_MAX_DATAREP_STRING + 1] = "native";
    PMPI_File_get_view(file, &displacement, &types[0], &types[1], name);
    for (MPI_Datatype& type : types)
        if (type != MPI_DATATYPE_NULL && !is_predefined(type)) PMPI_Type_free(&type);
    FileView view;
    read_representation(name, view);
    return view;
}

bool is_right(AccessArguments const& a) {
    return a.count > 0 && check_type(a.type, MPI_COMM_SELF) == Status::ok;
}

}  // namespace

std::unique_ptr<StagedMemory> StagedMemory::of(AccessArguments const& arguments) {
    if (!settings().enabled || !has_gpu_driver() || !is_right(arguments)) return nullptr;
    auto const file = find_file(arguments.handle);
    Error const of_stream = file ? wait_for_stream(*file) : Error();
    bool const may_be_far = !file || file->hints.memory.may_be_on_device();
    if (!of_stream && !(may_be_far && memory_of(arguments).device)) return nullptr;
    return std::make_unique<StagedMemory>(arguments, of_stream);
}

StagedMemory::StagedMemory(AccessArguments const& arguments, Error const& error)
    : arguments_(arguments) {
    try {
        fail(error ? error : stage());
    } catch (std::bad_alloc const&) {
        fail({.status = Status::no_memory});
    }
    Bytes const bytes = status_ == Status::ok ? buffer_->bytes() : 0;
    if (bytes > 0) own_type_ = contiguous_bytes(bytes);
    arguments_.buffer = bytes > 0 ? buffer_->data() : nullptr;
    arguments_.count = bytes > 0 ? 1 : 0;
    arguments_.type = bytes > 0 ? own_type_ : MPI_BYTE;
}

StagedMemory::~StagedMemory() {
    if (own_type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&own_type_);
}

/// In the form of the file, so that the MPI has single bytes, in which it converts nothing.
Error StagedMemory::stage() {
    AccessArguments const& a = arguments_;
    FileView const view = representation_in_mpi(a.handle);
    if (!view.known)
        return {.status = Status::buffer,
                .what = "the buffer lies on a GPU, and only the MPI knows the file's data "
                        "representation: copy the bytes to memory of the host first"};
    auto const in_file = file_bytes_of(a.type, view.representation);
    if (!in_file || !flatten(a.type))
        return {.status = Status::unsupported,
                .what = "the datatype has no form in the file's representation"};
    Bytes most = 0;
    if (__builtin_mul_overflow(a.count, std::max(size_of(a.type), *in_file), &most))
        return {.status = Status::count, .what = "the count is of more bytes than offsets can say"};
    buffer_ = std::make_unique<ConversionBuffer>(
        ConversionSource{memory_of(a), a.count, a.type, view.representation});
    return a.direction == Direction::write ? buffer_->pack() : Error();
}

void StagedMemory::fail(Error const& error) {
    status_ = agreed(status_, error.status);
    std::string const operation = describe(arguments_.direction);
    if (auto const file = find_file(arguments_.handle))
        file->log(operation, error);
    else
        log_error(operation, error);
}

void StagedMemory::finish(MPI_Status const& of_mpi) {
    if (status_ != Status::ok) return;
    MPI_Count moved = 0;
    PMPI_Get_elements_x(&of_mpi, MPI_BYTE, &moved);
    Bytes const bytes = std::clamp<Bytes>(moved, 0, buffer_->bytes());
    moved_ = buffer_->in_memory(bytes);
    if (arguments_.direction == Direction::read) fail(buffer_->unpack(bytes));
}

int complete_staged(StagedMemory* staged, MPI_Status* status,
                    std::function<int(MPI_Status*)> const& complete) {
    if (!staged) return complete(status);
    MPI_Status of_mpi;
    int const code = complete(&of_mpi);
    if (code == MPI_SUCCESS) staged->finish(of_mpi);
    set_status(status, staged->bytes());
    return code;
}

int complete_or_raise(StagedMemory* staged, MPI_Status* status,
                      std::function<int(MPI_Status*)> const& complete) {
    MPI_File const handle = staged ? staged->arguments().handle : MPI_FILE_NULL;
    int const code = complete_staged(staged, status, complete);
    return code == MPI_SUCCESS && staged ? raise(handle, staged->status()) : code;
}

}  // namespace sluice
