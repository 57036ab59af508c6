"""Steps, tasks and records: what must run, what is already done, and what it cost. Knows no stage."""
