"""The commands of ``katz``, one module each; they need the extra ``train``."""
