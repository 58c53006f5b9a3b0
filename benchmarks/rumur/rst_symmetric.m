/* RST with its actors in a scalarset, so that rumur can reduce symmetry. The system is that of rst.m
   under the history `clocks`. It has rulesets and loops, because a scalarset has no constants, and
   entries of an actor for itself. In matrices and in DELIV, these are always 0. */

#ifdef KNOWLEDGE
#error "this model has only the history clocks"
#endif

type
  actor: scalarset(ACTORS);
  number: 0 .. MESSAGES - 1;
  count: 0 .. MESSAGES;
  vector: array [actor] of count;
  matrix: array [actor] of vector;

var
  destination: array [actor] of array [number] of actor;  /* of an undelivered message */
  held_back: array [actor] of array [number] of boolean;
  clock: array [actor] of vector;
  stamp: array [actor] of array [number] of vector;   /* of an undelivered message; otherwise 0 */
  SENT: array [actor] of matrix;
  DELIV: array [actor] of vector;
  SENT_m: array [actor] of array [number] of matrix;  /* of an undelivered message; otherwise 0 */

#define larger(one, other) ((one) > (other) ? (one) : (other))
#define may_send(i) (clock[i][i] < MESSAGES)
#define is_undelivered(i, k) (!isundefined(destination[i][k]))
#define is_in_flight(i, k) (is_undelivered(i, k) & !held_back[i][k])
#define is_deliverable(i, k, j) (forall l: actor do DELIV[j][l] >= SENT_m[i][k][l][j] end)

procedure attach(i: actor; k: number; j: actor);
begin
  SENT_m[i][k] := SENT[i];
  SENT[i][i][j] := SENT[i][i][j] + 1;
end;

procedure after_delivery(i: actor; k: number; j: actor);
begin
  DELIV[j][i] := DELIV[j][i] + 1;
  SENT[j][i][j] := SENT[j][i][j] + 1;
  for l: actor do
    for n: actor do
      SENT[j][l][n] := larger(SENT[j][l][n], SENT_m[i][k][l][n]);
      SENT_m[i][k][l][n] := 0;
    end;
  end;
end;

procedure record_send(i: actor; k: number; j: actor);
begin
  clock[i][i] := clock[i][i] + 1;
  destination[i][k] := j;
  stamp[i][k] := clock[i];
end;

procedure record_delivery(i: actor; k: number; j: actor);
begin
  assert "causal delivery" clock[j][i] < stamp[i][k][i];
  for l: actor do
    clock[j][l] := larger(clock[j][l], stamp[i][k][l]);
    stamp[i][k][l] := 0;
  end;
  undefine destination[i][k];
end;

procedure deliver_all(j: actor);
var again: boolean;
begin
  again := true;
  while again do
    again := false;
    for i: actor do
      for k: number do
        if held_back[i][k] & destination[i][k] = j & is_deliverable(i, k, j) then
          held_back[i][k] := false;
          after_delivery(i, k, j);
          record_delivery(i, k, j);
          again := true;
        end;
      end;
    end;
  end;
end;

startstate begin
  for i: actor do
    for l: actor do
      clock[i][l] := 0;
      DELIV[i][l] := 0;
      for n: actor do SENT[i][l][n] := 0; end;
    end;
    for k: number do
      held_back[i][k] := false;
      for l: actor do
        stamp[i][k][l] := 0;
        for n: actor do SENT_m[i][k][l][n] := 0; end;
      end;
    end;
  end;
end;

ruleset i: actor; j: actor do
  rule "causal send" i != j & may_send(i) ==>
  var k: number;
  begin
    k := clock[i][i];
    attach(i, k, j);
    record_send(i, k, j);
  end;
end;

ruleset i: actor; k: number do
  rule "receive" is_in_flight(i, k) ==>
  var j: actor;
  begin
    j := destination[i][k];
    held_back[i][k] := true;
    if is_deliverable(i, k, j) then deliver_all(j); end;
  end;
end;

rule "all-delivered at final states"
  forall i: actor do !may_send(i) & forall k: number do !is_in_flight(i, k) end end
  & exists i: actor do exists k: number do is_undelivered(i, k) end end
==> begin
  error "a message is never delivered";
end;
