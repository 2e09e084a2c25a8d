import json
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest
from sendgrid.helpers.mail import (
    Category,
    ClickTracking,
    Content,
    CustomArg,
    From,
    Header,
    Mail,
    OpenTracking,
    Personalization,
    Subject,
    SubscriptionTracking,
    Substitution,
    To,
    TrackingSettings,
)

from digest.domain.delivery import DeliveryReason
from digest.domain.errors import BadInputError
from digest.domain.event import EventKind
from digest.ports import HandOver, Message, Recipient, Sender
from digest.providers.sendgrid import MOST_REQUESTS, SendGridProvider
from digest.providers.sendgrid_request import mail_of, without_twins
from digest.providers.waits import RedisEnds, Waits
from tests.doubles.sendgrid import KEY, Answer, SendGridDouble
from tests.doubles.smtp import mute_server

Readers = Callable[..., list[Recipient]]
Given = Callable[..., HandOver]


@pytest.fixture
def double() -> Iterator[SendGridDouble]:
    with SendGridDouble() as found:
        yield found


@pytest.fixture
def provider(double: SendGridDouble, sender: Sender) -> Iterator[SendGridProvider]:
    with closing(SendGridProvider(KEY, double.host, sender, timeout=5)) as found:
        yield found


@pytest.fixture
def give(provider: SendGridProvider, message: Message, now: datetime) -> Given:
    def hand_over(recipients: list[Recipient], words: Message = message, at: datetime = now) -> HandOver:
        given = provider.hand_over(words, recipients, at)
        groups = [given.accepted, given.refused.keys(), given.unknown, given.again]
        assert sorted(key for group in groups for key in group) == sorted(reader.key for reader in recipients)
        return given

    return hand_over


def refused_at(*fields: str | None) -> Answer:
    return Answer(400, errors=[{"message": "no", "field": field, "help": None} for field in fields])


def test_a_thousand_readers_go_in_one_request_each_with_their_own_values(
    double: SendGridDouble, give: Given, readers: Readers
) -> None:
    given = give(readers(1000))
    assert len(given.accepted) == 1000
    assert double.requests == 1
    assert given.receipt == double.delivered[0].request
    for number, one in enumerate(double.delivered):
        url = f"https://brief.example.com/unsubscribe/{number}.x"
        assert one.address == f"reader{number}@example.org"
        assert one.html == f"<p>早上好</p>\n.<a href='{url}'>退订</a>"
        assert one.text == f"早上好\n.\n退订：{url}\n"
        assert one.headers["List-Unsubscribe"] == f"<{url}>"
        assert one.headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        assert one.custom_args == {"dg_recipient": f"{number}-20261202", "dg_message": "brief-12"}


def test_the_connection_is_kept_between_hand_overs(double: SendGridDouble, give: Given, readers: Readers) -> None:
    give(readers(2))
    give(readers(2))
    assert double.connections == 1


