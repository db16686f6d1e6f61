"""The judge post-pass: requests, the HTTP client, the local judge, batch files, the journal and the judged run."""
