// Causal broadcast in JavaScript, with a mistake: of a message's clock it looks at the sender's
// own entry only. It says its state in every answer, and is handed it with the next question.

import { createInterface } from "node:readline";

function start({ actor, actors }) {
  return { me: actor, clock: Array(actors).fill(0), waiting: [] };
}

function causalSend(state, { message }, answer) {
  state.clock[state.me] += 1;
  for (const to of message.to) {
    answer.sends.push({ to, packet: { clock: state.clock, message } });
  }
}

function receive(state, { src, packet }, answer) {
  state.waiting.push({ src, ...packet });
  for (let at = 0; at < state.waiting.length; at += 1) {
    const next = state.waiting[at];
    if (next.clock[next.src] === state.clock[next.src] + 1) {
      state.clock[next.src] += 1;
      answer.deliveries.push(next.message);
      state.waiting.splice(at, 1);
      at = -1;
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  const state = question.do === "start" ? start(question) : question.state;
  const answer = { state, sends: [], deliveries: [] };
  if (question.do === "causal-send") causalSend(state, question, answer);
  if (question.do === "receive") receive(state, question, answer);
  console.log(JSON.stringify(answer));
}
