/** The MCP server over an engine, for bridges of a client's pipe. */
export { createLineSplitter, MAX_LINE_BYTES } from '../daemon/json-lines.ts';
export { readInstructions } from '../daemon/mcp/instructions.ts';
export { messageTooLong, readRpcMessage, rpcRefusal } from '../daemon/mcp/message.ts';
export { createMcpServer } from '../daemon/mcp/server.ts';