def test_our_request_equals_what_sendgrid_s_own_helpers_build(
    message: Message, sender: Sender, readers: Readers
) -> None:
    people = readers(3)
    ours = mail_of(message, people, sender)
    helper = Mail()
    helper.from_email = From(sender.address, sender.name)
    helper.subject = Subject(message.subject)
    for reader in reversed(people):  # the helper puts each new one first
        one = Personalization()
        one.add_to(To(reader.address))
        one.add_substitution(Substitution("@@u7k2@@", reader.values["unsubscribe_url"]))
        one.add_header(Header("List-Unsubscribe", f"<{reader.unsubscribe_url}>"))
        one.add_header(Header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"))
        one.add_custom_arg(CustomArg("dg_recipient", reader.key))
        helper.add_personalization(one)
    helper.add_content(Content("text/plain", message.text))
    helper.add_content(Content("text/html", message.html))
    for name, value in ours["headers"].items():
        helper.add_header(Header(name, value))
    helper.add_category(Category("brief"))
    helper.add_custom_arg(CustomArg("dg_message", "brief-12"))
    tracking = TrackingSettings()
    tracking.click_tracking = ClickTracking(enable=False, enable_text=False)
    tracking.open_tracking = OpenTracking(enable=False)
    tracking.subscription_tracking = SubscriptionTracking(enable=False)
    helper.tracking_settings = tracking
    assert ours == helper.get()


def test_prv_17_tracking_is_off_and_there_is_no_unsubscribe_group(
    double: SendGridDouble, give: Given, readers: Readers
) -> None:
    give(readers(1))
    sent = json.loads(double.bodies[0])
    assert sent["tracking_settings"]["click_tracking"] == {"enable": False, "enable_text": False}
    assert sent["tracking_settings"]["open_tracking"]["enable"] is False
    assert sent["tracking_settings"]["subscription_tracking"]["enable"] is False
    assert "asm" not in sent


@pytest.mark.parametrize(("kind", "pixel"), [("brief", True), ("confirm", False)])
def test_openings_are_counted_where_that_is_switched_on_in_briefs_alone(
    double: SendGridDouble, sender: Sender, message: Message, readers: Readers, now: datetime, kind: str, *, pixel: bool
) -> None:
    provider = SendGridProvider(KEY, double.host, sender, counts_opens=True)
    try:
        assert provider.hand_over(replace(message, kind=kind), readers(2), now).accepted == {"0-20261202", "1-20261202"}
    finally:
        provider.close()
    tracking = json.loads(double.bodies[0])["tracking_settings"]
    assert tracking["open_tracking"] == {"enable": pixel}
    assert tracking["click_tracking"] == {"enable": False, "enable_text": False}


def test_no_address_stands_where_sendgrid_keeps_things_for_long(
    message: Message, sender: Sender, readers: Readers
) -> None:
    mail = mail_of(message, readers(2), sender)
    kept = [mail["categories"], mail["custom_args"], *(one["custom_args"] for one in mail["personalizations"])]
    assert "@" not in json.dumps(kept)


def test_mail_outside_the_list_has_no_unsubscribe_headers(
    double: SendGridDouble, provider: SendGridProvider, message: Message, now: datetime
) -> None:
    reader = Recipient("c-1", "reader@example.org", {"unsubscribe_url": "-"})
    assert provider.hand_over(message, [reader], now).accepted == {"c-1"}
    assert "List-Unsubscribe" not in double.delivered[0].headers


@pytest.mark.parametrize("name", ["晨报, Inc. (Daily)", "Brief, Daily", '"Quoted" <x>', "早报：每日"])
def test_rnd_19_the_sender_is_one_mailbox_with_exactly_that_name(
    double: SendGridDouble, message: Message, readers: Readers, now: datetime, name: str
) -> None:
    sender = Sender(name, "brief@example.com", "brief.example.com", name)
    with closing(SendGridProvider(KEY, double.host, sender, timeout=5)) as provider:
        assert provider.hand_over(message, readers(1), now).accepted
    assert double.delivered[0].sender == {"email": "brief@example.com", "name": name}


def test_prv_09_one_bad_recipient_does_not_stop_the_rest(double: SendGridDouble, give: Given, readers: Readers) -> None:
    given = give(readers(47, "broken@", "Twin@example.com", "twin@example.com"))
    assert set(given.refused) == {"47-20261202"}
    assert given.refused["47-20261202"].reason is DeliveryReason.INVALID_ADDRESS
    assert len(given.accepted) == 49
    assert set(double.counts.values()) == {1}
    assert double.requests == 2  # nothing was refused: the twins went apart from each other


@pytest.mark.parametrize("names_fields", [True, False])
def test_prv_09_who_only_sendgrid_refuses_is_found_and_the_others_go_once(
    double: SendGridDouble, give: Given, readers: Readers, *, names_fields: bool
) -> None:
    double.names_fields = names_fields
    given = give(readers(40, "reader@localhost", "other@intranet"))
    assert set(given.refused) == {"40-20261202", "41-20261202"}
    assert len(given.accepted) == 40
    assert set(double.counts.values()) == {1}
    assert not given.alarm


def test_a_refusal_says_why_and_what_kind(double: SendGridDouble, give: Given, readers: Readers) -> None:
    refusal = give(readers(1, "reader@localhost")).refused["1-20261202"]
    assert (refusal.reason, refusal.bounce) == (DeliveryReason.INVALID_ADDRESS, EventKind.SOFT_BOUNCED)
    assert "Does not contain a valid address" in refusal.detail
    assert double.requests == 2


def test_a_reader_refused_for_another_field_is_not_taken_for_a_dead_address(
    double: SendGridDouble, give: Given, readers: Readers
) -> None:
    double.script.append(refused_at("personalizations.1.substitutions"))
    given = give(readers(3))
    refusal = given.refused["1-20261202"]
    assert (refusal.reason, refusal.bounce) == (DeliveryReason.REFUSED, None)
    assert len(given.accepted) == 2


def test_a_message_that_is_refused_as_a_whole_takes_one_request(
    double: SendGridDouble, give: Given, readers: Readers
) -> None:
    double.always = refused_at("content.1.value")
    assert len(give(readers(30)).refused) == 30
    assert double.requests == 1


def test_a_refused_sender_is_an_alarm_and_fails_no_reader(
    double: SendGridDouble, give: Given, readers: Readers
) -> None:
    double.always = refused_at("from.email")
    given = give(readers(30))
    assert "sender" in given.alarm
    assert len(given.again) == 30


def test_searching_for_refused_readers_is_bounded(double: SendGridDouble, give: Given, readers: Readers) -> None:
    double.always = refused_at(None)
    given = give(readers(1000))
    assert double.requests == MOST_REQUESTS
    assert given.refused
    assert given.again


def test_an_index_beyond_the_request_refuses_nobody_by_mistake(
    double: SendGridDouble, give: Given, readers: Readers
) -> None:
    double.script.append(refused_at("personalizations.7.to"))
    assert len(give(readers(4)).accepted) == 4


@pytest.mark.parametrize("status", [401, 403, 404, 405, 302])
def test_what_only_the_operator_can_mend_is_an_alarm_and_fails_no_reader(
    double: SendGridDouble, give: Given, readers: Readers, status: int
) -> None:
    double.always = Answer(status)
    given = give(readers(3))
    assert str(status) in given.alarm
    assert len(given.again) == 3
    assert double.requests == 1


def test_a_wrong_key_is_an_alarm(
    double: SendGridDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with closing(SendGridProvider("SG.wrong", double.host, sender, timeout=5)) as provider:
        given = provider.hand_over(message, readers(2), now)
    assert "API key" in given.alarm
    assert "SG.wrong" not in given.alarm
    assert len(given.again) == 2


def test_a_request_too_large_is_split_until_it_fits(double: SendGridDouble, give: Given, readers: Readers) -> None:
    double.script.extend([Answer(413), Answer(413)])
    assert len(give(readers(8)).accepted) == 8
    assert double.requests == 5
    assert [len(json.loads(body)["personalizations"]) for body in double.bodies] == [8, 4, 2, 2, 4]


def test_a_single_message_too_large_is_refused(double: SendGridDouble, give: Given, readers: Readers) -> None:
    double.always = Answer(413)
    assert len(give(readers(4)).refused) == 4


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "30"}, 30.0),
        ({"X-RateLimit-Reset": "RESET", "X-RateLimit-Remaining": "0"}, 30.0),
        ({"X-RateLimit-Reset": "RESET"}, 30.0),
        ({"Retry-After": "Wed, 02 Dec 2026 00:00:35 GMT"}, 30.0),
        ({"Retry-After": "0"}, 1.0),
        ({"Retry-After": "999999"}, 3600.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_prv_11_a_throttled_batch_waits_as_long_as_the_headers_say(
    double: SendGridDouble, give: Given, readers: Readers, now: datetime, headers: dict[str, str], seconds: float | None
) -> None:
    reset = str(int((now + timedelta(seconds=30)).timestamp()))
    told = {name: value.replace("RESET", reset) for name, value in headers.items()}
    double.always = Answer(429, headers=told)
    given = give(readers(250))
    assert len(given.again) == 250
    assert given.after_seconds == seconds
    assert not given.alarm
    assert double.requests == 1  # no second layer of retries


def test_prv_11_once_the_window_is_over_everyone_is_accepted_once(
    double: SendGridDouble, give: Given, readers: Readers, now: datetime
) -> None:
    double.script.append(Answer(429, headers={"Retry-After": "30"}))
    everyone = readers(250)
    assert not give(everyone).accepted
    assert len(give(everyone, at=now + timedelta(seconds=30)).accepted) == 250
    assert set(double.counts.values()) == {1}


@pytest.mark.parametrize("status", [502, 504, 520, 524])
def test_a_gateway_that_lost_the_answer_leaves_everyone_unknown(
    double: SendGridDouble, give: Given, readers: Readers, status: int
) -> None:
    double.always = Answer(status)
    given = give(readers(3))
    assert len(given.unknown) == 3
    assert double.requests == 1


@pytest.mark.parametrize("status", [500, 503])
def test_a_service_that_says_it_failed_has_taken_nothing(
    double: SendGridDouble, give: Given, readers: Readers, status: int
) -> None:
    double.script.extend([Answer(status), Answer(status, errors=[{"message": "unavailable", "field": None}])])
    for _ in range(2):
        given = give(readers(3))
        assert (len(given.again), given.alarm, given.after_seconds) == (3, "", None)
    assert len(give(readers(3)).accepted) == 3
    assert set(double.counts.values()) == {1}


@pytest.mark.parametrize("status", [500, 503])
def test_a_page_of_somebody_in_between_says_nothing_of_what_the_service_did(
    double: SendGridDouble, give: Given, readers: Readers, status: int
) -> None:
    double.always = Answer(status, page="upstream connect error or disconnect/reset before headers")
    assert len(give(readers(3)).unknown) == 3


def test_a_service_that_says_when_to_come_back_has_taken_nothing(
    double: SendGridDouble, give: Given, readers: Readers
) -> None:
    double.always = Answer(503, headers={"Retry-After": "60"})
    given = give(readers(3))
    assert len(given.again) == 3
    assert given.after_seconds == 60


@pytest.mark.parametrize("drop", ["before", "after"])
def test_a_connection_that_ends_without_an_answer_leaves_everyone_unknown(
    double: SendGridDouble, give: Given, readers: Readers, drop: str
) -> None:
    double.script.append(Answer(drop=drop))
    given = give(readers(3))
    assert len(given.unknown) == 3
    assert double.counts.total() == (3 if drop == "after" else 0)


def test_silence_after_the_request_leaves_everyone_unknown(
    double: SendGridDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    double.script.append(Answer(hang=True))
    with closing(SendGridProvider(KEY, double.host, sender, timeout=0.3)) as provider:
        assert len(provider.hand_over(message, readers(3), now).unknown) == 3


def test_prv_13_a_mute_server_is_given_up_within_the_time_limit(
    sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with (
        mute_server() as port,
        closing(SendGridProvider(KEY, f"http://127.0.0.1:{port}", sender, timeout=0.3)) as provider,
    ):
        given = provider.hand_over(message, readers(20), now)
    assert len(given.again) == 20
    assert not given.alarm


def test_prv_13_after_it_has_recovered_everyone_gets_the_mail_once(
    sender: Sender, message: Message, readers: Readers, now: datetime, closed_port: int
) -> None:
    everyone = readers(20)
    with closing(SendGridProvider(KEY, f"http://127.0.0.1:{closed_port}", sender, timeout=0.3)) as provider:
        with mute_server(closed_port):
            assert len(provider.hand_over(message, everyone, now).again) == 20
        with SendGridDouble(closed_port) as double:
            assert len(provider.hand_over(message, everyone, now).accepted) == 20
            assert set(double.counts.values()) == {1}


def test_a_server_that_turns_mute_after_it_spoke_leaves_everyone_unknown(
    double: SendGridDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with closing(SendGridProvider(KEY, double.host, sender, timeout=0.3)) as provider:
        assert provider.hand_over(message, readers(1), now).accepted
        double.script.append(Answer(hang=True))
        assert len(provider.hand_over(message, readers(3), now).unknown) == 3


def test_a_connection_that_breaks_before_the_whole_request_has_left_has_given_nothing(
    double: SendGridDouble, give: Given, message: Message, readers: Readers
) -> None:
    double.script.append(Answer(drop="reading"))
    big = replace(message, html=message.html + "x" * 8_000_000)
    given = give(readers(3), big)
    assert len(given.again) == 3
    assert not double.counts


def test_redirects_are_not_followed_with_the_key(double: SendGridDouble, give: Given, readers: Readers) -> None:
    with SendGridDouble() as elsewhere:
        double.always = Answer(307, headers={"Location": f"{elsewhere.host}/v3/mail/send"})
        given = give(readers(2))
        assert (len(given.again), elsewhere.requests) == (2, 0)
    assert "307" in given.alarm


def test_requests_are_cut_by_their_bytes_too(
    double: SendGridDouble, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with closing(SendGridProvider(KEY, double.host, sender, timeout=5, most_bytes=2000)) as provider:
        assert len(provider.hand_over(message, readers(20), now).accepted) == 20
    assert double.requests > 2
    assert max(len(body) for body in double.bodies) <= 2000
    assert set(double.counts.values()) == {1}


def test_the_request_is_the_documented_json_of_what_the_reference_describes(
    double: SendGridDouble, give: Given, message: Message, sender: Sender, readers: Readers
) -> None:
    everyone = readers(3)
    give(everyone)
    assert json.loads(double.bodies[0]) == mail_of(message, everyone, sender)


def test_prv_11_all_workers_wait_when_one_was_told_to(
    double: SendGridDouble, sender: Sender, message: Message, readers: Readers, now: datetime, redis_url: str
) -> None:
    providers = [SendGridProvider(KEY, double.host, sender, Waits(RedisEnds(redis_url))) for _ in range(3)]
    double.script.append(Answer(429, headers={"Retry-After": "30"}))
    with ExitStack() as stack:
        for provider in providers:
            stack.enter_context(closing(provider))
        for later in (0, 5, 29):
            for provider in providers:
                given = provider.hand_over(message, readers(10), now + timedelta(seconds=later))
                assert (len(given.again), given.after_seconds) == (10, 30.0 - later)
        assert double.requests == 1
        assert given.delayed == "sendgrid asked to wait"
        for number, provider in enumerate(providers):
            given = provider.hand_over(message, readers(0, f"reader{number}@example.org"), now + timedelta(seconds=31))
            assert len(given.accepted) == 1


def test_a_refused_connection_leaves_everyone_for_later(
    closed_port: int, sender: Sender, message: Message, readers: Readers, now: datetime
) -> None:
    with closing(SendGridProvider(KEY, f"http://127.0.0.1:{closed_port}", sender, timeout=5)) as provider:
        given = provider.hand_over(message, readers(3), now)
    assert len(given.again) == 3
    assert not given.alarm


def test_after_an_unknown_part_nothing_more_is_tried(double: SendGridDouble, give: Given, readers: Readers) -> None:
    double.script.append(Answer(drop="after"))
    given = give(readers(1, "Twin@example.com", "twin@example.com"))
    assert (len(given.unknown), len(given.again)) == (2, 1)
    assert double.requests == 1


def test_sgn_13_an_address_beyond_ascii_is_refused_and_the_fifty_others_go(
    double: SendGridDouble, give: Given, readers: Readers
) -> None:
    given = give(readers(50, "用户@xn--fsqu00a.xn--55qw42g"))
    assert given.refused["50-20261202"].reason is DeliveryReason.INVALID_ADDRESS
    assert len(given.accepted) == 50
    assert double.requests == 1


def test_sgn_11_no_value_can_add_a_header(
    double: SendGridDouble, message: Message, readers: Readers, now: datetime
) -> None:
    sender = Sender("Bob\r\nBcc: victim@example.com", "brief@example.com", "brief.example.com", "Bob\r\nX-A: 1")
    with closing(SendGridProvider(KEY, double.host, sender, timeout=5)) as provider:
        given = provider.hand_over(message, readers(1, "a@example.com\r\nBcc: victim@example.com"), now)
    assert set(given.refused) == {"1-20261202"}
    sent: dict[str, Any] = json.loads(double.bodies[0])
    assert sent["from"]["name"] == "Bob Bcc: victim@example.com"
    assert not any("\r" in value or "\n" in value for value in sent["headers"].values())


def test_a_key_that_cannot_be_a_header_is_refused_without_being_shown(sender: Sender) -> None:
    with pytest.raises(BadInputError) as caught:
        SendGridProvider("SG.secret\nX: y", "https://api.sendgrid.com", sender)
    assert "secret" not in str(caught.value)


def test_the_key_is_in_no_log_and_no_repr(
    double: SendGridDouble, give: Given, provider: SendGridProvider, readers: Readers, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    double.script.append(Answer(401))
    give(readers(1))
    give(readers(1))
    assert KEY not in caplog.text + repr(provider) + repr(vars(provider)) + str(vars(provider))
    assert "example.org" not in caplog.text


def test_twins_never_share_a_group_and_groups_are_few(readers: Readers) -> None:
    groups = without_twins(readers(3, "A@example.com", "a@example.com", "a@EXAMPLE.com"))
    assert [len(group) for group in groups] == [4, 1, 1]


def test_the_double_refuses_a_thousand_and_one(
    double: SendGridDouble, message: Message, sender: Sender, readers: Readers
) -> None:
    mail = mail_of(message, readers(1001), sender)
    answer = httpx2.post(f"{double.host}/v3/mail/send", json=mail, headers={"Authorization": f"Bearer {KEY}"})
    assert answer.status_code == 400
    assert {error["field"] for error in answer.json()["errors"]} >= {"personalizations"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"subject": ""}, "subject"),
        ({"content": [{"type": "text/html", "value": "x"}, {"type": "text/plain", "value": "x"}]}, "content"),
        ({"headers": {"Reply-To": "a@example.com"}}, "headers.Reply-To"),
        ({"headers": {"List-Id": "每日"}}, "headers.List-Id"),
        ({"categories": ["a", "a"]}, "categories"),
        ({"custom_args": {"n": 1}}, "custom_args"),
        ({"from": {"email": "brief"}}, "from.email"),
        ({"tracking_settings": {"click_tracking": {"enable": "false"}}}, "tracking_settings.click_tracking"),
        ({"personalizations": [{"to": []}]}, "personalizations.0.to"),
        ({"personalizations": [{"to": [{"email": "a@example.com", "name": "A, B"}]}]}, "personalizations.0.to.0.name"),
        ({"personalizations": [{"to": [{"email": "a@example.com"}]}] * 2}, "personalizations.1.to"),
        (
            {"personalizations": [{"to": [{"email": "a@example.com"}], "substitutions": {"t": 1}}]},
            "personalizations.0.substitutions",
        ),
        (
            {"personalizations": [{"to": [{"email": "a@example.com"}], "substitutions": {"t": "x" * 10_001}}]},
            "personalizations.0.substitutions",
        ),
        ({"sandbox": True}, "sandbox"),
    ],
)
def test_the_double_refuses_what_the_reference_refuses(
    double: SendGridDouble, message: Message, sender: Sender, readers: Readers, change: dict[str, Any], field: str
) -> None:
    mail = mail_of(message, readers(1), sender) | change
    answer = httpx2.post(f"{double.host}/v3/mail/send", json=mail, headers={"Authorization": f"Bearer {KEY}"})
    assert answer.status_code == 400
    assert field in {error["field"] for error in answer.json()["errors"]}
    assert not double.counts
