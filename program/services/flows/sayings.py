"""What people read in a title's story: without secrets, not longer than one reads, providers by the names that people know."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from program import log
from program.db.decisions import Decision
from program.media.names import with_titles
from program.media.release import JsonValue

# The longest text of somebody else that is kept in a story.
LONGEST_TEXT = 500


@dataclass(frozen=True, slots=True)
class Sayings:
    """Makes texts fit for people. titles: of the providers, by their keys."""

    titles: Mapping[str, str]

    def text(self, text: str) -> str:
        """Return a text of somebody else, a name or an error, as it is told."""
        text = with_titles(log.redact(text), self.titles)
        return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"

    def decision(self, made: Decision) -> Decision:
        """Return a decision with every text in it as it is told."""
        data = {name: self._value(value) for name, value in made.data.items()}
        return replace(made, sentence=self.text(made.sentence), data=data)

    def reasons(self, facts: Mapping[str, object]) -> Mapping[str, object]:
        """Return facts with the reasons among them as they are told."""
        return {
            name: self.text(value) if isinstance(value, str) and name.endswith("_reason") else value
            for name, value in facts.items()
        }

    def _value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._value(part) for part in value]
        return {name: self._value(part) for name, part in value.items()} if isinstance(value, dict) else value
