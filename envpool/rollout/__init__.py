"""The learner's side: rollouts of pools."""
