"""Stories: the list with scores, the parts of a score, and everything an editor does to a story."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from digest.domain.brief import Candidate, scored
from digest.domain.language import Language
from digest.domain.staff import ActKind
from digest.domain.story import StoryText
from digest.sources.story_patch import CorrectionPatch, StoryPatch, read_patch
from digest.steps.edit_stories import correct_story, edit_story, place_story, schedule_story, split_story
from digest.store.corrections import corrections_of
from digest.store.staff_lists import story_ids_before
from digest.store.stories import stories_with_ids, story_with_id
from digest.store.tables import Story
from digest.store.writing import flags_of
from digest.web.admin.desk import PATH, EditorActs, Refusal, Viewer
from digest.web.admin.mornings import LARGEST_ID
from digest.web.fields import Fields, Posted
from digest.web.methods import READ
from digest.web.phrases import marked

PAGE = 50
STORY = PATH + "/stories/{story_id}"
LINES = frozenset({"key_points", "key_evidence"})
"""Fields that are a list; a form has one line for each."""
Key = Annotated[int, Query(ge=1, le=LARGEST_ID)]

router = APIRouter(include_in_schema=False)


@router.api_route(f"{PATH}/stories", methods=READ)
def show_stories(desk: Viewer, *, before: Key | None = None, flagged: bool = False) -> Response:
    """Stories, the newest to enter first; or those that an editor should look at."""
    with desk.edge.application.sessions() as session:
        last = session.get(Story, before) if before else None
        ids = story_ids_before(session, last.enters_at if last else None, before or 0, flagged=flagged, limit=PAGE)
        found = stories_with_ids(session, ids, desk.now, hidden_too=True)
        hidden = {i for i in ids if session.get_one(Story, i).hidden}
        flags = flags_of(session, PAGE)
    weights = desk.edge.application.settings.limits.weights
    values = {
        "stories": [(scored(story, weights), _title(story), flags.get(story.id, "")) for story in found],
        "hidden": hidden,
        "flagged": flagged,
        "next": ids[-1] if len(ids) == PAGE else None,
    }
    return desk.page("stories", values)


def _title(story: Candidate) -> str:
    text = story.texts.get(story.language) or next(iter(story.texts.values()))
    return text.title


@router.api_route(STORY, methods=READ)
def show_story(desk: Viewer, story_id: int, done: str = "") -> Response:
    """One story: its texts, the parts of its score, and the forms."""
    with desk.edge.application.sessions() as session:
        story = story_with_id(session, story_id, desk.now) if 0 < story_id <= LARGEST_ID else None
        row = session.get(Story, story_id) if story else None
        corrections = corrections_of(session, story_id) if story else []
    if story is None or row is None:
        raise Refusal(desk, 404, marked("there is no story {number}"), number=str(story_id))
    values = {
        "story": story,
        "row": row,
        "title": _title(story),
        "signal": scored(story, desk.edge.application.settings.limits.weights).signal,
        "texts": {language: _own_text(story, language) for language in Language},
        "fields": list(StoryText.__dataclass_fields__),
        "lines": LINES,
        "corrections": corrections,
        "saved": bool(done),
    }
    return desk.page("story", values)


def _own_text(story: Candidate, language: Language) -> StoryText:
    """What the story itself has in that language, without what another report lends it."""
    return StoryText("") if language in story.told_by else story.texts.get(language, StoryText(""))


@router.post(STORY)
def edit(desk: EditorActs, story_id: int, fields: Posted) -> Response:
    """Change the texts that were sent, and the topics."""
    document = {"texts": _texts(fields), "topics": _split(fields.text("topics") or "", ",")}
    with desk.acting(ActKind.STORY_EDITED, f"story {story_id}"):
        patch = read_patch(StoryPatch, document)
        texts = patch.texts.by_language()
        edit_story(desk.edge.application.sessions, story_id, texts, patch.topics, desk.now)
    return desk.moved(f"/stories/{story_id}", done="yes")


@router.post(STORY + "/correction")
def correct(desk: EditorActs, story_id: int, fields: Posted) -> Response:
    """Change the texts, and tell those who got the old ones in their next brief."""
    notes = {str(language): (fields.text(f"note.{language}") or "").strip() for language in Language}
    with desk.acting(ActKind.STORY_CORRECTED, f"story {story_id}"):
        patch = read_patch(CorrectionPatch, {"texts": _texts(fields), "notes": notes})
        texts, said = patch.texts.by_language(), patch.notes.by_language()
        correct_story(desk.edge.application.sessions, story_id, texts, said, desk.now)
    return desk.moved(f"/stories/{story_id}", done="yes")


@router.post(STORY + "/place")
def place(desk: EditorActs, story_id: int, fields: Posted) -> Response:
    """Pin, hide, take either back, or take the story out of the group of its event."""
    sessions, wanted = desk.edge.application.sessions, fields.text("place") or ""
    if wanted not in PLACES and wanted != "split":
        raise Refusal(desk, 422, marked("place must be one of pin, unpin, hide, show, split"))
    with desk.acting(ActKind.STORY_PLACED, f"story {story_id}", place=wanted):
        if wanted == "split":
            split_story(sessions, story_id)
        else:
            place_story(sessions, story_id, **PLACES[wanted])
    return desk.moved(f"/stories/{story_id}", done="yes")


PLACES: Mapping[str, Mapping[str, bool]] = {
    "pin": {"pinned": True},
    "unpin": {"pinned": False},
    "hide": {"hidden": True},
    "show": {"hidden": False},
}


@router.post(STORY + "/schedule")
def schedule(desk: EditorActs, story_id: int, fields: Posted) -> Response:
    """Let the story enter later; the form's time is UTC."""
    wanted = (fields.text("enters_at") or "").strip()
    with desk.acting(ActKind.STORY_SCHEDULED, f"story {story_id}", enters_at=wanted):
        patch = read_patch(StoryPatch, {"enters_at": f"{wanted}Z" if wanted[-1:] != "Z" else wanted})
        at: datetime | None = patch.enters_at
        if at is not None:
            schedule_story(desk.edge.application.sessions, story_id, at, desk.now)
    return desk.moved(f"/stories/{story_id}", done="yes")


def _texts(fields: Fields) -> dict[str, dict[str, object]]:
    """The texts of a form; a language whose every field is empty is left alone."""
    found: dict[str, dict[str, object]] = {}
    for language in Language:
        given = {
            name: fields.text(f"{language}.{name}")
            for name in StoryText.__dataclass_fields__
            if fields.text(f"{language}.{name}") is not None
        }
        if any(text and text.strip() for text in given.values()):
            found[str(language)] = {name: _value(name, text or "") for name, text in given.items()}
    return found


def _value(name: str, text: str) -> object:
    return _split(text, "\n") if name in LINES else " ".join(text.split())


def _split(text: str, separator: str) -> Sequence[str]:
    return [piece for each in text.split(separator) if (piece := " ".join(each.split()))]
