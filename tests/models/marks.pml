/* Delayed independent writes, and the marks by which other processes see that bytes are still to
 * come, also when their rank has ended and its keeper writes them.
 * src/behind/unfinished_marks.cpp, keeper_line.cpp, journal.cpp, src/mpi/behind/write_behind.cpp,
 * independent_writes.cpp, delayed.cpp, tools/keeper.cpp; decisions 0055 and 0057.
 *
 * A rank delays writes of one byte: each call returns when its record is in the journal; storage
 * threads write in the order of the calls. It may be killed at any step. Another rank is told of a
 * call that has returned, waits for marks, reads, and writes anew. It must read what that call
 * wrote, nobody may write over its own bytes afterwards, and what was acknowledged must be there.
 *
 * fault 1 (assertion): the mark goes before the record does.
 * fault 2 (assertion): the storage thread takes the mark, when the call has returned.
 * fault 3 (assertion): the keeper gives the marks back before it has written.
 * fault 4 (assertion): the keeper does not have the marks of the rank.
 * fault 5 (assertion): marks of equal bytes are not counted: the first that goes takes all away.
 * fault 6 (assertion): the record goes before its bytes are in the file.
 * fault 7 (assertion): a storage thread does not wait for the write before.
 */
#ifndef FAULT
#define FAULT 0
#endif
#ifndef WRITES
#define WRITES 2
#endif
#define NEW (WRITES + 1)       /* What the other rank writes. */

byte file;                     /* The byte: which write it is of. */
bit record[WRITES + 1];        /* Journal slots. */
byte marks;                    /* MarkTable::held_: of this byte. */
bit lock;                      /* The system's, of the open file description. */
bit keeper_has;                /* The description: it lies in the keeper's line, or with it. */
byte returned, ended;          /* Calls; writes of storage threads. */
bit killed, told;

#define MARKED (lock && (!killed || keeper_has))  /* is_held_by_others(): a description lives. */

inline hold() {                /* MarkTable::hold, under its mutex */
    atomic { if :: marks == 0 -> lock = 1 :: else fi; marks++ }
}
inline release() {
    atomic { marks--; if :: marks == 0 || FAULT == 5 -> lock = 0 :: else fi }
}

inline put(what) {             /* In the file. */
    atomic { assert(file != NEW); file = what }
}

active proctype Program() {    /* WriteBehind::take, IndependentWrites::start */
    byte write = 1;
    {
#if FAULT != 4
        keeper_has = 1;        /* claim_inherited: give_marks() */
#endif
        do
        :: write > 1 -> told = 1; break  /* By a message of the program, its last act here. */
        :: write <= WRITES ->
#if FAULT != 2
            hold();
#endif
            record[write] = 1; /* secure(): Entry::commit */
            returned = write;
            write++
        od
    } unless { killed }
}

proctype Storage(byte write) { /* IndependentWrites::run_all */
    {
        skip;
end:
#if FAULT == 7
        returned >= write;
#else
        returned >= write && ended == write - 1;
#endif
#if FAULT == 2
        hold();
#endif
#if FAULT == 6
        record[write] = 0;
#endif
        put(write);            /* StoredFile::run */
#if FAULT == 1
        release();
        record[write] = 0;
#else
        record[write] = 0;     /* note_end: keeps.reset(), the record before the mark */
        release();
#endif
        ended++
    } unless { killed }
}

active proctype Keeper() {     /* write_out */
    byte write;
end:
    killed;                    /* rank_ends() */
#if FAULT == 3
    lock = 0;
#endif
    for (write : 1 .. WRITES) {  /* write_marked: replay, in the order of the records */
        if
        :: record[write] -> put(write); record[write] = 0
        :: else
        fi
    }
    assert(file == NEW || file >= returned);
    lock = 0                   /* HandedOver::end_marks */
}

active proctype Killer() {
    if :: killed = 1 :: skip fi
}

active proctype Other() {
    byte write;
end:
    atomic { told -> write = returned }
    !MARKED;                   /* Delayed::wait_for, wait_for_marks */
    assert(file >= write);
    file = NEW
}

init {
    atomic { byte i; for (i : 1 .. WRITES) { run Storage(i) } }
}
