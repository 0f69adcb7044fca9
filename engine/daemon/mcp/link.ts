import type { WireValue } from '../../core/api/operation.ts';
import type { ToolAnswer } from '../../core/api/tool-operations.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { Api } from '../compose/compose.ts';

/** One call over a link. */
export interface LinkCallOptions {
  /** The same key again is the same call. */
  key: string;
  signal: AbortSignal;
  onProgress(message: string): void;
}

/** An MCP server's connection to its engine. */
export interface EngineLink {
  /** Runs an operation. Rejects with SvcError. */
  call<K extends keyof Api>(
    operation: K,
    input: Api[K]['input'],
    options: LinkCallOptions,
  ): Promise<Api[K]['output']>;
  /** `call` for a tool, by its name for agents. */
  callTool(name: string, input: Record<string, unknown>, options: LinkCallOptions): Promise<ToolAnswer>;
  /**
   * Delivers every event after `begun` resolves, until `stop` is called.
   * @param resumes true to begin with the events that the client's last connection has missed
   */
  onEvent(
    listener: (event: WireValue<LoggedEvent>) => void,
    resumes: boolean,
  ): { begun: Promise<void>; stop(): void };
  /** Returns the session that the client has joined as; null for none. */
  sessionId(): Promise<string | null>;
}

/** Creates the link to an engine that cannot be reached: every call fails with the reason. */
export function createFailingLink(reason: unknown): EngineLink {
  const fail = (): Promise<never> => Promise.reject(reason);
  return {
    call: fail,
    callTool: fail,
    onEvent: () => ({ begun: Promise.resolve(), stop: () => undefined }),
    sessionId: fail,
  };
}
