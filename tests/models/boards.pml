/* Boards: memory of a node for the records of an operation, used again in turn. Each rank copies
 * its record to the board and says so; the leader merges all and announces the result.
 * src/file/plan/schedule_reduction.cpp, src/file/run/effects.cpp, records.cpp, shared_region.hpp,
 * operation_queue.cpp; decision 0005.
 *
 * An operation begins when all but those under way before it are complete on its rank. Counters of
 * boards are never set back. No record, and no result, may be written over before all have read it,
 * and nobody may be left asleep: who waits notes how much he needs, and is not rung for less, so
 * two ranks must not wait for two operations of one board.
 *
 * fault 1 (end state): there is one board fewer.
 * fault 2 (assertion): the leader merges when one rank's record is not there yet.
 * fault 3 (assertion): the result is announced before it is there.
 * fault 4 (end state): one operation more is under way.
 * fault 5 (end state): who waits does not look once more when others know of him.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef RANKS
#define RANKS 3
#endif
#ifndef UNDER_WAY
#define UNDER_WAY 1
#endif
#ifndef BOARDS_BY_UNDER_WAY
#define BOARDS_BY_UNDER_WAY 2
#endif
#ifndef OPERATIONS
#define OPERATIONS 3
#endif
#if FAULT == 1
#define BOARDS (BOARDS_BY_UNDER_WAY * UNDER_WAY - 1)
#else
#define BOARDS (BOARDS_BY_UNDER_WAY * UNDER_WAY)  /* board_count */
#endif
#if FAULT == 4
#define STEP (UNDER_WAY + 1)
#else
#define STEP UNDER_WAY
#endif
#define BOARD(operation) ((operation) % BOARDS)   /* board_of() */
#define USES(operation) ((operation) / BOARDS)    /* QueueState::use_board() */

typedef Counter { byte value, wanted, waiters }
Counter arrived[BOARDS], announced[BOARDS];
byte record[RANKS * BOARDS];   /* Of each rank: the operation whose record lies there. */
byte result[BOARDS];           /* The announcement: of which operation. */
bit rung[RANKS * STEP]    ;   /* The doorbell of a rank, as each of its operations saw it. */
bit complete[RANKS * OPERATIONS];
byte front[RANKS];             /* The first operation of a rank that is not complete. */

inline notify(c) {             /* Effects::notify, Doorbells::ring */
    atomic { c.value++; now = c.value }
    if
    :: atomic { c.waiters == 0 || now < c.wanted -> now = 0 }
    :: atomic { else -> now = 0;
           do
           :: now < RANKS * STEP ->
               rung[now] = rung[now] | ((c.waiters >> (now / STEP)) & 1); now++
           :: else -> break
           od;
           c.waiters = 0; now = 0 }
    fi
}

inline await(c, needed) {      /* Effects::await, again at each ring */
    do
    :: c.value >= needed -> break
    :: atomic { else -> rung[self] = 0 }
        c.wanted = needed;
        c.waiters = c.waiters | (1 << rank);
        if
#if FAULT != 5
        :: c.value >= needed -> break
        :: else ->
#else
        ::
#endif
            rung[self]
        fi
    od
}

/* The operations of a rank whose numbers are equal modulo those under way: it has one at a time. */
proctype Operations(byte self; byte rank; byte operation) {
    byte other, now;
    do
    :: operation >= OPERATIONS -> break
    :: atomic { operation < OPERATIONS && operation < front[rank] + UNDER_WAY + (FAULT == 4) ->
           record[rank * BOARDS + BOARD(operation)] = operation }  /* copy(record, board) */
        notify(arrived[BOARD(operation)]);
        if
        :: rank == 0 ->                                /* ReductionBuilder, of the leader */
            await(arrived[BOARD(operation)], (USES(operation) + 1) * RANKS - (FAULT == 2));
            do                                         /* merge(board, record) */
            :: other < RANKS ->
                atomic { assert(record[other * BOARDS + BOARD(operation)] == operation); other++ }
            :: atomic { else -> other = 0 } break
            od;
#if FAULT == 3
            notify(announced[BOARD(operation)]);
            result[BOARD(operation)] = operation
#else
            result[BOARD(operation)] = operation;      /* copy(record, announcement) */
            notify(announced[BOARD(operation)])
#endif
        :: else ->
            await(announced[BOARD(operation)], USES(operation) + 1);
            assert(result[BOARD(operation)] == operation)  /* copy(announcement, record) */
        fi;
        atomic {                                       /* OperationQueue::progress */
            complete[rank * OPERATIONS + operation] = 1;
            do
            :: front[rank] < OPERATIONS && complete[rank * OPERATIONS + front[rank]] ->
                front[rank]++
            :: else -> break
            od;
            operation = operation + STEP }
    od
}

init {
    atomic { byte r, o;
        for (r : 0 .. RANKS - 1) {
            for (o : 0 .. STEP - 1) { run Operations(r * STEP + o, r, o) } } }
}
