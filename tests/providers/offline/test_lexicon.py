"""Phrases with alternatives: they are found in words as if each of their forms were listed."""

import itertools

from kbd_offline.lexicon import LEXICON, TABLE_LEXICON, PhraseForms

SPLIT = PhraseForms("split", ((("split",), ("divide", "up")), ((), ("all",)), (("by",), ())))


def test_the_longest_form_counts() -> None:
    """A part that may be missing is taken where it is there; one that differs ends it before."""
    assert SPLIT.end(["split", "by", "region"], 0) == 2
    assert SPLIT.end(["now", "divide", "up", "all", "by", "region"], 1) == 5
    assert SPLIT.end(["split", "some", "by"], 0) == 1
    assert SPLIT.end(["divide", "by", "region"], 0) == 0
    assert SPLIT.end(["split"], 0) == 1


def test_its_words_are_told_by_what_they_may_be() -> None:
    """First in it, alone, or anywhere."""
    begins_missing = PhraseForms("all", (((), ("the",)), (("whole",), ("all", "of"))))

    assert set(begins_missing.first_words()) == {"the", "whole", "all"}
    assert set(begins_missing.single_words()) == {"whole"}
    assert set(begins_missing.words()) == {"the", "whole", "all", "of"}
    assert set(SPLIT.single_words()) == {"split"}


def test_each_form_of_each_phrase_is_found() -> None:
    """Whatever is chosen of the alternatives, up to the end of it at least."""
    for lexicon in (LEXICON, TABLE_LEXICON):
        for phrase in lexicon.phrases:
            for chosen in itertools.islice(itertools.product(*phrase.parts), 20):
                words = [*itertools.chain(*chosen)]
                assert not words or lexicon.ends(words, 0)[phrase.concept] == len(words)
