"""The editorial API: list, add, change, place, hide, schedule and correct stories."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from starlette.responses import JSONResponse, Response

from digest.domain.brief import Candidate, scored
from digest.domain.errors import BadInputError, PermanentError
from digest.domain.staff import ActKind
from digest.sources.story_file import parse_stories
from digest.sources.story_patch import CorrectionPatch, OrderPatch, StoryPatch, read_patch
from digest.steps.collect_stories import import_stories
from digest.steps.edit_stories import (
    correct_story,
    edit_story,
    order_stories,
    place_story,
    schedule_story,
)
from digest.store.stories import listed, stories_with_ids, story_with_id
from digest.store.writing import flags_of
from digest.web.acts import written_down
from digest.web.admin_token import ForEditor, require_editor
from digest.web.edge import Edge, EdgeOf
from digest.web.methods import READ

PATH = "/api/v1/stories"
LONGEST_BODY = 2**20
"""Bytes: some hundred stories."""
MOST = 500
PRIVATE = {"Cache-Control": "no-store"}

router = APIRouter(include_in_schema=False, dependencies=[Depends(require_editor)])


async def _body(request: Request) -> bytes:
    return await request.body()


async def _document(request: Request) -> object:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise BadInputError("body", "", "is not well-formed JSON.") from error


Body = Annotated[bytes, Depends(_body)]
Document = Annotated[object, Depends(_document)]


@router.api_route(PATH, methods=READ)
def list_stories(
    edge: EdgeOf, *, flagged: bool = False, limit: Annotated[int, Query(ge=1, le=MOST)] = MOST
) -> Response:
    """The newest stories, hidden ones too; ``?flagged=1`` those that an editor should look at."""
    now = edge.clock()
    with edge.application.sessions() as session:
        flags = flags_of(session, limit)
        found = stories_with_ids(session, list(flags), now, hidden_too=True) if flagged else listed(session, now, limit)
    return _answer([_row(edge, story) | {"flag": flags.get(story.id, "")} for story in found])


@router.post(PATH)
def add_stories(edge: EdgeOf, actor: ForEditor, body: Body) -> Response:
    """Add stories: one record, an array, or one a line, as ``digest stories import`` takes them."""
    own = edge.application
    with written_down(edge, actor, ActKind.STORIES_ADDED):
        new, known = import_stories(own.sessions, own.editor, parse_stories(body, "body"), edge.clock())
    return _answer({"new": new, "known": known}, 201 if new else 200)


@router.put(f"{PATH}/order")
def order(edge: EdgeOf, actor: ForEditor, document: Document) -> Response:
    """Say which stories come first, in their order; an empty list takes every place back."""
    wanted = read_patch(OrderPatch, document)
    with written_down(edge, actor, ActKind.STORIES_ORDERED, ids=wanted.ids):
        _tried(lambda: order_stories(edge.application.sessions, wanted.ids, edge.clock()))
    return _answer({"ids": wanted.ids})


@router.api_route(f"{PATH}/{{story_id}}", methods=READ)
def show_story(edge: EdgeOf, story_id: int) -> Response:
    """One story with its texts."""
    return _shown(edge, story_id)


@router.patch(f"{PATH}/{{story_id}}")
def change_story(edge: EdgeOf, actor: ForEditor, story_id: int, document: Document) -> Response:
    """Change what is given: texts, topics, pinned, hidden, enters_at."""
    patch, sessions, now = read_patch(StoryPatch, document), edge.application.sessions, edge.clock()
    _shown(edge, story_id)
    with written_down(edge, actor, ActKind.STORY_EDITED, f"story {story_id}", fields=sorted(patch.model_fields_set)):
        if (at := patch.enters_at) is not None:
            _tried(lambda: schedule_story(sessions, story_id, at, now))
        texts = patch.texts.by_language()
        if texts or patch.topics is not None:
            _tried(lambda: edit_story(sessions, story_id, texts, patch.topics, now))
        _tried(lambda: place_story(sessions, story_id, pinned=patch.pinned, hidden=patch.hidden))
    return _shown(edge, story_id)


@router.post(f"{PATH}/{{story_id}}/correction")
def correct(edge: EdgeOf, actor: ForEditor, story_id: int, document: Document) -> Response:
    """Change the texts, and tell those who got the old ones in their next brief."""
    patch = read_patch(CorrectionPatch, document)
    _shown(edge, story_id)
    notes, texts = patch.notes.by_language(), patch.texts.by_language()
    with written_down(edge, actor, ActKind.STORY_CORRECTED, f"story {story_id}"):
        done = correct_story(edge.application.sessions, story_id, texts, notes, edge.clock())
    return _answer({"correction": done.correction_id, "briefs": done.briefs})


def _tried(work: Any) -> None:  # noqa: ANN401 - any call without arguments
    try:
        work()
    except BadInputError:
        raise
    except PermanentError as error:
        raise HTTPException(409, str(error)) from error


def _shown(edge: Edge, story_id: int) -> Response:
    story = None
    if 0 < story_id < 2**63:
        with edge.application.sessions() as session:
            story = story_with_id(session, story_id, edge.clock())
    if story is None:
        raise HTTPException(404, f"there is no story {story_id}")
    texts = {
        str(language): {name: getattr(text, name) for name in text.__dataclass_fields__}
        for language, text in story.texts.items()
    }
    return _answer(_row(edge, story) | {"texts": texts})


def _row(edge: Edge, story: Candidate) -> dict[str, object]:
    text = story.texts.get(story.language) or next(iter(story.texts.values()))
    signal = scored(story, edge.application.settings.limits.weights).signal
    return {
        "id": story.id,
        "slug": story.slug,
        "url": story.url,
        "title": text.title,
        "language": str(story.language),
        "source": story.source,
        "topics": list(story.topics),
        "enters_at": story.enters_at.isoformat().replace("+00:00", "Z"),
        "score": signal.score,
        "pinned": story.placing.pinned,
        "position": story.placing.position,
    }


def _answer(document: object, status: int = 200) -> Response:
    return JSONResponse(document, status, PRIVATE)
