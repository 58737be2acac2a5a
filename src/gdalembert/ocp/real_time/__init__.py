"""Real-time iterations: the stages of a problem about a plan, and Gauss–Newton steps over them."""
