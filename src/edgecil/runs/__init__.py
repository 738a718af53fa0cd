"""The table of runs: read from files of any form, joined, and written."""
