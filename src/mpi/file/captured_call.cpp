// How arguments are checked, and how the view, the position and the datatypes are captured as they
// are at the call. See captured_call.hpp.
#include "mpi/file/captured_call.hpp"

#include "file/plan/overlap.hpp"
#include "gpu/gpus.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/file/position.hpp"

namespace sluice {
namespace {

Error refusal(Status status, char const* why) noexcept { return {.status = status, .what = why}; }

/// The end of a copy, or of a stream's work, wakes who waits for it.
void ring_by_devices() {
    static std::once_flag once;
    std::call_once(once, [] { ring_by([] { Progress::instance().ring(); }); });
}

/// On which the first byte lies; null: it is the host's.
Device* device_of_buffer(AccessArguments const& a) {
    if (a.count == 0) return nullptr;
    MPI_Count begin = 0, extent = 0;
    PMPI_Type_get_true_extent_x(a.type, &begin, &extent);
    return device_of(static_cast<std::byte*>(a.buffer) + begin);
}

Error find_fault(File const& file, FileView const& view, AccessArguments const& a) {
    if (a.count < 0) return refusal(Status::count, "the count is negative");
    if (Status const status = check_type(a.type, file.team->communicator); status != Status::ok)
        return refusal(status, "the datatype is null or not committed");
    if (a.from == From::offset && a.offset < 0)
        return refusal(Status::argument, "the offset is negative");
    bool const writes = a.direction == Direction::write;
    if (writes && (file.amode & MPI_MODE_RDONLY))
        return refusal(Status::read_only, "the file was opened with MPI_MODE_RDONLY");
    if (!writes && (file.amode & MPI_MODE_WRONLY))
        return refusal(Status::amode, "the file was opened with MPI_MODE_WRONLY");
    Bytes bytes = 0;
    auto const in_file = file_bytes_of(a.type, view.representation);
    if (!in_file)
        return refusal(Status::unsupported,
                       "the datatype has no form in the file's representation");
    Bytes const size = std::max(size_of(a.type), *in_file);
    if (__builtin_mul_overflow(a.count, size, &bytes) || bytes > offset_limit)
        return refusal(Status::count, "the count is of more bytes than offsets can say");
    bytes = a.count * *in_file;
    if (bytes % view.etype_bytes != 0)
        return refusal(Status::argument, "the bytes are not a multiple of the view's etype");
    if (bytes > 0 && view.filetype->tile_bytes() == 0)
        return refusal(Status::argument, "the view's filetype has no bytes");
    return {};
}

/// The call as it is without bytes: the rank takes part, and tells why it brings nothing.
void refuse(Call& call, Status status) {
    call.status = status;
    call.request.bytes = call.request.position = 0;
    call.request.memory = Layout::contiguous();
    call.find_memory = nullptr;
}

/// Takes the layout of the call's memory. A long list of pieces is left to the helper, as a type
/// tree: the program goes on meanwhile, and may free the datatype.
Status take_layout(MPI_Datatype type, Call& call) {
    auto const shape = shape_of(type);
    if (!shape) return Status::unsupported;
    if (!call.may_block && shape->is_costly()) {
        call.find_memory = [shape] { return shape->layout(); };
        return Status::ok;
    }
    call.request.memory = shape->layout();
    bool const fits = is_in_range(*call.request.memory, 0, 0, call.request.bytes, -offset_limit);
    return fits ? Status::ok : Status::count;
}

/// What the file's stream was given so far ends there. Null: it has none, or there is an error.
std::shared_ptr<StreamPoint> end_of_stream(File const& file, Error& error) {
    ProgramStream const& stream = file.hints.memory.stream;
    if (stream.type == ProgramStream::Type::none) return nullptr;
    ring_by_devices();
    try {
        return end_of(stream, error);
    } catch (std::bad_alloc const&) {
        error.status = Status::no_memory;
        return nullptr;
    }
}

/// Describes the call's memory: the program's own, or an image of it.
Error describe_memory(File const& file, FileView const& view, AccessArguments const& a, Call& call,
                      std::unique_ptr<ConversionBuffer>& conversion_buffer) {
    bool const may_be_far = a.count > 0 && file.hints.memory.may_be_on_device();
    call.user = may_be_far ? memory_of(a) : UserMemory(static_cast<std::byte*>(a.buffer));
    if (needs_conversion(view)) {
        conversion_buffer =
            std::make_unique<ConversionBuffer>(ConversionSource{call.user, a.count, a.type});
        call.user = conversion_buffer->data();
        call.request.bytes = conversion_buffer->bytes();
        return a.direction == Direction::write ? conversion_buffer->pack() : Error();
    }
    call.request.bytes = a.count * size_of(a.type);
    return {.status = take_layout(a.type, call)};
}

/// Where there is no memory for it the rank takes part without bytes: the others wait for it.
Error prepare_memory(File const& file, FileView const& view, AccessArguments const& a, Call& call,
                     std::unique_ptr<ConversionBuffer>& conversion_buffer) {
    try {
        return describe_memory(file, view, a, call, conversion_buffer);
    } catch (std::bad_alloc const&) {
        conversion_buffer.reset();
        return {.status = Status::no_memory};
    }
}

}  // namespace

bool needs_conversion(FileView const& view) noexcept {
    return view.representation != Representation::native;
}

Status check(File const& file, FileView const& view, AccessArguments const& arguments) {
    return find_fault(file, view, arguments).status;
}

UserMemory memory_of(AccessArguments const& arguments) {
    auto* const buffer = static_cast<std::byte*>(arguments.buffer);
    if (!has_gpu_driver()) return buffer;
    ring_by_devices();
    if (arguments.buffer == MPI_BOTTOM) return {buffer, &mixed_memory()};
    return {buffer, device_of_buffer(arguments)};
}

Error wait_for_stream(File const& file) {
    Error error;
    auto const point = end_of_stream(file, error);
    if (!point) return error;
    Progress::instance().drive({.done = [&] { return point->finished(); },
                                .poke = [&] { file.team->poke(); },
                                .reason = TraceWait::given_work});
    return point->error();
}

std::shared_ptr<StreamPoint> point_before(File const& file, Call& call) {
    if (call.request.bytes == 0) return nullptr;
    Error error;
    auto point = end_of_stream(file, error);
    bool const is_past = point && point->finished();
    if (is_past) error = point->error();
    if (error) {
        file.log(describe(call.request.direction), error);
        refuse(call, error.status);
    }
    return is_past ? nullptr : point;
}

Call capture_call(File const& file, FileView const& view, AccessArguments const& a, CallForm form,
                  std::unique_ptr<ConversionBuffer>& conversion_buffer) {
    Call call;
    call.function = a.function;
    call.may_block = form.may_block;
    call.request.direction = a.direction;
    call.request.view = view;
    call.request.atomic = file.atomic;
    Error error = find_fault(file, view, a);
    bool const waits = a.count > 0 && (form.waits || needs_conversion(view));
    if (!error && waits) error = wait_for_stream(file);
    if (!error) error = prepare_memory(file, view, a, call, conversion_buffer);
    bool const in_order = a.from == From::shared_in_order;
    if (!error && !in_order) error.status = take_position(file, a.from, a.offset, call.request);
    file.log(describe(a.direction), error);
    // The other ranks wait for this one there.
    Status const status = in_order ? take_in_order(file, call.request, error.status) : error.status;
    if (status == Status::ok)
        separate_tiles(call.request);
    else
        refuse(call, status);
    return call;
}

}  // namespace sluice
