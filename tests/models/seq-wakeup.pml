/* SPDX-License-Identifier: Apache-2.0 */

/* The wait and wake-up handshake of lib/sync/seq.c.
 *
 * WAITERS threads wait for one seq that CHANGERS threads change CHANGES times
 * each.  A waiter waits ROUNDS times, sometimes wakes up for another reason,
 * and exits.  Each step below is one atomic operation of the source, and all
 * of those are sequentially consistent or need no order of their own, so plain
 * interleaving is the whole truth.
 *
 * Checked:
 *    - When nothing moves any more, no waiter sleeps for a number that has
 *      changed: a wake-up is never lost.
 *    - A bell is not rung after it was destroyed.
 *    - A ticket is freed once, and all are in the end.
 *
 * Faults to be caught, each by its own -D:
 *    FAULT_LOOK_FIRST    seq_change() looks into the box before it adds.
 *    FAULT_NO_LOOK       seq_wait() does not look at the number after arming.
 *    FAULT_BLIND_DISARM  seq_woke() stores IDLE whatever the state was.
 *    FAULT_NO_REF        A ticket holds no reference to the bell. */

#ifndef WAITERS
#define WAITERS 2               /* At most 2. */
#endif
#ifndef CHANGERS
#define CHANGERS 2
#endif
#ifndef CHANGES
#define CHANGES 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

mtype = { OUT, ARMED, IDLE, ORPHAN };

byte value;                     /* The seq's number. */
byte box;                       /* The box, a bit per waiter's ticket. */

mtype state[WAITERS] = OUT;     /* Of each waiter's ticket. */
bool freed[WAITERS];

bool bell[WAITERS];             /* A byte is in the pipe? */
byte bell_refs[WAITERS] = 1;

bool sleeping[WAITERS];         /* Nothing but the bell wakes it up. */
byte sleeps_for[WAITERS];

byte n_working = WAITERS + CHANGERS;

/* Local variables are cleared after use, which keeps the number of states
 * down, and steps that concern only local variables are joined with the
 * shared one before them. */

inline bell_unref(i)
{
    atomic {
        assert(bell_refs[i] > 0);
        bell_refs[i]--;
    }
}

/* ticket_ring() */
inline ring(i)
{
    atomic { old = state[i]; state[i] = OUT; }
    if
    :: old == ARMED ->
        d_step { assert(bell_refs[i] > 0); bell[i] = true; old = 0; }
    :: old == ORPHAN ->
        d_step { assert(!freed[i]); freed[i] = true; old = 0; }
    :: else -> old = 0
    fi;
#ifndef FAULT_NO_REF
    bell_unref(i)
#endif
}

/* seq_ring_all() */
inline ring_all()
{
    atomic { taken = box; box = 0; }
    do
    :: taken & 1 -> taken = taken & ~1; ring(0)
    :: taken & 2 -> taken = taken & ~2; ring(1)
    :: !taken -> break
    od
}

proctype changer()
{
    byte taken, n;
    bool look;
    mtype old;

    do
    :: n < CHANGES ->
#ifdef FAULT_LOOK_FIRST
        look = box != 0;
        value++;
#else
        value++;
        look = box != 0;
#endif
        if
        :: look -> look = false; ring_all()
        :: else
        fi;
        n++
    :: n == CHANGES -> break
    od;
    n_working--
}

/* Beginning of a sleep in poll_block(), from which only the bell wakes up, or
 * something else. */
inline sleep()
{
    if
    :: atomic { sleeps_for[me] = seen; sleeping[me] = true; seen = 0; }
end_sleep:
       atomic { bell[me] -> sleeping[me] = false; sleeps_for[me] = 0; }
    :: seen = 0
    fi
}

proctype waiter(byte me)
{
    byte taken, n, seen;
    mtype old;

    do
    :: n < ROUNDS ->
        seen = value;           /* seq_read() */

        /* ticket_arm() */
        d_step {
            old = state[me];
            if
            :: old == IDLE -> state[me] = ARMED
            :: else
            fi
        }
        if
        :: old == OUT ->
            d_step {            /* Nobody else has it before the put. */
                state[me] = ARMED;
#ifndef FAULT_NO_REF
                bell_refs[me]++;
#endif
                old = 0;
            }
            box = box | (1 << me)
        :: else -> old = 0
        fi;

        /* The look, and poll_block(). */
#ifdef FAULT_NO_LOOK
        sleep();
#else
        if
        :: value != seen -> seen = 0
        :: value == seen -> sleep()
        fi;
#endif

        /* seq_woke() */
#ifdef FAULT_BLIND_DISARM
        state[me] = IDLE;
#else
        atomic {
            if
            :: state[me] == ARMED -> state[me] = IDLE
            :: else
            fi
        }
#endif
        bell[me] = false;
        n++
    :: n == ROUNDS -> break
    od;

    /* ticket_abandon(), at the exit of the thread. */
    atomic { old = state[me]; state[me] = ORPHAN; }
    if
    :: old == OUT -> d_step { assert(!freed[me]); freed[me] = true; old = 0; }
    :: else -> old = 0; ring_all()
    fi;
    bell_unref(me);
    n_working--
}

/* Runs when nobody else can. */
active proctype judge()
{
    byte i;

    timeout;
    d_step {
        do
        :: i < WAITERS ->
            assert(!sleeping[i] || sleeps_for[i] == value);
            assert(n_working > 0 || (freed[i] && !bell_refs[i]));
            i++
        :: else -> break
        od
    }
}

init
{
    byte i;

    atomic {
        do
        :: i < WAITERS -> run waiter(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < CHANGERS -> run changer(); i++
        :: else -> break
        od
    }
}
