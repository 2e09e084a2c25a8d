"""Where stories come from: documents fetched from the web and parsed, and files an editor imports."""
