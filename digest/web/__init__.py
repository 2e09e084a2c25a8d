"""The reader's pages and the addresses that mail clients and scripts call."""
