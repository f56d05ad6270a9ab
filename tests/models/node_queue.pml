/* A node queue: a ring of cells and a pool of bytes between two ranks, with one sender and one
 * receiver. A cell says itself that it is full; credits tell what was taken, a quarter at a time.
 * src/transport/node_queue.cpp, OutQueue and InQueue; decision 0021.
 *
 * Messages have any length, in cache lines; one without lines lies in its cell. They are enough for
 * the counters to wrap, as the 32 bits of the library do. No byte may be written over before it was
 * read, or read before it was written, and the sender always finds room again. Sleeping and rings
 * are in doorbell.pml: here who finds nothing simply waits.
 *
 * fault 1 (assertion): the cell says that it is full before its bytes are there.
 * fault 2 (assertion): the credit is given before the bytes are read.
 * fault 3 (assertion): the sender takes one cell more than there are.
 * fault 4 (end state): credits are told only when all cells or all of the pool were taken.
 * fault 5 (assertion): what is skipped at the end of the pool is not counted.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef CELLS
#define CELLS 4
#endif
#ifndef POOL
#define POOL 8
#endif
#ifndef QUARTER        /* Of the cells, and of the pool: body_max() and take(). */
#define QUARTER 4
#endif
#ifndef MESSAGES
#define MESSAGES 9     /* One more than WRAP_CELLS. */
#endif
#define WRAP (2 * POOL)
#define WRAP_CELLS (2 * CELLS)
#define SINCE(later, earlier) ((later + WRAP - earlier) % WRAP)
#define CELLS_SINCE(later, earlier) ((later + WRAP_CELLS - earlier) % WRAP_CELLS)
#define BODY_MAX (POOL / QUARTER)
#define TOLD_AT(all) (FAULT == 4 -> all : all / QUARTER)

typedef Cell { byte filled, pool_end, lines; bit unread }
Cell cell[CELLS];
bit unread[POOL];      /* Bytes lie there that the receiver has not read yet. */
byte credit_cells, credit_pool;

active proctype Sender() {     /* OutQueue::post */
    byte filled, pool_end, taken, pool_taken, lines, skipped, i, sent;
    do
    :: sent == MESSAGES -> break
    :: atomic { sent < MESSAGES -> sent++ }
       select(lines : 0 .. BODY_MAX);
        atomic {
            i = pool_end % POOL;
            skipped = (i + lines > POOL -> POOL - i : 0) }
        do                     /* has_room() */
        :: CELLS_SINCE(filled, taken) < CELLS + (FAULT == 3) &&
           SINCE(pool_end, pool_taken) + skipped + lines <= POOL -> break
        :: else ->             /* Waits for the next credit. */
           atomic { credit_cells != taken || credit_pool != pool_taken ->
               taken = credit_cells }
           pool_taken = credit_pool
        od;
        i = (skipped > 0 -> 0 : i);
#if FAULT == 1
        cell[filled % CELLS].filled = (filled + 1) % WRAP_CELLS;
#endif
        atomic {
            assert(!cell[filled % CELLS].unread);
            cell[filled % CELLS].unread = 1;
            cell[filled % CELLS].lines = lines }
        do
        :: lines > 0 ->
            atomic { assert(!unread[i]); unread[i] = 1; i++; lines--;
                     pool_end = (pool_end + 1) % WRAP }
        :: else -> break
        od;
        atomic {
#if FAULT != 5
            pool_end = (pool_end + skipped) % WRAP;
#endif
            i = 0; skipped = 0 }
        cell[filled % CELLS].pool_end = pool_end;
#if FAULT != 1
        cell[filled % CELLS].filled = (filled + 1) % WRAP_CELLS;  /* Release: all is there. */
#endif
        filled = (filled + 1) % WRAP_CELLS
    od
}

active proctype Receiver() {
    byte taken, pool_taken, told, pool_told, at, lines;
end:
    do
    ::  cell[taken % CELLS].filled == (taken + 1) % WRAP_CELLS;   /* InQueue::next */
#if FAULT == 2
        credit_cells = (taken + 1) % WRAP_CELLS;
        credit_pool = cell[taken % CELLS].pool_end;
#endif
        lines = cell[taken % CELLS].lines;                  /* InQueue::body_of */
        at = SINCE(cell[taken % CELLS].pool_end, lines) % POOL;
        do
        :: lines > 0 ->
            atomic { assert(unread[at]); unread[at] = 0; at++; lines-- }
        :: else -> break
        od;
        atomic { assert(cell[taken % CELLS].unread); cell[taken % CELLS].unread = 0 }
        atomic { pool_taken = cell[taken % CELLS].pool_end; /* InQueue::take */
            taken = (taken + 1) % WRAP_CELLS; at = 0 }
        if
        :: CELLS_SINCE(taken, told) >= TOLD_AT(CELLS) ||
           SINCE(pool_taken, pool_told) >= TOLD_AT(POOL) ->
            atomic { told = taken; credit_cells = taken }
            atomic { pool_told = pool_taken; credit_pool = pool_taken }
        :: else
        fi
    od
}
