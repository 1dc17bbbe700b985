// Lanes that lanes.toml has, and one that it has not.
putLane("page_context", text);
putLane("tool_resuts", text); // want PF003
asm.putLane("owner", text);
