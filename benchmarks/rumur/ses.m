/* SES, the protocol of Schiper, Eggli and Sandoz (1989), as in protocols/ses.py and in
   ../spin/ses.pml, whose variables and steps have the same names. */

#include "history.m"

/* A time is a clock, and V has a time per destination, or 0 without one. An actor has no pair for
   itself, so that its V has a place for each other actor. */
type
  place: 0 .. ACTORS - 2;

#define V_P(i, j) V[i][other(j, i)]
#define V_M(i, m, j) V_m[m][other(j, i)]  /* of a message m from i */

var
  T: array [actor] of CLOCK;
  V: array [actor] of array [place] of CLOCK;
  t_m: array [message] of CLOCK;                   /* of an undelivered message; otherwise 0 */
  V_m: array [message] of array [place] of CLOCK;  /* of an undelivered message; otherwise 0 */

#define later_entry(k) + larger(entry(mine, k), entry(its, k))
function later(mine: CLOCK; its: CLOCK): CLOCK;
begin
  return 0 EACH_ACTOR(later_entry);
end;

/* Emission of a message. */
#define copy_pair(k) if k != i then V_M(i, m, k) := V_P(i, k); end;
procedure attach(i: actor; j: actor; m: message);
begin
  T[i] := T[i] + one(i);
  t_m[m] := T[i];
  EACH_ACTOR(copy_pair)
  V_P(i, j) := T[i];
end;

/* Arrival of a message. */
#define reached(k) & entry(V_M(i, m, j), k) <= entry(T[j], k)
function deliverable(i: actor; m: message; j: actor): boolean;
begin
  return true EACH_ACTOR(reached);
end;

#define merge_pair(k) \
  if k != i & k != j then V_P(j, k) := later(V_P(j, k), V_M(i, m, k)); end; \
  if k != i then V_M(i, m, k) := 0; end;
procedure after_delivery(i: actor; m: message; j: actor);
begin
  EACH_ACTOR(merge_pair)
  T[j] := later(T[j], t_m[m]);
  t_m[m] := 0;
end;

#define start_protocol(i) T[i] := 0; for p: place do V[i][p] := 0; end;
#define start_stamp(i, k) \
  t_m[message(i, k)] := 0; \
  for p: place do V_m[message(i, k)][p] := 0; end;

#include "mail_room.m"
