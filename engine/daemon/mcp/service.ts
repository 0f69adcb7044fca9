import type { Caller } from '../../core/api/operation.ts';
import { asSvcError } from '../../core/base/errors.ts';
import { noteCallerSeen } from '../admit.ts';
import type { Engine } from '../compose/compose.ts';
import { linkToEngine, type ResumePoint } from './engine-link.ts';
import { createEventFeed } from './event-feed.ts';
import type { EngineLink } from './link.ts';
import { createPacedSender } from './paced-sender.ts';
import { createMcpPipe, type McpPipe } from './pipe.ts';
import { createWaitingCalls, type WaitingCalls } from './waiting-calls.ts';

/** The relay of a client, as it introduces itself. */
export interface McpRelay {
  client: string;
  point: string | null;
  is_resumed: boolean;
}

/** The connection to a relay. */
export interface RelayChannel {
  /** Returns false if the relay reads slower than we write. */
  send(frame: string): boolean;
  /** Calls `work` once the relay has caught up. */
  onDrained(work: () => void): void;
}

/** The MCP server of an engine, over both transports. */
export interface McpService {
  engine: Engine;
  /** Creates what serves one caller. */
  serveCaller(caller: Caller, resume?: ResumePoint): CallerService;
  /** Serves the client of a relay. */
  openPipe(caller: Caller, relay: McpRelay, channel: RelayChannel): McpPipe;
}

export interface CallerService {
  link: EngineLink;
  calls: WaitingCalls;
}

export function createMcpService(engine: Engine): McpService {
  const feed = createEventFeed(engine);
  const waiting = createWaitingCalls(engine);

  function serveCaller(caller: Caller, resume?: ResumePoint): CallerService {
    const link = linkToEngine({ engine, feed }, caller, resume);
    return { link, calls: waiting.bindTo(caller, link) };
  }

  return {
    engine,
    serveCaller,
    openPipe(caller, { client, point, is_resumed: isResumed }, channel) {
      const { send } = channel;
      const sendPaced = createPacedSender(send, channel.onDrained);
      const { link, calls } = serveCaller(caller, {
        from: point,
        onPoint: (next) => sendPaced('point', `p ${next ?? ''}`),
      });
      const { version, log } = engine;
      const pipe = createMcpPipe(leaveToNextEngine(link), {
        client,
        version,
        isResumed,
        calls,
        log,
        send,
        sendPaced,
      });
      return {
        ...pipe,
        receive(frame) {
          noteCallerSeen(engine, caller);
          pipe.receive(frame);
        },
      };
    },
  };
}

/** Leaves calls that the end of this engine interrupts without an answer: the relay sends them to the next engine. */
function leaveToNextEngine(link: EngineLink): EngineLink {
  const leaveInterrupted = (error: unknown): Promise<never> => {
    if (asSvcError(error).code !== 'engine_closing') throw error;
    return new Promise(() => undefined);
  };
  return {
    ...link,
    call: (...call) => link.call(...call).catch(leaveInterrupted),
    callTool: (...call) => link.callTool(...call).catch(leaveInterrupted),
  };
}
