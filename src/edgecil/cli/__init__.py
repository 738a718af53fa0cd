"""The command line: each verb parses its options, calls the API once, and prints the answer."""
