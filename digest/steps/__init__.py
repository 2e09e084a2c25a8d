"""One file per arrow: load, ask the domain, save, commit, return what happened."""
