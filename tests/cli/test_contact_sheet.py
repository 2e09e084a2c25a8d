"""The sheet that shows a mail at every width, light and dark."""

import struct
from pathlib import Path

import html5lib
import pytest

from digest.cli.contact_sheet import GAP, SCALE, WIDTHS, find_browser, sheet, write_sheet

MAILS = {
    "en": '<style>@media (prefers-color-scheme: dark) { p { color: #fff } }</style><p class="a">Rates & "ports"</p>',
    "zh": "<p>利率与芯片</p>",
}


def test_each_mail_stands_at_four_widths_light_and_dark() -> None:
    page = html5lib.parse(sheet(MAILS), namespaceHTMLElements=False)
    frames = [(int(frame.get("width")), frame.get("srcdoc")) for frame in page.iter("iframe")]
    captions = [caption.text for caption in page.iter("figcaption")]

    assert [width for width, _ in frames] == [*WIDTHS] * 4 == [320, 375, 600, 1024] * 4
    assert captions[0] == "en, 320, light"
    assert captions[-1] == "zh, 1024, dark"
    english = [words for _, words in frames[:8]]
    assert set(english[:4]) == {MAILS["en"].replace("(prefers-color-scheme: dark)", "not all")}
    assert set(english[4:]) == {MAILS["en"].replace("(prefers-color-scheme: dark)", "all")}
    assert {words for _, words in frames[8:]} == {MAILS["zh"]}


@pytest.mark.skipif(find_browser() is None, reason="no chromium on the path; set CHROMIUM to one")
def test_a_chromium_makes_a_picture_of_the_whole_sheet(tmp_path: Path) -> None:
    assert write_sheet({"en": "<p style='height:3000px'>Tall</p>"}, tmp_path) == [
        "contact-sheet.html",
        "contact-sheet.png",
    ]
    head = (tmp_path / "contact-sheet.png").read_bytes()[:24]
    width, height = struct.unpack(">II", head[16:])
    frames = 2 * sum(WIDTHS) + 7 * GAP

    assert head.startswith(b"\x89PNG")
    assert frames * SCALE <= width <= (frames + 3 * GAP) * SCALE
    assert height >= 3000 * SCALE


def test_without_a_browser_the_sheet_is_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert write_sheet(MAILS, tmp_path) == ["contact-sheet.html"]
    assert not (tmp_path / "contact-sheet.png").exists()


def test_a_browser_that_fails_is_named_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHROMIUM", "/bin/false")

    assert write_sheet(MAILS, tmp_path) == ["contact-sheet.html"]
    assert "/bin/false took no picture" in capsys.readouterr().err
