/* SPDX-License-Identifier: Apache-2.0 */

/* The grace period, the callbacks and the barrier of lib/sync/ovs-rcu.c.
 *
 * READERS threads come back, follow a pointer, pass quiescent states and leave,
 * ROUNDS times.  One writer replaces the object UPDATES times and postpones
 * freeing the old one, and "urcu" calls what was postponed.  A last thread
 * calls ovsrcu_barrier() at any time.
 *
 * The threads' stores to 'shown', the only ones that are not part of an atomic
 * read-modify-write and whose delay matters, go through a store buffer, a
 * queue that drains at any time, as on x86.  A read-modify-write waits until
 * it is empty.
 *
 * Checked:
 *    - No reader uses an object that was freed.
 *    - The callbacks of the writer are called in order.
 *    - When the barrier returns, what was postponed before has been called.
 *    - Everything ends: nobody waits for ever, all callbacks are called.
 *
 * Faults to be caught, each by its own -D:
 *    FAULT_NO_GATE       A thread comes back without passing the gate.
 *    FAULT_LATE_TAKE     urcu begins the grace period, then empties the box.
 *    FAULT_SHOW_FIRST    A quiescent state shows before it hands over.
 *    FAULT_OLD_OK        The one who waits is content with the old epoch. */

#ifndef READERS
#define READERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef UPDATES
#define UPDATES 2
#endif

#define WRITER READERS          /* Its number, after those of the readers. */
#define THREADS (READERS + 1)
#define BARRIER 255             /* In the box: the barrier's callback. */

byte epoch = 1;
byte shown[THREADS];            /* 0 is away. */
chan stores[THREADS] = [3] of { byte };     /* On their way to 'shown'. */

byte pointer;                   /* To object 0, 1, ... */
bool freed[UPDATES + 1];

chan box = [UPDATES + 1] of { byte };
byte n_postponed, n_called;
bool barrier_reached;

/* Reads the epoch and shows it: reader_show(). */
inline tell(me)
{
    e = epoch;
    atomic { stores[me]!e; e = 0; }
}

/* An atomic read-modify-write of thread 'me' waits for its earlier stores. */
inline drain(me)
{
    atomic { empty(stores[me]); }
}

inline come_back(me)
{
    tell(me);
#ifndef FAULT_NO_GATE
    drain(me)
#endif
}

inline use_pointer()
{
    p = pointer;
    atomic { assert(!freed[p]); p = 0; }
}

/* grace_wait().  Waits for one thread after the other, which admits all that
 * the source does, where all must fulfill the condition in one look. */
inline grace()
{
    atomic { epoch++; target = epoch; i = 0; }
    do
    :: i < THREADS ->
#ifdef FAULT_OLD_OK
        atomic { (!shown[i] || shown[i] >= target - 1) -> i++; }
#else
        atomic { (!shown[i] || shown[i] >= target) -> i++; }
#endif
    :: i == THREADS -> break
    od;
    target = 0;
    i = 0
}

proctype buffer(byte me)
{
    byte e;

end:
    do
    :: atomic { stores[me]?e -> shown[me] = e; e = 0; }
    od
}

proctype reader(byte me)
{
    byte e, p, n;

    do
    :: n < ROUNDS ->
        come_back(me);
        use_pointer();
        if
        :: tell(me); use_pointer()
        :: true
        fi;
        stores[me]!0;           /* reader_leave() */
        n++
    :: n == ROUNDS -> break
    od
}

proctype writer()
{
    byte e, n;

    come_back(WRITER);
    do
    :: n < UPDATES ->
        pointer = n + 1;
        n_postponed++;          /* To free object 'n'. */

        /* ovsrcu_quiesce() */
#ifdef FAULT_SHOW_FIRST
        tell(WRITER);
#endif
        drain(WRITER);
        box!n;
#ifndef FAULT_SHOW_FIRST
        tell(WRITER);
#endif
        n++
    :: n == UPDATES -> break
    od;
    stores[WRITER]!0
}

proctype urcu()
{
    byte i, target, x, n_calls, next_object;
    byte n_taken;

    do
    :: n_calls < UPDATES + 1 ->
        nempty(box);
#ifdef FAULT_LATE_TAKE
        grace();
        n_taken = len(box);
#else
        n_taken = len(box);     /* Nobody else takes out: same as a move. */
        grace();
#endif
        do
        :: n_taken > 0 ->
            box?x;
            if
            :: x == BARRIER -> barrier_reached = true
            :: else ->
                atomic {
                    assert(x == next_object);
                    next_object++;
                    freed[x] = true;
                    n_called++;
                }
            fi;
            atomic { x = 0; n_calls++; n_taken--; }
        :: n_taken == 0 -> break
        od
    :: n_calls == UPDATES + 1 -> break
    od
}

proctype barrier()
{
    byte i, target, before;

    before = n_postponed;
    grace();                    /* ovsrcu_synchronize() */
    box!BARRIER;
    barrier_reached;
    assert(n_called >= before)
}

init
{
    byte i;

    atomic {
        do
        :: i < THREADS -> run buffer(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < READERS -> run reader(i); i++
        :: else -> break
        od;
        run writer();
        run urcu();
        run barrier();
    }
}
