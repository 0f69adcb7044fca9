import type { WireValue } from '../../core/api/operation.ts';
import type { ToolAnswer } from '../../core/api/tool-operations.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { Api } from '../compose/compose.ts';

/** An MCP server's connection to its engine: the same in the daemon and in a bridge of a terminal's pipe. */
export interface EngineLink {
  /** Runs an operation. Rejects with SvcError. The same `key` again is the same call. */
  call<K extends keyof Api>(
    operation: K,
    input: Api[K]['input'],
    options: { key: string; signal: AbortSignal; onProgress(message: string): void },
  ): Promise<Api[K]['output']>;
  /** `call` for a tool, by its name for agents. */
  callTool(
    name: string,
    input: Record<string, unknown>,
    options: { key: string; signal: AbortSignal; onProgress(message: string): void },
  ): Promise<ToolAnswer>;
  /** Delivers every event after `begun` resolves, until `stop` is called. */
  onEvent(listener: (event: WireValue<LoggedEvent>) => void): { begun: Promise<void>; stop(): void };
  /** Returns the session that the client has joined as, once it is connected; null for none. */
  sessionId(): Promise<string | null>;
}
