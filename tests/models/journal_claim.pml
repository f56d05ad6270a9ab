/* Who has a journal: a program that a script starts claims it, the next one after it may have it,
 * and the keeper writes what a program left that was killed.
 * src/behind/journal_claim.cpp, tools/keeper.cpp (await_end, write_out); decision 0054.
 *
 * A script starts two programs, the second when the first has ended; then it may end before the
 * second has. Each delays one write of the same byte, or makes it at once where it has no journal.
 * Either may be killed at any step. What a journal had must reach the file, and nothing older may
 * be written over what is newer.
 *
 * fault 1 (assertion): who claims the journal does not wait for the keeper.
 * fault 2 (assertion): the keeper ends claims whoever has the journal by then.
 * fault 3 (assertion): a program gives the journal back before its write is in the file.
 * fault 4 (assertion): the keeper says that it has written before it has.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef PROGRAMS
#define PROGRAMS 2
#endif
#define NOBODY 0
#define OVER 8                         /* journal_is_over */
#define WRITTEN 9                      /* journal_is_written */

byte owner;                            /* JournalHeader::owner */
byte record, file;                     /* Of which program; 0: none. */
byte may_start = 1;                    /* Programs that the script has started. */
bit ended[WRITTEN + 1], killed[PROGRAMS + 1], script_ended, keeper_ended;

#define IS_UNWRITTEN (owner != NOBODY && owner != WRITTEN && (owner == OVER || ended[owner]))

proctype Program(byte self) {
    bit is_mine;
    {
        may_start >= self;
#if FAULT != 1
        !IS_UNWRITTEN;                 /* await_keeper() */
#endif
        atomic {                       /* take(): compare and swap */
            is_mine = owner == NOBODY;
            owner = (is_mine -> self : owner) }
        if
        :: is_mine ->
            record = self;             /* Entry::commit: the call returns. */
#if FAULT == 3
            owner = NOBODY;
#endif
            file = self;
            record = 0;
            owner = NOBODY             /* release_journal() */
        :: else -> file = self         /* Nothing of it is delayed. */
        fi
    } unless { killed[self] };
    ended[self] = 1
}

active proctype Script() {
    byte program = 1;
    do
    :: program < PROGRAMS -> ended[program]; program++; may_start = program
    :: else -> break
    od;
    script_ended = 1
}

active proctype Keeper() {
    byte seen;
    do                                 /* await_end(), watch_claims() */
    ::  seen = owner;
        if
        :: owner != seen
        :: seen == NOBODY && script_ended ->
            atomic { if :: owner == seen || FAULT == 2 -> owner = OVER; break :: else fi }
        :: seen != NOBODY && ended[seen] ->  /* end_claims(): compare and swap */
            atomic { if :: owner == seen || FAULT == 2 -> owner = OVER; break :: else fi }
        fi
    od;
#if FAULT == 4
    owner = WRITTEN;
#endif
    if                                 /* write_out() */
    :: record != 0 ->
        seen = record;
        atomic { assert(file <= seen); file = seen }
        record = 0
    :: else
    fi;
    owner = WRITTEN;                   /* note_written() */
    keeper_ended = 1
}

active proctype Killer() {
    byte program = 1;
    do
    :: program <= PROGRAMS -> if :: killed[program] = 1 :: skip fi; program++
    :: else -> break
    od
}

init {
    atomic { byte i; for (i : 1 .. PROGRAMS) { run Program(i) } }
    keeper_ended && ended[PROGRAMS] -> assert(record == 0)
}
