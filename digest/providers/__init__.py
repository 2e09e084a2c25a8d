"""Who carries the mail: one module per provider behind :class:`digest.ports.Provider`, nothing above knows which.

To add the next provider:

1. Write ``digest/providers/<name>.py`` with a class that has ``name``, ``batch_size``, ``hand_over`` and ``close``.
   Start ``hand_over`` with a :class:`digest.providers.tally.Tally`, settle recipients on it as answers come, and return
   ``tally.result()``: what was never settled is then *again*, so no reader is lost between two branches.
2. Decide for every way a call can end which of four it is, and write the table into the docstring: *accepted* (the
   provider said so), *refused* (it said no to this reader, for good), *again* (it certainly has not taken it),
   *unknown* (it may have). When in doubt it is *unknown*: a brief that comes twice is worse than one
   that an event settles later. A fault only the operator can mend (credentials, sender not allowed) is an ``alarm``
   and fails no reader.
3. Give every call a time limit of at most 30 seconds and the whole hand-over one well under the lease of a batch.
4. Put our ``Recipient.key`` where the provider's events give it back, and no address anywhere a provider keeps things.
5. If it reports events, write ``<name>_events.py``: verify the raw bytes first, then map by a plain table into
   :class:`digest.domain.event.EventKind`; what is not in the table is ``OTHER``.
6. Write its double in ``tests/doubles/``, as strict as its documentation, and run the provider against it: accepted,
   one refused, all refused, throttled, silent, cut off before and after acceptance.
7. Name it in ``digest/settings.py`` and ``digest/bootstrap.py``.
"""
