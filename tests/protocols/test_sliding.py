"""The data structures of the hybrid paper, beside plain dictionaries that do the same."""

from __future__ import annotations

import pytest
from attrs.exceptions import FrozenInstanceError
from hypothesis import given
from hypothesis import strategies as st

from antecede.checker.semantics.values import canonical
from antecede.protocols.sliding import IndexableSlidingMap, SlidingArray, SlidingMap

KEYS = st.sampled_from("abcdef")
MAPS = pytest.mark.parametrize("kind", [SlidingMap, IndexableSlidingMap])


def array(*elements: str, first: int = 0) -> SlidingArray[str]:
    return SlidingArray(first, elements)


# sliding array


def test_array_grows_at_next_and_shrinks_at_first() -> None:
    window = SlidingArray[str](3).add("a").add("b").remove()
    assert (4, 5, 1, "b") == (window.first, window.next, window.size, window.peek)


def test_array_keeps_the_index_of_an_element_while_the_window_slides() -> None:
    window = array("a", "b", "c")
    assert "c" == window[2] == window.remove()[2] == window.remove().remove().add("d")[2]


def test_array_replaces_one_element_and_leaves_the_array_it_came_from() -> None:
    before = array("a", "b", "c", first=7)
    assert array("a", "x", "c", first=7) == before.replace(8, "x")
    assert array("a", "b", "c", first=7) == before


def test_array_iterates_from_the_oldest() -> None:
    assert ["a", "b", "c"] == list(array("a", "b", "c", first=2))


@pytest.mark.parametrize("index", [1, 4, -1])
def test_array_has_nothing_outside_its_window(index: int) -> None:
    window = array("a", "b", first=2)
    with pytest.raises(IndexError, match=r"outside the window 2\.\.3"):
        window[index]
    with pytest.raises(IndexError, match=r"outside the window 2\.\.3"):
        window.replace(index, "x")


def test_array_without_elements_has_none_to_remove_or_peek_at() -> None:
    with pytest.raises(IndexError, match="empty at 5"):
        SlidingArray[str](5).remove()
    with pytest.raises(IndexError):
        _ = SlidingArray[str](5).peek


@given(st.lists(KEYS | st.none(), max_size=20))
def test_array_agrees_with_a_dictionary(actions: list[str | None]) -> None:
    """A key is added; None removes the oldest."""
    window, first, following = SlidingArray[str](1), 1, 1
    model: dict[int, str] = {}
    for key in actions:
        if key is not None:
            window, model[following], following = window.add(key), key, following + 1
        elif model:
            assert model.pop(first) == window.peek
            window, first = window.remove(), first + 1
        assert (first, following, len(model)) == (window.first, window.next, window.size)
        assert model == {index: window[index] for index in range(first, following)}


# sliding map


@MAPS
def test_map_advances_first_over_all_that_was_removed(kind: type[SlidingMap[str]]) -> None:
    window = kind().add("a").add("b").add("c")
    assert 0 == window.remove("b").first
    assert 2 == window.remove("b").remove("a").first


@MAPS
def test_map_that_became_empty_has_first_at_next(kind: type[SlidingMap[str]]) -> None:
    window = kind().add("a").add("b").remove("b").remove("a")
    assert (2, 2) == (window.first, window.next)


@MAPS
def test_map_without_an_element_is_not_changed_by_its_removal(kind: type[SlidingMap[str]]) -> None:
    window = kind().add("a")
    assert window == window.remove("b")


@MAPS
def test_map_refuses_an_element_twice(kind: type[SlidingMap[str]]) -> None:
    with pytest.raises(ValueError, match="'a' is in the map already"):
        kind().add("a").add("a")


@MAPS
def test_map_has_no_none(kind: type[SlidingMap[str]]) -> None:
    window = kind().add("a").add("b").add("c").remove("b")
    assert None not in window
    assert ["a", "c"] == list(window)


@MAPS
def test_maps_with_equal_contents_are_one_value(kind: type[SlidingMap[str]]) -> None:
    one = kind().add("a").add("b").add("c").remove("a").remove("b")
    other = kind().add("x").add("y").add("c").remove("y").remove("x")
    assert one == other
    assert hash(one) == hash(other)
    assert canonical(one) == canonical(other)


@MAPS
def test_map_stays_of_its_kind(kind: type[SlidingMap[str]]) -> None:
    assert kind is type(kind().add("a")) is type(kind().add("a").remove("a"))


@MAPS
@given(actions=st.lists(st.tuples(st.booleans(), KEYS), max_size=20))
def test_map_agrees_with_a_dictionary(
    kind: type[SlidingMap[str]], actions: list[tuple[bool, str]]
) -> None:
    window, following = kind(), 0
    model: dict[str, int] = {}
    for removes, key in actions:
        if removes:
            window, _ = window.remove(key), model.pop(key, None)
        elif key not in model:
            window, model[key], following = window.add(key), following, following + 1
        assert (min(model.values(), default=following), following) == (window.first, window.next)
        assert model.keys() == set(window)
        assert sorted(model, key=model.__getitem__) == list(window)
        assert not window.slots or window.slots[0] is not None


# indexable sliding map


def test_indexable_map_finds_an_element_by_index_and_an_index_by_element() -> None:
    window = IndexableSlidingMap[str]().add("a").add("b").add("c").remove("a").remove("b")
    assert ("c", "c", 2) == (window[2], window.peek, window.index("c"))
    assert window.index("a") is None


def test_indexable_map_shows_a_removed_element_as_none_inside_its_window() -> None:
    window = IndexableSlidingMap[str]().add("a").add("b").add("c").remove("b")
    assert ("a", None, "c") == (window[0], window[1], window[2])


@pytest.mark.parametrize("index", [0, 3])
def test_indexable_map_has_nothing_outside_its_window(index: int) -> None:
    window = IndexableSlidingMap[str]().add("a").add("b").add("c").remove("a")
    with pytest.raises(IndexError, match=r"outside the window 1\.\.2"):
        window[index]


def test_indexable_map_without_elements_has_none_to_peek_at() -> None:
    with pytest.raises(IndexError, match="empty at 1"):
        _ = IndexableSlidingMap[str]().add("a").remove("a").peek


@pytest.mark.parametrize("value", [array("a"), SlidingMap[str]().add("a")])
def test_structures_cannot_be_changed_in_place(value: SlidingArray[str] | SlidingMap[str]) -> None:
    with pytest.raises(FrozenInstanceError):
        value.first = 1  # type: ignore[misc]
