"""Write queries of the plan as the SQL of engines. Nothing else writes SQL."""
