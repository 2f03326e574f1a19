"""What a person does with titles from the pages: one call of the actions, and a sentence on what came of it."""

from collections.abc import Callable, Mapping, Sequence

from program.actions import Actions, ItemResult
from program.errors import NotFound
from program.web.pages import Web

Act = Callable[[Actions, Sequence[int]], tuple[ItemResult, ...]]

# What a form may ask for, and how it is told afterwards.
ACTIONS: Mapping[str, tuple[str, Act]] = {
    "retry": ("Started afresh", Actions.retry),
    "pause": ("Paused", Actions.pause),
    "unpause": ("Goes on", Actions.unpause),
    "reset": ("Made as new", Actions.reset),
    "remove": ("Removed", Actions.remove),
}


def perform(web: Web, action: str, ids: Sequence[int]) -> str:
    """Do it and return what came of it; raise NotFound for an action or an item that does not exist."""
    if action not in ACTIONS:
        raise NotFound(f"nothing is called {action!r} here")
    word, act = ACTIONS[action]
    results = act(web.api.actions, ids)
    left = [result for result in results if not result.done]
    if len(results) == 1:
        return _one(word, results[0])
    done = len(results) - len(left)
    said = f"{word}: {done} of {len(results)} titles."
    return f"{said} Left as they are: {'; '.join(result.sentence for result in left[:3])}." if left else said


def _one(word: str, result: ItemResult) -> str:
    sentence = result.sentence.rstrip(".")
    if result.title and not sentence.startswith(result.title):
        sentence = f"{result.title}: {sentence[:1].lower()}{sentence[1:]}"
    return f"{sentence or word}."
