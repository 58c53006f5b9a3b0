/* Cykas (Tong, Liittschwager, Kuper: Can you keep a secret?), as in protocols/cykas.py and in
   ../spin/cykas.pml; with -DSECRET_MODE the broken variant of protocols/cykas_secret_mode.py. */

#include "packets.m"

/* A queue of EAGER_SENT is a number: an element has a bit for each actor and, above them, one that
   is always set, so that 0 is the empty queue. The oldest element is the lowest. An actor has at
   most MESSAGES - 1 eager sends waiting, because the first message of several is a normal send. */
#define ELEMENT (ACTORS + 1)
#define QUEUE 0 .. (1 << ELEMENT * (MESSAGES - 1)) - 1
#define in_every_element(bits) \
  ((bits) | (bits) << ELEMENT | (bits) << 2 * ELEMENT | (bits) << 3 * ELEMENT)
#define oldest(elements) ((elements) & (only(ELEMENT) - 1))

var
  UNACK: array [actor] of 0 .. only(ACTORS) - 1;  /* a set of receivers */
  MODE: array [actor] of 0 .. (ACTORS - 1) * (MESSAGES - 1);
  EAGER_SENT: array [actor] of array [actor] of QUEUE;
  eager: array [message] of flag;  /* an undelivered message in flight is an Eager Send */
  ycts: array [actor] of array [actor] of 0 .. MESSAGES - 1;  /* in flight, first to second */

#ifdef SECRET_MODE
var confidant: array [actor] of actor;
#define may_post(i, j) (MODE[i] = 0 | !isundefined(confidant[i]) & confidant[i] = j)
#define confide(j, i) confidant[j] := i;
#define end_of_confidence(i) if MODE[i] = 0 then undefine confidant[i]; end;
#else
#define may_post(i, j) (MODE[i] = 0)
#define confide(j, i)
#define end_of_confidence(i)
#endif

procedure enqueue(i: actor; j: actor);
var length: 0 .. ELEMENT * MESSAGES;
begin
  length := 0;
  while EAGER_SENT[i][j] >> length != 0 do
    length := length + ELEMENT;
  end;
  EAGER_SENT[i][j] := EAGER_SENT[i][j] + (only(ACTORS) + UNACK[i] << length);
end;

/* Algorithm 2. */
#define head(i) destination[message(i, posted[i])]
procedure try_send_message(i: actor);
var next: actor;
begin
  while posted[i] < number_sent(i) & may_post(i, head(i)) & (UNACK[i] & only(head(i))) = 0 do
    next := head(i);
    if UNACK[i] != 0 then
      eager[message(i, posted[i])] := yes;
      enqueue(i, next);
    end;
    UNACK[i] := UNACK[i] | only(next);
    posted[i] := posted[i] + 1;
  end;
end;

/* Algorithm 4, TRY_SEND_YCT, after the bit of actor j is cleared in every element. */
#define try_send_yct(r) \
  EAGER_SENT[i][r] := EAGER_SENT[i][r] & ~in_every_element(only(j)); \
  while oldest(EAGER_SENT[i][r]) = only(ACTORS) & (UNACK[i] & only(r)) = 0 do \
    ycts[i][r] := ycts[i][r] + 1; \
    EAGER_SENT[i][r] := EAGER_SENT[i][r] >> ELEMENT; \
  end;

procedure try_send_ycts(i: actor; j: actor);
begin
  EACH_ACTOR(try_send_yct)
end;

#define is_told(i, j) (ycts[i][j] > 0)

/* Algorithm 1. */
#define causal_send(i, j) \
  rule "causal send" may_send(i) ==> begin \
    record_send(i, j); \
    try_send_message(i); \
  end;

/* Algorithm 3. */
#define deliver_to(j) \
  case j: \
    acknowledge(sender, j); \
    if !isundefined(eager[m]) then \
      undefine eager[m]; \
      MODE[j] := MODE[j] + 1; \
      confide(j, sender) \
    end; \
    end_of_confidence(j) \
    record_delivery(sender, m, j);
#define receive_deliver(i, k) \
  rule "receive deliver" is_in_flight(i, k) ==> \
  const sender: i; m: message(i, k); \
  begin \
    switch destination[m] EACH_ACTOR(deliver_to) end; \
  end;

/* Algorithm 4, with line 8 after the loop. */
#define receive_ack(i, j) \
  rule "receive ACK" is_acknowledged(i, j) ==> begin \
    undefine acks[i][j]; \
    UNACK[i] := UNACK[i] & ~only(j); \
    try_send_ycts(i, j); \
    try_send_message(i); \
    end_of_confidence(i) \
  end;

/* Algorithm 5. */
#define receive_yct(i, j) \
  rule "receive YCT" is_told(i, j) ==> begin \
    ycts[i][j] := ycts[i][j] - 1; \
    MODE[j] := MODE[j] - 1; \
    try_send_message(j); \
    end_of_confidence(j) \
  end;

#define start_queue(j) EAGER_SENT[i][j] := 0; ycts[i][j] := 0;
procedure start_protocol(i: actor);
begin
  posted[i] := 0;
  UNACK[i] := 0;
  MODE[i] := 0;
  EACH_ACTOR(start_queue)
end;

startstate begin
  START_HISTORY
  for i: actor do start_protocol(i); end;
end;

EACH_PAIR(causal_send)
EACH_MESSAGE(receive_deliver)
EACH_PAIR(receive_ack)
EACH_PAIR(receive_yct)

#define no_yct(i, j) & !is_told(i, j)

rule "all-delivered at final states"
  true EACH_ACTOR(no_send) EACH_MESSAGE(no_packet) EACH_PAIR(no_ack) EACH_PAIR(no_yct)
  & SOME_UNDELIVERED
==> begin
  error "a message is never delivered";
end;
