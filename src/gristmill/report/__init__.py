"""What people look at: progress while a run lasts, and the ledger as tables afterwards."""
