/* Preloaded beside libsluice: lets chosen calls of one rank on the tested file fail, as a device
 * would that has an error or is full, and notes all of them. Beside what interposed.h knows:
 *
 *   SLUICE_TEST_FAIL_RANK   the rank whose calls fail; without it none does
 *   SLUICE_TEST_FAIL_CALL   which: write, read, flush, fsync, journal, allocate, resize
 *   SLUICE_TEST_FAIL_FROM   the first of those that fails, counted from 1, and
 *   SLUICE_TEST_FAIL_TO     the last
 *   SLUICE_TEST_FAIL_ERRNO  what it fails with
 *   SLUICE_TEST_FAIL_ALL    a file that is made then; from then on the calls of all ranks and
 *                           keepers fail, as those on one device do
 *   SLUICE_TEST_SLOW        microseconds that each call takes, so that several are under way
 *
 * The notes are "RANK starts NAME", for what flushes, and "RANK ended NAME OFFSET BYTES" or
 * "RANK failed NAME OFFSET BYTES". */
#include "interposed.h"

#include <errno.h>

static char const* name_of(struct action const* action) {
    return action->number == SYS_fsync ? "fsync" : action->name; /* The MPI's; ours is the other. */
}

static int all_fail(void) {
    struct stat found;
    return *setting("SLUICE_TEST_FAIL_ALL") && stat(setting("SLUICE_TEST_FAIL_ALL"), &found) == 0;
}

static void let_all_fail(void) {
    if (!*setting("SLUICE_TEST_FAIL_ALL")) return;
    long const fd = syscall(SYS_openat, AT_FDCWD, setting("SLUICE_TEST_FAIL_ALL"),
                            O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) abort();
    syscall(SYS_close, fd);
}

static int fails(struct action const* action) {
    static atomic_int met;
    if (strcmp(setting("SLUICE_TEST_FAIL_CALL"), name_of(action)) != 0) return 0;
    if (all_fail()) return 1;
    if (strcmp(setting("SLUICE_TEST_FAIL_RANK"), rank()) != 0) return 0;
    int const number = atomic_fetch_add(&met, 1) + 1;
    return number >= atoi(setting("SLUICE_TEST_FAIL_FROM")) &&
           number <= atoi(setting("SLUICE_TEST_FAIL_TO"));
}

static void note_end(struct action const* action, char const* what) {
    char text[96];
    snprintf(text, sizeof text, "%s %lld %lld", name_of(action), action->offset, action->bytes);
    note(what, text);
}

static long act(struct action const* action) {
    if (action->number == SYS_fdatasync) note("starts", name_of(action));
    usleep((useconds_t)atoi(setting("SLUICE_TEST_SLOW")));
    if (fails(action)) {
        let_all_fail();
        note_end(action, "failed");
        errno = atoi(setting("SLUICE_TEST_FAIL_ERRNO"));
        return -1;
    }
    long const result = perform(action);
    int const error = errno;
    if (result >= 0) note_end(action, "ended");
    errno = error;
    return result;
}
