"""Words: templates, catalogues, dates and layout, from stories to messages. No rows, no network, no clock."""
