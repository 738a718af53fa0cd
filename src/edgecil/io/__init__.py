"""Files, array types and remote services: what every station may use."""
