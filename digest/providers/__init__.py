"""Who carries the mail: one module per provider behind :class:`digest.ports.Provider`, nothing above knows which.

How to add the next one, file by file: docs/providers.md.
"""
