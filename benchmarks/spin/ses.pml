/* SES, the protocol of Schiper, Eggli and Sandoz (1989), as in protocols/ses.py. */

#include "bounds.pml"
#include "history.pml"

/* A time is a clock, and V has a time per destination, or 0 without one. An actor has no pair for
   itself, so that its V has a place for each other actor. */
#define PLACES (ACTORS - 1)
#define V_P(i, j) V[(i) * PLACES + other(j, i)]
#define V_M(m, j) V_m[(m) * PLACES + other(j, sender(m))]

CLOCK T[ACTORS];
CLOCK V[ACTORS * PLACES];
CLOCK t_m[ACTORS * MESSAGES];           /* of an undelivered message; otherwise 0 */
CLOCK V_m[ACTORS * MESSAGES * PLACES];  /* of an undelivered message; otherwise 0 */

/* Emission of a message. */
#define copy_pair(k) if :: k != i -> V_M(m, k) = V_P(i, k) :: else fi;
inline attach(i, j, m) {
    T[i] = T[i] + one(i);
    t_m[m] = T[i];
    EACH_ACTOR(copy_pair)
    V_P(i, j) = T[i]
}

/* Arrival of a message. */
#define reached(k) && entry(V_M(next, at), k) <= entry(T[at], k)
#define deliverable (true EACH_ACTOR(reached))

#define merge_pair(k) \
    if :: k != i && k != j -> merge(V_P(j, k), V_M(m, k)) :: else fi; \
    if :: k != i -> V_M(m, k) = 0 :: else fi;
inline after_delivery(i, m, j) {
    EACH_ACTOR(merge_pair)
    merge(T[j], t_m[m]);
    t_m[m] = 0
}

#include "mail_room.pml"
