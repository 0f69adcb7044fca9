/** The MCP server without an engine, for the relay of a client's pipe. */
export { createFailingLink } from '../mcp/link.ts';
export { createMcpPipe } from '../mcp/pipe.ts';
