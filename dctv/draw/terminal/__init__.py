"""Draw scenes as terminal text: blocks of colour, or letters without colours."""
