"""What a person does by hand: looks into a torrent, says which files are wanted, and has them put into the library."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from program.actions import Actions, ItemResult
from program.db import entries, items, torrents
from program.db.decisions import Decision
from program.db.engine import Tx
from program.errors import NotPossible, Transient
from program.manual import mapping
from program.manual.fetch import fetch, let_go
from program.manual.search import Progress, search
from program.manual.sessions import LIFETIME, Place, Session, Sessions, new_id
from program.manual.titles import Asked, known_id, target_of
from program.media.entry import FileMatch
from program.media.item import Ids, MediaType, Node
from program.media.metadata import ContentRequest
from program.media.outcomes import Changes, restarted
from program.media.wanted import Wanted, wanted_for
from program.queues import JobSpec, Priority
from program.services.flows import names, process_item_request
from program.services.flows.by_person import call_off
from program.services.flows.context import NO_OVERRIDES, FlowContext, Overrides, item_of, label, revisions
from program.services.flows.download_item import entry_for
from program.services.flows.find_valid_torrent import Catch
from program.services.flows.process_media_item import MediaItemJob
from program.services.matching.parse import parse

SOURCE = "api"
UNKNOWN = "unknown"
# A file counts as got after the restart that comes with it.
AFTER = timedelta(milliseconds=1)
# How long a title may take to be looked up while somebody waits.
INDEX_SECONDS = 60.0


class Manual:
    """Everything by hand, with the objects it needs."""

    def __init__(self, ctx: FlowContext, actions: Actions) -> None:
        self._ctx = ctx
        self._actions = actions
        self._sessions = Sessions()

    def search(self, asked: Asked, overrides: Overrides) -> Iterator[Progress]:
        """Look the title up, then return a search that runs while it is listened to. Raises NotFound, Transient."""
        return search(self._ctx, target_of(self._ctx, asked), overrides)

    def start(self, asked: Asked, infohash: str, name: str, sizes: Overrides = NO_OVERRIDES) -> Session:
        """Return a session on a torrent that a debrid service holds; raise NotPossible with what each of them said."""
        self._let_expired_go()
        target = target_of(self._ctx, asked)
        holder = self._sessions.new_holder()
        torrent = fetch(self._ctx, infohash, name or target.name, target.item_id, holder)
        session = Session(
            id=new_id(),
            holder=holder,
            target=target,
            torrent=torrent,
            resolution=_resolution(name, torrent.name),
            files=mapping.videos(torrent, sizes.least, sizes.most),
            expires_at=self._ctx.clock.now() + LIFETIME,
        )
        self._sessions.add(session)
        return session

    def session(self, session_id: str) -> Session:
        """Return a session, which lives on from now. Raises NotFound."""
        return self._sessions.get(session_id, self._ctx.clock.now())

    def guesses(self, session: Session) -> Mapping[int, Place]:
        """Return what the names of a session's files say, by their number."""
        wanted = session.target.wanted
        if wanted.is_movie:
            return {}
        numbers = {file.file_id: number for number, file in session.files.items()}
        told = mapping.told_by_names(self._ctx, wanted, session.torrent, session.files.values())
        places = {numbers[match.file.file_id]: mapping.place_of(wanted, match) for match in told}
        return {number: place for number, place in places.items() if place is not None}

    def select(self, session_id: str, numbers: Sequence[int], places: Mapping[int, Place]) -> Session:
        """Say which files are wanted, and where they belong. Raises NotFound, NotPossible."""
        session = self.session(session_id)
        unknown = sorted(set(numbers) - session.files.keys())
        if unknown:
            raise NotPossible(f"the torrent has no video with the number {unknown[0]}")
        for place in places.values():
            for number in place.episodes:
                mapping.by_number(session.target.wanted, place.season, number)
        session = replace(session, selected=frozenset(numbers), places={**session.places, **places})
        self._sessions.put(session)
        return session

    def correct(self, session_id: str, places: Mapping[int, Place]) -> Session:
        """Say where files belong, without choosing among them. Raises NotFound, NotPossible."""
        session = self.session(session_id)
        numbers = session.files.keys() if session.selected is None else session.selected
        return self.select(session_id, [*numbers], places)

    def abort(self, session_id: str) -> None:
        """End a session without taking anything."""
        session = self.session(session_id)
        self._sessions.drop(session_id)
        let_go(self._ctx, session.torrent, session.holder)

    def complete(self, session_id: str) -> ItemResult:
        """Put the chosen files into the library, in place of what was there. Raises NotFound, NotPossible, Transient."""
        session = self.session(session_id)
        result = self._take(session)
        self._sessions.drop(session_id)
        self._ctx.in_hand.drop(session.torrent.provider, session.torrent.infohash, session.holder)
        return result

    def choose(self, item_id: int, infohash: str, raw_title: str) -> ItemResult:
        """Have a known release in place of what was there, as far as its files fit. Raises NotPossible."""
        session = self.start(Asked(item_id=item_id), infohash, raw_title)
        try:
            return self.complete(session.id)
        except NotPossible:
            self.abort(session.id)
            raise

    def auto(
        self, asked: Asked, seasons: tuple[int, ...] | None, overrides: Overrides
    ) -> tuple[ItemResult, ...]:
        """Have a title, or seasons of it, searched now; one that is not in the library is asked for.

        overrides: for this search; they cannot be kept for a title that is yet to be looked up.
        """
        item_id = known_id(self._ctx, asked)
        if item_id is None:
            added = self._actions.add([_wish(asked, asked.ids, seasons)], by_person=True)
            return added if overrides == NO_OVERRIDES else tuple(map(_without_limits, added))
        root = self._ctx.load(self._root_id(item_id))
        if seasons:
            self._actions.add([_wish(asked, root.item.ids, seasons)], by_person=True)
            root = self._ctx.load(root.item.id)
        ids = _seasons_of(root, seasons) if seasons else [item_id]
        results = self._actions.retry(ids or [item_id])
        if overrides != NO_OVERRIDES:
            self._search_so(root.item.id, ids, overrides)
        return results

    def _search_so(self, root_id: int, ids: Sequence[int], overrides: Overrides) -> None:
        """Have the next search of the rows made in a person's own way; one that has begun otherwise is called off."""
        root = self._ctx.load(root_id)
        if root.item.type is MediaType.SHOW and root_id in ids:
            ids = [node.item.id for node in root.children if node.item.is_requested]
        for item_id in ids:
            item = item_of(root, item_id)
            data = MediaItemJob(
                root_id, item_id, label(root, item_id), revisions(root, item_id), overrides=overrides
            )
            key = names.process_media_item_id(item.type, item_id)
            spec = JobSpec(
                queue=names.PROCESS_MEDIA_ITEM,
                name=data.title,
                data=data,
                dedup_id=key,
                priority=Priority.FRONT,
            )
            if not self._ctx.engine.add(spec).is_new:
                self._ctx.engine.remove_deduplicated(names.PROCESS_MEDIA_ITEM, key)
                self._ctx.engine.add(spec)

    def _take(self, session: Session) -> ItemResult:
        root, item_id = self._at_home(session)
        everything = frozenset(leaf.item.id for leaf in root.leaves())
        wanted = wanted_for(root, root.item.id, missing=everything)
        found = mapping.matches(self._ctx, wanted, session.torrent, session.chosen, session.places)
        if not found:
            raise NotPossible(f"none of the chosen files could be told to be of {label(root, root.item.id)}")
        root = self._with_wishes(root, wanted, found)
        self._store(root, session, found)
        filled = sum(len(match.item_ids) for match in found)
        left = len(session.chosen) - len(found)
        sentence = f"{len(found)} {'file' if len(found) == 1 else 'files'} taken"
        sentence += f" for {filled} episodes" if not wanted.is_movie else ""
        sentence += f"; {left} could not be told what they are" if left > 0 and not wanted.is_movie else ""
        return ItemResult(item_id, label(root, item_id), sentence)

    def _at_home(self, session: Session) -> tuple[Node, int]:
        """Return the title as it is in the library; it is asked for and looked up first when it is not there."""
        item_id = known_id(self._ctx, session.asked)
        if item_id is None:
            wish = _wish(session.asked, session.asked.ids, self._seasons_in(session))
            result = self._actions.add([wish], by_person=True)[0]
            if result.item_id is None:
                raise NotPossible(result.sentence)
            item_id = result.item_id
        root = self._ctx.load(self._root_id(item_id))
        if root.item.facts.indexed_at is None:
            root_id = root.item.id
            self._ctx.engine.call(process_item_request.job(root, Priority.INTERACTIVE), INDEX_SECONDS)
            root = self._ctx.load(root_id)
            if root.item.facts.indexed_at is None:
                raise Transient("the title could not be looked up yet; complete the choice again in a moment")
        return root, item_id

    def _seasons_in(self, session: Session) -> tuple[int, ...]:
        """Return the seasons that the chosen files are of; raise NotPossible when they are of nothing."""
        wanted = session.target.wanted
        found = mapping.matches(self._ctx, wanted, session.torrent, session.chosen, session.places)
        if not found:
            raise NotPossible(f"none of the chosen files could be told to be of {session.target.name}")
        places = [mapping.place_of(wanted, match) for match in found]
        return tuple(sorted({place.season for place in places if place is not None}))

    def _with_wishes(self, root: Node, wanted: Wanted, found: Sequence[FileMatch]) -> Node:
        """Return the title with the seasons asked for that files were chosen of."""
        ids = {item_id for match in found for item_id in match.item_ids}
        lacking = [
            leaf.item.id for leaf in root.leaves() if leaf.item.id in ids and not leaf.item.is_requested
        ]
        if not lacking or wanted.is_movie:
            return root
        seasons = {episode.season for episode in wanted.episodes if episode.item_id in lacking}
        asked = Asked(is_movie=False)
        self._actions.add([_wish(asked, root.item.ids, tuple(sorted(seasons)))], by_person=True)
        return self._ctx.load(root.item.id)

    def _store(self, root: Node, session: Session, found: Sequence[FileMatch]) -> None:
        torrent, now = session.torrent, self._ctx.clock.now()
        catch = Catch(torrent, tuple(found), session.resolution, (), ())
        templates = self._ctx.settings().vfs.naming.templates()
        filled = [item_id for match in found for item_id in match.item_ids]
        with self._ctx.db.write(root.item.id) as tx:
            root = self._ctx.tree(tx, root.item.id)
            for match in found:
                entries.create(tx, entry_for(root, match, catch, templates), now + AFTER)
            torrents.keep(tx, torrent.provider, torrent.infohash)
            items.bump_revision(tx, filled)
            self._commit(tx, root, session, found)
        for item_id in filled:
            call_off(self._ctx, root, item_id)
        self._actions.wake()

    def _commit(self, tx: Tx, root: Node, session: Session, found: Sequence[FileMatch]) -> None:
        now, infohash = self._ctx.clock.now(), session.torrent.infohash
        changes: dict[int, Changes] = {}
        told = []
        for match in found:
            for item_id in match.item_ids:
                changes[item_id] = {
                    **restarted(item_of(root, item_id), now),
                    "paused_at": None,
                    "active_stream": infohash,
                }
                sentence = f"A person chose “{match.file.path}” of “{session.torrent.name}”."
                told.append(
                    Decision(item_id, "person", "chosen", sentence, provider=session.torrent.provider)
                )
        self._ctx.commit(tx, root.item.id, changes, told)

    def _let_expired_go(self) -> None:
        for session in self._sessions.take_expired(self._ctx.clock.now()):
            let_go(self._ctx, session.torrent, session.holder)

    def _root_id(self, item_id: int) -> int:
        with self._ctx.db.read() as tx:
            return items.root_of(tx, [item_id])[item_id]


def _wish(asked: Asked, ids: Ids, seasons: tuple[int, ...] | None) -> ContentRequest:
    return ContentRequest(
        source=SOURCE, is_movie=asked.is_movie, ids=ids, seasons=None if asked.is_movie else seasons
    )


def _without_limits(result: ItemResult) -> ItemResult:
    later = "limits for a search count once it is in the library: search it again then"
    return replace(result, sentence=f"{result.sentence}; {later}")


def _seasons_of(root: Node, seasons: Sequence[int]) -> list[int]:
    return [node.item.id for node in root.children if node.item.number in seasons]


def _resolution(*names: str) -> str:
    found = (parse(name).resolution for name in names)
    return next((resolution for resolution in found if resolution != UNKNOWN), UNKNOWN)
