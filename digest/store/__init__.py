"""Rows: tables, migrations and queries. Functions take a Session and never commit; steps do."""
