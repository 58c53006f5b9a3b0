/* The packets in flight, in both protocols.

   The messages of an actor leave its output buffer in the order of their sends, so that how many it
   posted says which are still in it; a posted message is in flight until it is delivered. */

#include "history.m"

var
  posted: array [actor] of count;  /* how many messages left the output buffer */
  acks: array [actor] of array [actor] of flag;  /* an ACK from the second to the first */

procedure acknowledge(i: actor; j: actor);
begin
  assert "one ACK at a time" isundefined(acks[i][j]);
  acks[i][j] := yes;
end;

#define is_in_flight(i, k) (k < posted[i] & is_undelivered(i, k))
#define is_acknowledged(i, j) (!isundefined(acks[i][j]))

#define no_ack(i, j) & !is_acknowledged(i, j)
