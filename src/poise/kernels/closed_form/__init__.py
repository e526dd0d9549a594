"""All solutions of an arm of six joints whose axes meet or are parallel, eight candidates in eight lanes."""
