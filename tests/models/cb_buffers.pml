/* Collective buffers that the ranks of a node share: the first rank that needs a round's buffer
 * takes one for all, each rank copies its bytes into it, the aggregator writes and gives it back.
 * src/file/run/node_cb_buffers.cpp, cb_buffer_pool.hpp, effects.cpp, src/file/plan/round_order.hpp,
 * schedule_round.cpp (contribute, own_write); decision 0050.
 *
 * One node, covered writes. Rank a is aggregator a; all ranks have bytes for aggregator 0, for the
 * others they alone. Buffer 0 is the last resort. A process here is what one rank does for one
 * aggregator; a ring wakes all of a rank. No buffer may have two rounds, no round may be written
 * before all have copied, nothing may be copied into a round that is over, and all must come to
 * their end.
 *
 * fault 1 (assertion): the turn advances before the buffer is given back.
 * fault 2 (assertion): the buffer is given back before its bytes are written.
 * fault 3 (end state): who found no buffer does not look again when others know of it.
 * fault 4 (assertion): who was second in a round keeps its buffer.
 * fault 5 (end state): who gives one back does not ring.
 * fault 6 (assertion): posts are counted from the first round on.
 * fault 7 (end state): a round is taken to have ended one turn too late.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef RANKS
#define RANKS 2
#endif
#ifndef AGGREGATORS
#define AGGREGATORS 2
#endif
#ifndef SLOTS              /* cb_buffers_per_aggregator: rounds of an aggregator under way. */
#define SLOTS 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef BUFFERS            /* The most, with the last resort; there may be fewer. */
#define BUFFERS 2
#endif
#define ROUNDS_OF(a) (ROUNDS - (a))     /* So that one aggregator is done before the other. */
#define HAS_BYTES(r, a) ((a) == 0 || (r) == (a))
#define CLAIMANTS(a) ((a) == 0 -> RANKS : 1)
#define PLACE(a, round) ((a) * SLOTS + (round) % SLOTS)
#define TURN(round) (2 * ((round) / SLOTS))

byte turn[AGGREGATORS * SLOTS], posted[AGGREGATORS * SLOTS], settled[AGGREGATORS * SLOTS];
byte own[AGGREGATORS * SLOTS];          /* SharedRegion::cb_buffer_of: from 1 on; 0: none. */
byte of_turn[AGGREGATORS * SLOTS], of_posted[AGGREGATORS * SLOTS], of_pool;  /* Who waits. */
byte buffers, used;                     /* How many there are; those in use, as bits. */
byte holder[BUFFERS], bytes[BUFFERS];   /* Which round it has, and which ranks have copied. */
bit rung[RANKS * AGGREGATORS * SLOTS];
byte over;

inline ring(mask) {                     /* Doorbells::ring */
    atomic {
        at = 0;
        do
        :: at < RANKS * AGGREGATORS * SLOTS ->
            rung[at] = rung[at] | ((mask >> (at / (AGGREGATORS * SLOTS))) & 1); at++
        :: else -> at = 0; break
        od;
        mask = 0 }
}

inline ring_for_cb_buffers() {
    if :: of_pool == 0 || FAULT == 5 :: else -> ring(of_pool) fi
}

/* All rounds before this one have ended, in the order of RoundOrder. */
inline comes_next() {
    atomic {
        next = 1; at = 0;
        do
        :: at < AGGREGATORS * ROUNDS ->
            if
            :: (at / AGGREGATORS < round && at / AGGREGATORS < ROUNDS_OF(at % AGGREGATORS)) ||
               (at / AGGREGATORS == round && at % AGGREGATORS < a) ->
                next = next && turn[PLACE(at % AGGREGATORS, at / AGGREGATORS)] >=
                               TURN(at / AGGREGATORS) + 2 + (FAULT == 7)
            :: else
            fi;
            at++
        :: else -> at = 0; break
        od }
}

