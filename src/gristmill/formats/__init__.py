"""Bytes on disk: one file a layout, its reader beside its writer."""
