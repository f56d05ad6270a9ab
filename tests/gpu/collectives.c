/* Collectives between memories of which some ranks have theirs on devices: MPI's nonblocking ones,
 * which SLUICE=all serves, and the functions of sluice/collectives.h. What they must give is what
 * the MPI's blocking function gives from memory of the host. The options are those of cases.h. */
#include "collective_calls.h"
#include "cuda_buffers.h"

#include <stdlib.h>
#include <string.h>

/* What this rank brings to a call. */
typedef struct Memory {
    Place place;
    Buffer buffer;
    unsigned char* expected; /* What the memory must hold afterwards. */
} Memory;

static Memory make_memory(MPI_Aint bytes, Random* random) {
    static Place const places[4] = {DEVICE, DEVICE, HOST, MANAGED};
    Memory memory = {places[draw(random, 0, 3)], {0}, malloc((size_t)bytes + 1)};
    memory.buffer = make_buffer(memory.place, device_of(rank), (size_t)bytes);
    for (MPI_Aint i = 0; i < bytes; ++i)
        memory.buffer.image[i] = (unsigned char)(i % 4 ? 0 : draw(random, 0, 100));
    memcpy(memory.expected, memory.buffer.image, (size_t)bytes);
    put_buffer(&memory.buffer);
    return memory;
}

static void check_memory(Memory const* memory, size_t bytes, char const* what) {
    unsigned char* const found = get_buffer(&memory->buffer);
    check_bytes(found, memory->expected, bytes, what);
    free(found);
}

static void free_memory(Memory* memory) {
    free_buffer(&memory->buffer);
    free(memory->expected);
}

/* ---- One collective ----------------------------------------------------------------------- */

typedef struct Trial {
    Collective const* collective;
    Form form;
    int in_place, has_gaps;
} Trial;

/* Two ints of four. */
static MPI_Datatype type_with_gaps(void) {
    MPI_Datatype vector, type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 4 * (MPI_Aint)sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    return type;
}

static void* sent_of(Trial const* trial, void* memory) {
    return trial->in_place ? MPI_IN_PLACE : memory;
}

/* Another start of a persistent request must give the same. */
static void run_trial(void const* what) {
    Trial const* const trial = what;
    Collective const* const one = trial->collective;
    Random of_all = random_of_case(1000), random = random_of_case(rank);
    MPI_Datatype type = trial->has_gaps ? type_with_gaps() : MPI_INT;
    Arguments a =
        make_arguments((int)draw(&of_all, 1, 2000), type, (int)draw(&of_all, 0, ranks - 1));
    MPI_Aint const item = (trial->has_gaps ? 4 : 1) * (MPI_Aint)sizeof(int);
    Memory sent = make_memory(items_of(one->sent, &a) * item, &random);
    Memory received = make_memory(items_of(one->received, &a) * item, &random);
    a.send = sent_of(trial, sent.expected), a.receive = received.expected;
    went(one->blocking(&a), "the MPI's own");
    a.send = sent_of(trial, sent.buffer.memory), a.receive = received.buffer.memory;
    went(run_collective(one, trial->form, &a), one->name);
    check_memory(&sent, sent.buffer.bytes, "memory that was sent");
    if (!is_undefined(one, &a)) check_memory(&received, received.buffer.bytes, "what was received");
    free_memory(&sent);
    free_memory(&received);
    free_arguments(&a);
    if (trial->has_gaps) MPI_Type_free(&type);
}

static void add_trials(void) {
    static char const* const forms[FORMS] = {"mpi", "own", "persistent"};
    static Trial trials[400];
    int count = 0;
    for (int i = 0; i < collective_count; ++i)
        for (int form = 0; form < FORMS; ++form)
            for (int kind = 0; kind < 3; ++kind) {
                Collective const* const one = &collectives[i];
                Trial const trial = {one, (Form)form, kind == 1, kind == 2};
                /* In place a second start has other operands. */
                if (trial.in_place && (!one->has_in_place || form == PERSISTENT)) continue;
                if (trial.has_gaps && one->reduces) continue;
                trials[count] = trial;
                char const* const end = kind == 1 ? "/in_place" : kind == 2 ? "/gaps" : "";
                add_named_case(one->name, forms[form], end, run_trial, &trials[count++]);
            }
}

/* ---- Memory of several kinds -------------------------------------------------------------- */

enum { PARTS = 3, PART_BYTES = 5000 };