inline find_cb_buffer() {               /* take_cb_buffer, then the round gets it. */
    found = BUFFERS;
    at = 1;
    do
    :: atomic { at < buffers && !(used & (1 << at)) -> found = at; at = 0 }
       atomic {                         /* CbBufferPool::mark */
           if
           :: used & (1 << found) -> at = found + 1; found = BUFFERS
           :: else -> used = used | (1 << found)
           fi }
       if :: found < BUFFERS -> break :: else fi
    :: atomic { at < buffers && (used & (1 << at)) -> at++ }
    :: atomic { at >= buffers -> at = 0 } break
    od;
    if
    :: found == BUFFERS && !(used & 1) ->
        comes_next();
        atomic { if :: next && !(used & 1) -> used = used | 1; found = 0 :: else fi; next = 0 }
    :: else
    fi;
    if
    :: found < BUFFERS ->
        atomic {                        /* compare_exchange_strong */
            second = own[p] != 0;
            own[p] = (second -> own[p] : found + 1) }
        atomic { if
            :: second && FAULT != 4 -> used = used & ~(1 << found)
            :: else
            fi; second = 0; found = BUFFERS }
        ring_for_cb_buffers()
    :: else
    fi
}

proctype Rounds(byte self; byte r; byte a; byte round) {
    byte p, at, found = BUFFERS;
    bit next, second;
    p = PLACE(a, round);
    do
    :: round >= ROUNDS_OF(a) -> break
    :: round < ROUNDS_OF(a) ->
        do                              /* Effects::await(turn), which obtains */
        ::  atomic { rung[self] = 0;
                if
                :: turn[p] >= TURN(round)
                :: else -> of_turn[p] = of_turn[p] | (1 << r)
                fi }
            if
            :: turn[p] < TURN(round) -> rung[self]
            :: turn[p] >= TURN(round) ->  /* obtain_cb_buffer */
                if :: own[p] != 0 :: else -> find_cb_buffer() fi;
                if
                :: own[p] != 0 -> break
                :: else ->
                    of_pool = of_pool | (1 << r);
#if FAULT != 3
                    if :: own[p] != 0 :: else -> find_cb_buffer() fi;
                    if :: own[p] != 0 -> break :: else fi;
#endif
                    rung[self]
                fi
            fi
        od;
        atomic {                        /* copy(user, cb_buffer) */
            found = own[p] - 1;
            assert(own[p] != 0 && (used & (1 << found)));
            assert(holder[found] == 0 || holder[found] == p + 1);
            assert(!(bytes[found] & (1 << r)));
            holder[found] = p + 1;
            bytes[found] = bytes[found] | (1 << r) }
        posted[p]++;                    /* Effects::notify */
        if :: of_posted[p] == 0 :: else -> ring(of_posted[p]) fi;
        if
        :: r != a
        :: r == a ->
            do                          /* Effects::await(posted) */
            :: posted[p] >= (FAULT == 6 -> 0 : settled[p]) + CLAIMANTS(a) -> break
            :: else ->
                rung[self] = 0;
                of_posted[p] = of_posted[p] | (1 << r);
                if :: posted[p] >= settled[p] + CLAIMANTS(a) :: else -> rung[self] fi
            od;
#if FAULT == 2
            used = used & ~(1 << found);
#endif
            atomic {                    /* write(cb_buffer), of all ranks' bytes */
                assert(holder[found] == p + 1);
                assert(bytes[found] == (a == 0 -> (1 << RANKS) - 1 : 1 << a));
                holder[found] = 0; bytes[found] = 0;
                settled[p] = posted[p] }  /* Effects::settle */
#if FAULT == 1
            turn[p] = turn[p] + 2;
#endif
            atomic { found = own[p] - 1; own[p] = 0 }  /* give_back_cb_buffer */
            used = used & ~(1 << found);
#if FAULT != 1
            turn[p] = turn[p] + 2;      /* Effects::notify(turn) */
#endif
            ring_for_cb_buffers();
            if :: of_turn[p] == 0 :: else -> ring(of_turn[p]) fi
        fi;
        atomic { found = BUFFERS; round = round + SLOTS }
    od;
    over++
}

init {
    byte i;
    atomic {
        if :: buffers = 1 :: buffers = BUFFERS fi;
        for (i : 0 .. RANKS * AGGREGATORS * SLOTS - 1) {
            if
            :: HAS_BYTES(i / (AGGREGATORS * SLOTS), (i / SLOTS) % AGGREGATORS) ->
                run Rounds(i, i / (AGGREGATORS * SLOTS), (i / SLOTS) % AGGREGATORS, i % SLOTS)
            :: else -> over++
            fi
        }
    }
    over == RANKS * AGGREGATORS * SLOTS -> assert(used == 0)
}
