"""The grammar draws what its table holds, and the same for the same key."""

from __future__ import annotations

import pytest

from gristmill.demo.grammar import Grammar, between, choose, stream


def test_a_stream_depends_on_its_key_alone() -> None:
    draw = stream(1, "web-en", 7)
    assert [draw() for _ in range(3)] == [0.07550607402737775, 0.33026391455099546, 0.23224894924716044]
    assert stream(1, "web-en", 7)() != stream(1, "web-en", 8)() != stream(1, "web-e", "n7")()


def test_choices_and_numbers_cover_their_range() -> None:
    draw = stream("range")
    assert {between(3, 5, draw) for _ in range(200)} == {3, 4, 5}
    assert {choose("abc", draw) for _ in range(200)} == set("abc")


def test_slots_are_filled_from_their_own_lists() -> None:
    grammar = Grammar({"start": ["{animal} and {animal}", "no {animal}"], "animal": ["cat", "dog"]})
    written = {grammar.write("start", stream(number)) for number in range(100)}
    animals = ("cat", "dog")
    assert written == {f"{one} and {two}" for one in animals for two in animals} | {"no cat", "no dog"}


def test_a_bound_slot_is_drawn_once_a_page() -> None:
    grammar = Grammar({"start": ["{@name}, {@name}"], "name": ["{digit}{digit}"], "digit": list("0123456789")})
    pages = [grammar.write("start", stream(number)).split(", ") for number in range(50)]
    assert all(one == two for one, two in pages)
    assert len({one for one, _ in pages}) > 20


def test_what_is_bound_stays_for_the_same_page() -> None:
    grammar = Grammar({"start": ["{@name}"], "name": ["a", "b", "c", "d"]})
    draw, page = stream(1), dict[str, str]()
    assert len({grammar.write("start", draw, page) for _ in range(50)}) == 1


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"`plase`.*Did you mean `place`\?.*Known: place, start"):
        Grammar({"start": ["{plase}"], "place": ["here"]}).write("start", stream(1))