/* One datatype of memory of a device, of the host, and of the last device. */
static void run_bottom(void const* what) {
    Place const places[PARTS] = {DEVICE, HOST, DEVICE};
    int const devices[PARTS] = {0, 0, has_devices() ? cuda_open() - 1 : 0};
    int const lengths[PARTS] = {PART_BYTES, PART_BYTES, PART_BYTES};
    MPI_Datatype const types[PARTS] = {MPI_BYTE, MPI_BYTE, MPI_BYTE};
    Buffer buffers[PARTS];
    MPI_Aint at[PARTS];
    MPI_Datatype type;
    Arguments a = make_arguments(1, MPI_BYTE, 0);
    for (int i = 0; i < PARTS; ++i) {
        buffers[i] = make_buffer(places[i], devices[i], PART_BYTES);
        memset(buffers[i].image, rank == 0 ? 10 + i : GAP, PART_BYTES);
        put_buffer(&buffers[i]);
        MPI_Get_address(buffers[i].memory, &at[i]);
    }
    MPI_Type_create_struct(PARTS, lengths, at, types, &type);
    MPI_Type_commit(&type);
    a.receive = MPI_BOTTOM, a.type = type;
    went(run_collective(collective_named("bcast"), *(Form const*)what, &a), "bcast");
    for (int i = 0; i < PARTS; ++i) {
        memset(buffers[i].image, 10 + i, PART_BYTES);
        check_buffer(&buffers[i], "what was received");
        free_buffer(&buffers[i]);
    }
    MPI_Type_free(&type);
    free_arguments(&a);
}

/* Of each rank another number of bytes. */
static MPI_Aint length_of(int of) { return 1000 + 777 * of; }

static void run_results(void const* what) {
    int const root_has_device = *(int const*)what, root = ranks - 1;
    MPI_Aint all = 0, at = 0;
    for (int i = 0; i < ranks; ++i) all += length_of(i);
    Buffer sent = make_buffer(rank % 2 ? HOST : DEVICE, device_of(rank), (size_t)length_of(rank));
    Buffer received =
        make_buffer(root_has_device ? DEVICE : HOST, device_of(rank), (size_t)all + 100);
    MPI_Count* const lengths = malloc((size_t)ranks * sizeof *lengths);
    memset(sent.image, rank + 1, sent.bytes);
    put_buffer(&sent);
    put_buffer(&received);
    went(
        run_results_gather(sent.memory, length_of(rank), received.memory, all + 100, lengths, root),
        "sluice_igather_results");
    for (int i = 0; rank == root && i < ranks; at += length_of(i++)) {
        memset(received.image + at, i + 1, (size_t)length_of(i));
        if (lengths[i] != length_of(i))
            wrong("the length of rank %d is %lld", i, (long long)lengths[i]);
    }
    check_buffer(&sent, "memory that was sent");
    check_buffer(&received, "what was received");
    free(lengths);
    free_buffer(&sent);
    free_buffer(&received);
}

/* ---- Failures ----------------------------------------------------------------------------- */

typedef struct Fault {
    Form form;
    char const* order;
    int fails;
} Fault;

/* A driver that fails on the last rank: an error there, and wrong bytes nowhere. */
static void run_fault(void const* what) {
    Fault const* const fault = what;
    int const is_victim = rank == ranks - 1, count = 1000;
    if (!has_devices() || !cuda.order) {
        skip("no pretended driver");
        return;
    }
    Arguments a = make_arguments(count, MPI_INT, 0);
    Buffer sent = make_buffer(DEVICE, device_of(rank), (size_t)count * sizeof(int));
    Buffer received =
        make_buffer(DEVICE, device_of(rank), (size_t)count * sizeof(int) * (size_t)ranks);
    memset(sent.image, rank + 1, sent.bytes);
    put_buffer(&sent);
    put_buffer(&received);
    a.send = sent.memory, a.receive = received.memory;
    for (int i = 0; i < ranks; ++i)
        memset(received.image + (size_t)i * sent.bytes, i + 1, sent.bytes);
    if (is_victim) cuda.order(fault->order);
    int const code = run_collective(collective_named("allgather"), fault->form, &a);
    cuda.order("");
    if (code == MPI_SUCCESS) check_buffer(&received, "what was received");
    if (is_victim && fault->fails && code == MPI_SUCCESS) wrong("no error where a copy failed");
    went(run_collective(collective_named("allgather"), fault->form, &a), "the next call");
    check_buffer(&received, "what was received next");
    free_buffer(&sent);
    free_buffer(&received);
    free_arguments(&a);
}

