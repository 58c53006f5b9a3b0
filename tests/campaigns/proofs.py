"""Explore random models that are PROVED; every conjunct and claim must be true in every state.

Most random variations of a model are refused or not proved. A counterexample to induction is
replayed in plain Python. A model that is PROVED is explored: all ways to place three messages among
three actors, and some ways to place up to 3 × 2 messages as far as a bound on the states. Some run
must deliver a message.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from attrs import evolve

from antecede.checker.prove import obligations as proving
from antecede.checker.prove.obligations import Answer
from antecede.checker.prove.validate import validate
from antecede.checker.prove.vocabulary import Model
from antecede.checker.support.errors import InputError
from tests.campaigns.model_explorer import Explorer, Placement, placements
from tests.campaigns.variations import Variation, drawn

SOLVER_SECONDS, SHRINK_SECONDS = 1.0, 30.0

MOST, MOST_OF_MORE = 2_000, 300
"""States that are explored of one placement of up to three messages, and of more."""


def compare_proofs(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Prove one random model; compare what was proved with exploration."""
    variation = drawn(seed)
    reason = disagreement(variation, seed, tally)
    if reason is None:
        return []
    variation, reason = shrunk(variation, reason, seed)
    return [written(variation, reason, folder, f"proof-{seed.replace('/', '-')}")]


def disagreement(variation: Variation, seed: str, tally: Counter[str]) -> str | None:
    """Return how a proof and the exploration of its model differ, or None."""
    model = variation.model
    try:
        for obligation in proving.obligations(validate(model)):
            shown = proving.ask(obligation, SOLVER_SECONDS)
            if shown.answer is not Answer.PROVED:
                return _replayed(model, shown, tally)
        proof = proving.prove(model, SOLVER_SECONDS)
    except InputError:
        return None
    except Exception as error:  # any other exception is a finding
        return f"{type(error).__name__}: {error}"
    if proof.answer is not Answer.PROVED:
        return None
    return _explored(model, random.Random(f"placements {seed}"), tally)


def _replayed(model: Model, shown: proving.Shown, tally: Counter[str]) -> str | None:
    """Replay a counterexample to induction in plain Python, where there is a small one."""
    if shown.answer is Answer.FAILED:
        tally["Python's reading of a counterexample with the solver's"] += 1
        proving.with_example(model, shown, SOLVER_SECONDS)  # raises what `disagreement` reports
    return None


def _explored(model: Model, chance: random.Random, tally: Counter[str]) -> str | None:
    """Explore a model that is PROVED in several placements of messages."""
    explorers: dict[int, Explorer] = {}
    applied = False
    for placement in chosen_placements(chance):
        count = len(placement)
        if count not in explorers:
            explorers[count] = Explorer(model, count)
        if not explorers[count].applies(placement):
            continue
        applied = True
        tally["exploration of a model with its proof"] += 1
        most = MOST if count <= 3 else MOST_OF_MORE
        reason = explorers[count].wrong(placement, chance.randrange(count), most)
        if reason is not None:
            return reason
    if not applied:
        return "it is PROVED of no system with up to 3 × 2 messages"
    if not any(explorer.delivers for explorer in explorers.values()):
        return "it is PROVED, and no run delivers any of up to 3 × 2 messages"
    return None


def chosen_placements(chance: random.Random) -> Iterator[Placement]:
    """Yield every placement of one to three messages, some to oneself and some of more."""
    for count in (1, 2, 3):
        yield from placements(count)
    own = [p for p in placements(3, to_oneself=True) if any(src == dst for src, dst in p)]
    yield from chance.sample(own, 2)
    yield chance.choice(placements(4))
    yield chance.choice(placements(6))


def shrunk(variation: Variation, reason: str, seed: str) -> tuple[Variation, str]:
    """Return a variation with fewer changes for which proof and exploration differ."""
    until = time.monotonic() + SHRINK_SECONDS
    for change in variation.changes:
        fewer = tuple(one for one in variation.changes if one is not change)
        simpler = evolve(variation, changes=fewer)
        again = disagreement(simpler, seed, Counter())
        if again is not None:
            variation, reason = simpler, again
        if time.monotonic() > until:
            break
    return variation, reason


def written(variation: Variation, reason: str, folder: Path, name: str) -> str:
    """Write a file that defines the model; return how to see the difference."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.py"
    file.write_text(
        f'"""{reason}\n\nRun it in the folder of the project; the tests are imported."""\n\n'
        "from tests.campaigns.variations import Variation\n\n"
        f"MODEL = Variation({variation.base!r}, {variation.changes!r}).model\n",
        encoding="utf-8",
    )
    return f"{variation}\n{reason}\n  antecede prove {file}\n"
