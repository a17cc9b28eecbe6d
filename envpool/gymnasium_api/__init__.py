"""gymnasium's own interfaces: its ids, single environments, vector environments."""
