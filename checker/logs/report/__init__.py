"""Findings as text, JSON, pictures and pages."""
