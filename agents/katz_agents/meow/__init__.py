"""The parts of the agents that are specific to Meow."""
