"""Storage as tiers with a purpose, and the contract about checkpoints: what is declared, and what follows from it."""
