/* The workload `any` and the causality oracle: what antecede keeps in its history, and no more.

   Without -DKNOWLEDGE, this is the history `clocks`: vector clocks of actors, and the stamps of
   undelivered messages. With it, this is the history `knowledge`: which undelivered messages
   happened before which. What is forgotten is undefined or 0, so that equal states are equal bits.

   The macros of ../spin/bounds.pml write one rule per transition, because rumur's verifiers are
   several times as fast with constant indices as with rulesets and loops. Types of numbers with
   bitwise operators are macros, because rumur 2022.08.20 rejects such operators on named types. */

#include "../spin/bounds.pml"

type
  actor: 0 .. ACTORS - 1;
  message: 0 .. ACTORS * MESSAGES - 1;
  count: 0 .. MESSAGES;
  flag: enum { yes };  /* yes or undefined: one bit, where a boolean needs two */

var
  destination: array [message] of actor;  /* of an undelivered message; otherwise undefined */

#define is_undelivered(i, k) (!isundefined(destination[message(i, k)]))
#define or_undelivered(i, k) | is_undelivered(i, k)
#define SOME_UNDELIVERED (false EACH_MESSAGE(or_undelivered))

#define may_send(i) (number_sent(i) < MESSAGES)
#define no_send(i) & !may_send(i)
#define no_packet(i, k) & !is_in_flight(i, k)

#define SET 0 .. (1 << ACTORS * MESSAGES) - 1

/* A vector clock is a number with WIDTH bits for each actor. */
#define CLOCK 0 .. (1 << ACTORS * WIDTH) - 1

#define larger(one, other) ((one) > (other) ? (one) : (other))

#ifdef KNOWLEDGE

var
  sent: array [actor] of count;
  knows: array [actor] of SET;     /* the undelivered messages that the actor causally knows of */
  before: array [message] of SET;  /* those that happened before this one */

#define number_sent(i) sent[i]
#define start_actor(i) sent[i] := 0; knows[i] := 0;
#define start_message(i, k) before[message(i, k)] := 0;
#define forget_at(i) knows[i] := knows[i] & ~only(m);
#define forget_before(i, k) before[message(i, k)] := before[message(i, k)] & ~only(m);

procedure record_send(i: actor; j: actor);
begin
  destination[message(i, sent[i])] := j;
  before[message(i, sent[i])] := knows[i];
  knows[i] := knows[i] | only(message(i, sent[i]));
  sent[i] := sent[i] + 1;
end;

procedure record_delivery(i: actor; m: message; j: actor);
begin
  assert "causal delivery" (knows[j] & only(m)) = 0;
  knows[j] := knows[j] | before[m];
  EACH_ACTOR(forget_at)
  EACH_MESSAGE(forget_before)
  before[m] := 0;
  undefine destination[m];
end;

#else

var
  clock: array [actor] of CLOCK;
  stamp: array [message] of CLOCK;

#define number_sent(i) (entry(clock[i], i) >> (i) * WIDTH)
#define start_actor(i) clock[i] := 0;
#define start_message(i, k) stamp[message(i, k)] := 0;
#define larger_entry(i) + larger(entry(clock[j], i), entry(stamp[m], i))

procedure record_send(i: actor; j: actor);
begin
  clock[i] := clock[i] + only(i * WIDTH);
  destination[message(i, number_sent(i) - 1)] := j;
  stamp[message(i, number_sent(i) - 1)] := clock[i];
end;

procedure record_delivery(i: actor; m: message; j: actor);
begin
  assert "causal delivery" entry(clock[j], i) < entry(stamp[m], i);
  clock[j] := 0 EACH_ACTOR(larger_entry);
  stamp[m] := 0;
  undefine destination[m];
end;

#endif

#define START_HISTORY EACH_ACTOR(start_actor) EACH_MESSAGE(start_message)
