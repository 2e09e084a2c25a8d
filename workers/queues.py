"""The queues, each with what waits in it."""

from kombu.entity import Exchange, Queue

LETTERS = "letters"
TICK = "tick"
COMPILE = "compile"
SEND = "send"
COLLECT = "collect"
PAGES = "pages"
EVENTS = "events"
CALLS = "calls"
TIDY = "tidy"
WRITE = "write"
WATCH = "watch"

MEANING = {
    LETTERS: "mail that a person waits for: confirmations, welcomes, goodbyes; a worker of its own keeps it short",
    TICK: "one turn of the scheduler; short, idempotent, and thrown away when it gets old",
    COMPILE: "one brief to choose, rank and render",
    SEND: "one batch of a brief to hand to the provider",
    COLLECT: "one source to fetch and read",
    PAGES: "one story whose full text to read from its page",
    EVENTS: "one post of provider events to record and act on",
    CALLS: "one piece of news to tell another program, whose silence delays nobody else",
    TIDY: "old deliveries, events and letters to remove, once an hour",
    WATCH: "a look after the service, once a minute: counts, checks, alarms, the report",
    WRITE: "texts: one story for the writer; slow, costs money, and nothing waits for it",
}
"""Why each queue is there. The order is the order of service where one worker serves all."""

# Each with an exchange and key of its own: with the default ones every queue would get a copy of every message.
QUEUES = tuple(Queue(name, Exchange(name), routing_key=name) for name in MEANING)  # type: ignore[no-untyped-call] # kombu is typed in part
