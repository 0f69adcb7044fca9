import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { renderWords } from '../../core/api/words.ts';
import { asSvcError, type SvcError } from '../../core/base/errors.ts';
import type { EngineLink, LinkCallOptions } from './link.ts';

/** A call of a tool, as a client sends it. */
export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

/** The member of a request's `_meta` with which a program asks for the answer as data too. */
export const STRUCTURED_KEY = 'svc/structured';

export interface ToolCallOptions extends LinkCallOptions {
  /** Adds the answer as data. An agent would pay for it twice, or get it instead of the shorter text. */
  isStructured?: boolean;
}

/** Calls a tool. Throws the protocol's error for an unknown one. */
export async function callTool(
  link: EngineLink,
  { name, input }: ToolCall,
  { isStructured = false, ...options }: ToolCallOptions,
): Promise<CallToolResult> {
  try {
    const { result, text } = await link.callTool(name, input, options);
    return {
      content: [{ type: 'text', text: text ?? writeCompactJson(result) }],
      ...(isStructured && { structuredContent: result }),
    };
  } catch (thrown) {
    const error = asSvcError(thrown);
    // Not a refusal by a tool but a call of an unknown one (MCP, Tools, Error Handling).
    if (error.data.unknownTool === name)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
    return buildRefusal(error);
  }
}

/** Writes JSON without the empty members of its rows, which an agent would pay for: nulls, and empty texts and lists. */
function writeCompactJson(result: Record<string, unknown>): string {
  return JSON.stringify(result, function leaveOutEmpty(this: unknown, key, value: unknown) {
    const isMember = key !== '' && this !== result && !Array.isArray(this);
    return isMember && isEmpty(value) ? undefined : value;
  });
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0);

/** A refusal is a result, so that the model reads it and can do something else. */
function buildRefusal({ code, message, hint: said, data }: SvcError): CallToolResult {
  const hint = said === undefined ? undefined : renderWords(said, 'tools');
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}` }],
    structuredContent: { ...data, code, message, hint: hint ?? null },
  };
}

/** Reports whether the end of this engine has interrupted a call, which the next engine continues under its key. */
export const isInterrupted = ({ isError, structuredContent }: CallToolResult): boolean =>
  isError === true && (structuredContent as { code?: unknown } | undefined)?.code === 'engine_closing';
