"""Lists of readers as other programs save them: files to rows under our own column names, and back."""
