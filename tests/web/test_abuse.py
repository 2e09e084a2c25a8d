"""Sign-ups by the thousand, guessed links, programs: limited, without harm to anybody else."""

import pytest

from digest.store.tables import Subscriber
from digest.web.admission import network_of
from tests.doubles.challenge import SECRET, running_challenge
from tests.web.conftest import Make, Site

PROXY = {"trusted_proxies": ["192.0.2.1"]}
BASIC = {"language": "en", "timezone": "Europe/Berlin"}


def sign_up(site: Site, number: int, forwarded: str = "", domain: str = "example.com", path: str = "/subscribe") -> int:
    client = site.client(**({"X-Forwarded-For": forwarded} if forwarded else {}))
    client._transport.client = ("192.0.2.1", 50000)  # noqa: SLF001 - who opened the connection
    form = {**BASIC, "email": f"reader{number}@{domain}"}
    answer = client.post(path, json=form) if "/api/" in path else client.post(path, data=form)
    if answer.status_code == 429:
        assert int(answer.headers["retry-after"]) > 0
    return int(answer.status_code)


@pytest.fixture(params=["memory", "redis"])
def limited(make_site: Make, request: pytest.FixtureRequest) -> Site:
    """Three sign-ups a minute from one network, counted in this process and in Redis."""
    url = "memory://" if request.param == "memory" else request.getfixturevalue("redis_url")
    return make_site(
        limit_network="3/minute", limit_domain="5/minute", limit_overall="7/minute", broker_url=url, **PROXY
    )


def test_sgn_02_one_network_has_its_limit_by_form_and_by_json_and_others_keep_theirs(limited: Site) -> None:
    answers = [sign_up(limited, number, "198.51.100.7") for number in range(4)]
    assert answers == [200, 200, 200, 429]
    assert sign_up(limited, 5, "198.51.100.200", path="/api/v1/subscriptions") == 429
    assert sign_up(limited, 6, "203.0.113.9") == 200
    assert limited.count(Subscriber) == 4


def test_sgn_03_header_after_header_opens_no_door(make_site: Make) -> None:
    direct = make_site(limit_network="3/minute")
    assert [sign_up(direct, number, f"1.2.3.{number}") for number in range(4)] == [200, 200, 200, 429]
    behind = make_site(limit_network="3/minute", **PROXY)
    answers = [sign_up(behind, 10 + number, f"1.2.3.{number}, 198.51.100.7") for number in range(4)]
    assert answers == [200, 200, 200, 429]


def test_a_mail_domain_has_its_limit_but_a_mail_service_has_not(limited: Site) -> None:
    answers = [sign_up(limited, number, f"203.0.{number}.1") for number in range(6)]
    assert answers == [200] * 5 + [429]
    assert sign_up(limited, 6, "203.0.6.1", domain="gmail.com") == 200


def test_everybody_together_has_a_limit(limited: Site) -> None:
    answers = [sign_up(limited, number, f"203.0.{number}.1", domain="gmail.com") for number in range(8)]
    assert answers == [200] * 7 + [429]


def test_without_its_redis_the_site_counts_by_itself(make_site: Make, unused_port: int) -> None:
    site = make_site(limit_network="3/minute", broker_url=f"redis://127.0.0.1:{unused_port}/0")
    assert [sign_up(site, number) for number in range(4)] == [200, 200, 200, 429]


@pytest.mark.parametrize(
    ("remote", "network"),
    [
        ("198.51.100.7", "198.51.100.0/24"),
        ("::ffff:198.51.100.7", "198.51.100.0/24"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("", "unknown"),
    ],
)
def test_a_network_is_what_one_household_has(remote: str, network: str) -> None:
    assert network_of(remote) == network


def test_sec_05_guessing_is_slowed_down_and_right_links_go_on_working(site: Site) -> None:
    subscriber_id = site.active()
    client = site.client()
    answers = [client.get(f"/unsubscribe/{number}.guess").status_code for number in range(61)]
    assert answers == [404] * 60 + [429]
    assert client.get(site.unsubscribe_path(subscriber_id)).status_code == 200
    assert client.post(site.unsubscribe_path(subscriber_id)).status_code == 200


def test_sgn_21_who_never_confirms_is_forgotten_and_can_renew_the_link_until_then(site: Site) -> None:
    client = site.client()
    client.post("/subscribe", data={**BASIC, "email": "reader@example.com"})
    path = site.confirm_path()
    site.later(days=6, hours=23)
    site.turn()
    assert site.count(Subscriber) == 1
    site.later(hours=2)
    expired = client.get(path)
    assert expired.status_code == 410
    assert f'action="{path}/again?lang=en"' in expired.text
    assert "Check your inbox" in client.post(f"{path}/again").text
    assert site.letters() == ["confirm", "confirm"]
    assert client.post(site.confirm_path()).status_code == 200
    site.turn()
    client.post("/subscribe", data={**BASIC, "email": "other@example.com"})
    path = site.confirm_path()
    site.later(days=8)
    site.turn()
    assert site.subscriber("other@example.com") is None
    assert site.subscriber("reader@example.com") is not None
    assert "no longer works" in client.post(f"{path}/again").text


def test_when_too_many_wait_for_confirmation_nobody_is_added_until_some_are_gone(make_site: Make) -> None:
    site = make_site(most_pending=2)
    assert [sign_up(site, number) for number in range(3)] == [200, 200, 200]
    site.later(minutes=1)
    assert sign_up(site, 3) == 503
    assert site.count(Subscriber) == 3
    site.later(days=8)
    site.turn()
    assert sign_up(site, 4) == 200


def test_a_challenge_has_to_be_solved_where_the_operator_asks_for_one(make_site: Make) -> None:
    with running_challenge() as double:
        keys = {"challenge_site_key": "1x00000000000000000000AA", "challenge_secret_key": SECRET}
        site = make_site(challenge="turnstile", challenge_url=double.url, **keys)
        client, form = site.client(), {**BASIC, "email": "reader@example.com"}
        page = client.get("/")
        assert 'class="cf-turnstile" data-sitekey="1x00000000000000000000AA"' in page.text
        policy = page.headers["content-security-policy"]
        assert "script-src 'self' https://challenges.cloudflare.com;" in policy
        double.solved.add("solved")
        assert client.post("/subscribe", data=form).status_code == 422
        assert client.post("/subscribe", data={**form, "cf-turnstile-response": "wrong"}).status_code == 422
        assert site.count(Subscriber) == 0
        assert client.post("/subscribe", data={**form, "cf-turnstile-response": "solved"}).status_code == 200
        refused = client.post("/api/v1/subscriptions", json={**form, "challenge": "solved"})
        assert refused.json()["errors"][0]["field"] == "challenge"
        assert {asked["secret"] for asked in double.asked} == {SECRET}
    unreachable = client.post("/subscribe", data={**form, "cf-turnstile-response": "x"})
    assert unreachable.status_code == 503
    assert site.count(Subscriber) == 1