/* A copy fails on a rank through which the lengths of others go: they have no error, and the root
 * has their data, of more bytes than go without its consent. */
static void run_results_fault(void const* what) {
    int const root = 0, is_victim = ranks > 2 ? rank == ranks / 2 : rank == ranks - 1;
    MPI_Count const own = 50000, all = own * ranks;
    if (!has_devices() || !cuda.order) {
        skip("no pretended driver");
        return;
    }
    (void)what;
    Buffer sent = make_buffer(DEVICE, device_of(rank), (size_t)own);
    Buffer received = make_buffer(HOST, 0, rank == root ? (size_t)all : 1);
    MPI_Count* const lengths = calloc((size_t)ranks, sizeof *lengths);
    memset(sent.image, rank + 1, sent.bytes);
    put_buffer(&sent);
    put_buffer(&received);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (is_victim) cuda.order("fail=copy:1+:999");
    int const code = run_results_gather(sent.memory, own, received.memory, all, lengths, root);
    cuda.order("");
    if (is_victim && code == MPI_SUCCESS) wrong("no error where a copy failed");
    if (!is_victim) went(code, "sluice_igather_results");
    size_t at = 0;
    for (int i = 0; rank == root && i < ranks; at += (size_t)lengths[i++]) {
        if (lengths[i] != own && lengths[i] != 0)
            wrong("the length of rank %d is %lld", i, (long long)lengths[i]);
        memset(received.image + at, i + 1, (size_t)lengths[i]);
    }
    check_buffer(&received, "what was received");
    for (int i = 0; i < ranks; ++i) lengths[i] = 0;
    went(run_results_gather(sent.memory, own, received.memory, all, lengths, root),
         "the next call");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    free(lengths);
    free_buffer(&sent);
    free_buffer(&received);
}

/* A wrong call of the last rank, whose bytes the others get. */
static void run_aliased(void const* what) {
    int const is_victim = rank == ranks - 1, count = 1000;
    size_t const bytes = (size_t)count * sizeof(int);
    int code, class_of;
    Arguments a = make_arguments(count, MPI_INT, 0);
    Buffer sent = make_buffer(DEVICE, device_of(rank), bytes);
    Buffer received = make_buffer(DEVICE, device_of(rank), bytes * (size_t)ranks);
    memset(sent.image, rank + 1, sent.bytes);
    memset(received.image, ranks, received.bytes);
    put_buffer(&sent);
    put_buffer(&received);
    a.send = is_victim ? received.memory : sent.memory, a.receive = received.memory;
    code = run_collective(collective_named("allgather"), *(Form const*)what, &a);
    MPI_Error_class(code, &class_of);
    if (is_victim && class_of != MPI_ERR_BUFFER) wrong("the class of the error is %d", class_of);
    if (!is_victim) went(code, "allgather");
    for (int i = 0; !is_victim && i < ranks; ++i)
        memset(received.image + (size_t)i * bytes, i + 1, bytes);
    check_buffer(&received, "what was received");
    free_buffer(&sent);
    free_buffer(&received);
    free_arguments(&a);
}

static void add_all(void) {
    static Form const forms[FORMS] = {MPIS, OWN, PERSISTENT};
    static int const no = 0, yes = 1;
    enum { FAULTS = 5 };
    static Fault const faults[FAULTS] = {{MPIS, "fail=copy:1+:999", 1},
                                         {OWN, "fail=copy:1+:999", 1},
                                         {MPIS, "fail=copy:1:2", 0},
                                         {OWN, "fail=copy:2:999", 0},
                                         {OWN, "fail=copy:3:999", 0}};
    static char const* const names[FAULTS] = {"copies/mpi", "copies/own", "first", "second",
                                              "third"};
    add_trials();
    add_named_case("bottom", "mpi", "", run_bottom, &forms[MPIS]);
    add_named_case("bottom", "own", "", run_bottom, &forms[OWN]);
    add_named_case("bottom", "persistent", "", run_bottom, &forms[PERSISTENT]);
    add_named_case("aliased", "mpi", "", run_aliased, &forms[MPIS]);
    add_named_case("aliased", "own", "", run_aliased, &forms[OWN]);
    add_case("results/host", run_results, &no);
    add_case("results/device", run_results, &yes);
    add_case("results/fault", run_results_fault, NULL);
    for (int i = 0; i < FAULTS; ++i) add_named_case("fault", names[i], "", run_fault, &faults[i]);
}

int main(int argc, char** argv) { return run_cases(argc, argv, add_all); }
