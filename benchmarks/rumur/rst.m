/* RST, the matrix protocol of Raynal, Schiper and Toueg (1991), as in protocols/rst.py and in
   ../spin/rst.pml, whose variables and steps have the same names. In protocols/rst.py, matrices and
   vectors also have entries of an actor for itself, which stay 0 because nobody sends to itself. */

#include "history.m"

/* A matrix is a vector with an entry for each ordered pair of actors, column by column. */
#define CELLS (ACTORS * (ACTORS - 1))
#if CELLS * WIDTH > 30
#error "a matrix needs more than 30 bits"
#endif
#define MATRIX 0 .. (1 << CELLS * WIDTH) - 1
#define pair(j, k) ((k) * (ACTORS - 1) + other(j, k))
#define column(matrix, k) ((matrix) >> (k) * (ACTORS - 1) * WIDTH & (one(ACTORS - 1) - 1))

var
  SENT: array [actor] of MATRIX;      /* how many messages each actor sent to each other one */
  DELIV: array [actor] of CLOCK;      /* how many of each other actor are delivered here */
  SENT_m: array [message] of MATRIX;  /* of an undelivered message; otherwise 0 */

/* Sending messages, steps 1 and 2. */
procedure attach(i: actor; j: actor; m: message);
begin
  SENT_m[m] := SENT[i];
  SENT[i] := SENT[i] + one(pair(i, j));
end;

/* Delivering messages (or not). The last entry is 0 on both sides. */
#define all_delivered(k) & entry(DELIV[j], k) >= entry(column(SENT_m[m], j), k)
function deliverable(i: actor; m: message; j: actor): boolean;
begin
  return true EACH_ACTOR(all_delivered);
end;

/* After delivering a message, steps 1 to 3. */
#define larger_sent(i, k) | larger(entry(SENT[j], pair(i, k)), entry(SENT_m[m], pair(i, k)))
procedure after_delivery(i: actor; m: message; j: actor);
begin
  DELIV[j] := DELIV[j] + one(other(i, j));
  SENT[j] := SENT[j] + one(pair(i, j));
  SENT[j] := 0 EACH_PAIR(larger_sent);
  SENT_m[m] := 0;
end;

#define start_protocol(i) SENT[i] := 0; DELIV[i] := 0;
#define start_stamp(i, k) SENT_m[message(i, k)] := 0;

#include "mail_room.m"
