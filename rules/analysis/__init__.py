"""What must hold of rules before they run: safety, arities, types, strata and tiers."""
