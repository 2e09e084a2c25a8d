"""The methods that read: a scanner or a client asks with either, and neither changes anything."""

READ = ["GET", "HEAD"]
