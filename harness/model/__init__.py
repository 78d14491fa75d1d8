"""One chat request: finding a server, keeping a legal history, asking, decoding the reply."""
