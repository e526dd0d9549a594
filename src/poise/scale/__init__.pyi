from poise.scale.cluster import map_batches as map_batches
from poise.scale.table import solve_table as solve_table

def require_arrow() -> None: ...
