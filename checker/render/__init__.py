"""Texts and pictures for people, and files for other programs. Other packages return data."""
