"""The settings of names: how folders and files of the library are called."""

from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field

from program.media import templates
from program.media.templates import DEFAULTS, Templates
from program.settings.provider import Section


class NamingSettings(Section):
    """Templates with fields in braces; what is not known prints nothing. docs/library.md lists the fields."""

    movie_folder: Annotated[str, AfterValidator(partial(templates.check, "movie_folder"))] = Field(
        default=DEFAULTS.movie_folder, description="The folder of a film"
    )
    movie_file: Annotated[str, AfterValidator(partial(templates.check, "movie_file"))] = Field(
        default=DEFAULTS.movie_file,
        description="The file of a film; servers group versions by a beginning equal to the folder's name",
    )
    show_folder: Annotated[str, AfterValidator(partial(templates.check, "show_folder"))] = Field(
        default=DEFAULTS.show_folder, description="The folder of a show"
    )
    season_folder: Annotated[str, AfterValidator(partial(templates.check, "season_folder"))] = Field(
        default=DEFAULTS.season_folder, description="The folder of a season; specials are season 0"
    )
    episode_file: Annotated[str, AfterValidator(partial(templates.check, "episode_file"))] = Field(
        default=DEFAULTS.episode_file, description="The file of an episode, or of several"
    )

    def templates(self) -> Templates:
        """Return them as names are made of them."""
        return Templates(**self.model_dump())
