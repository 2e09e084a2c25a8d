"""What the product knows: values and rules. Standard library only, no clock, randomness or I/O."""
