"""Providers by the names that people know, in a text that has their keys."""

import re
from collections.abc import Mapping
from functools import lru_cache


def with_titles(text: str, titles: Mapping[str, str]) -> str:
    """Return a sentence in which each key of `titles` that stands for itself is its title.

    A key within a path, a file's name or a setting stays, and so does a text that is nothing but one word: a name, not a sentence.
    """
    if " " not in text or not titles:
        return text
    return _pattern(tuple(titles)).sub(lambda found: titles[found[0]], text)


@lru_cache(maxsize=8)
def _pattern(keys: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(map(re.escape, keys), key=len, reverse=True)
    return re.compile(rf"(?<![\w./{{\[=-])(?:{'|'.join(longest_first)})(?![\w/}}\]=-]|\.\w)")
