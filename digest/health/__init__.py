"""What the service depends on and how it is doing: looked at for commands, pages, metrics and the operator's mail."""
