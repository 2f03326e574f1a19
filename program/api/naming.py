"""A preview of names: what templates would make of samples and of the newest files of the library; nothing is changed."""

from pydantic import RootModel

from program.api.answers.care import NamingPreviewBody, RenamedBody, SampleBody
from program.api.context import ApiContext
from program.api.routes import Route
from program.db import shelves
from program.media.name_samples import samples
from program.media.naming import render

TAG = "settings"
# So many files of the library are shown with their present and their new name.
SHOWN = 20


class NamingBody(RootModel[dict[str, str]]):
    """The templates that are to be tried, by the names they have in vfs.naming; the others are those in force."""


def preview(context: ApiContext, body: NamingBody) -> NamingPreviewBody:
    """Return what names would be. Raises InvalidSettings that names the template and what is wrong with it."""
    tried = context.store.preview({"vfs": {"naming": dict(body.root)}})
    templates = tried.vfs.naming.templates()
    with context.db.read() as tx:
        shown = shelves.newest(tx, SHOWN)
        facts = shelves.name_facts(tx, list(shown))
    return NamingPreviewBody(
        samples=[SampleBody(about=one.about, path=one.path) for one in samples(templates)],
        library=[
            RenamedBody(id=entry_id, before=before, after=render(facts[entry_id], templates))
            for entry_id, before in shown.items()
            if entry_id in facts
        ],
    )


ROUTES = (
    Route(
        method="POST",
        rule="/settings/naming-preview",
        handle=preview,
        summary="Show what names templates would make",
        tag=TAG,
        body=NamingBody,
        answer=NamingPreviewBody,
    ),
)
