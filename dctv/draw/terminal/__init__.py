"""Scenes to lines of text: blocks of colour, or letters where there are no colours."""
