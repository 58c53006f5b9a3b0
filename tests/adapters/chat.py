"""The program of chat.mjs in Python, without its mistake and without saying its state."""

from __future__ import annotations

import json
import sys
from typing import Any

nodes: dict[int, dict[str, Any]] = {}


def receive(node: dict[str, Any], src: int, packet: dict[str, Any]) -> list[Any]:
    node["waiting"].append((src, packet["clock"], packet["message"]))
    delivered = []
    while found := [each for each in node["waiting"] if fits(node["clock"], each[0], each[1])]:
        node["waiting"].remove(found[0])
        node["clock"][found[0][0]] += 1
        delivered.append(found[0][2])
    return delivered


def fits(clock: list[int], src: int, stamp: list[int]) -> bool:
    others = (at for at in range(len(clock)) if at != src)
    return stamp[src] == clock[src] + 1 and all(stamp[at] <= clock[at] for at in others)


for line in sys.stdin:
    question = json.loads(line)
    actor = question["actor"]
    answer: dict[str, Any] = {}
    if question["do"] == "start":
        nodes[actor] = {"clock": [0] * question["actors"], "waiting": []}
    elif question["do"] == "causal-send":
        clock, message = nodes[actor]["clock"], question["message"]
        clock[actor] += 1
        packet = {"clock": clock, "message": message}
        answer["sends"] = [{"to": to, "packet": packet} for to in message["to"]]
    else:
        answer["deliveries"] = receive(nodes[actor], question["src"], question["packet"])
    if "--key" in sys.argv:
        answer["key"] = [nodes[actor]["clock"], sorted(nodes[actor]["waiting"], key=str)]
    print(json.dumps(answer), flush=True)
