"""The staff's pages on a phone, after a day that had everything: nothing for axe-core, nothing cut off at the side."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, StorageState

from tests import staff_day
from tests.staff_pictures import OWNER, served, sign_in
from tests.web.browsing import chromium, visit

PLACES = ("", "/readers/41", "/mornings", "/briefs/1", "/batches", "/stories", "/stories/1", "/sources")
PLACES += ("/suppressions", "/sending", "/acts")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Browser, str, StorageState]]:
    """A browser, the address of the staff's pages, and the session of somebody who may see all."""
    folder = tmp_path_factory.mktemp("desk")
    with pytest.MonkeyPatch.context() as patch, chromium() as browser:
        patch.setattr(staff_day, "READERS", 300)
        app = staff_day.make_day(f"sqlite:///{folder}/day.db", outbox_dir=Path(folder), admin_token=OWNER)
        with closing(app), served(app) as address:
            yield browser, f"{address}/admin", sign_in(browser, address)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_fits_the_narrowest_window(desk: tuple[Browser, str, StorageState], language: str) -> None:
    browser, address, session = desk
    with visit(browser, 390, storage_state=session) as phone:
        for place in PLACES:
            phone.page.goto(f"{address}{place}?lang={language}")
            assert phone.heading()
            phone.look()
