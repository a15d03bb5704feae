"""The places of `complexity`: where a client or the server chooses the bytes that the gateway reads."""
