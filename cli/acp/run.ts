import { basename } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import {
  client,
  type McpServer,
  methods,
  type PromptResponse,
  type RequestPermissionRequest,
} from '@agentclientprotocol/sdk';
import { asSvcError } from '../../engine/core/base/errors.ts';
import { version } from '../../engine/core/base/own-package.ts';
import { settleWithin } from '../../engine/core/base/settle-within.ts';
import { type AcpError, type AcpLine, acpHost } from '../../engine/index.ts';
import type { KeptLink } from '../link.ts';
import { type AgentProcess, startAgent } from './agent.ts';
import { findAgentEnvironment, findOwnWords } from './agent-quirks.ts';
import { clipText, createSecretRemover, describeError } from './failure.ts';
import { takeNewMessages } from './messages.ts';
import { createPermissions } from './permission.ts';
import { AcpSessionError, openSession } from './session.ts';
import { createTranscript } from './transcript.ts';

export interface AcpRun {
  /** The agent's own command. */
  argv: readonly string[];
  prompt: string;
  /** The agent's session to resume. */
  resume: string | null;
  cwd: string;
  env: NodeJS.ProcessEnv;
  stdout: { write(text: string): unknown };
  stderr: { write(chunk: Uint8Array | string): unknown };
  /** Cancels the run. */
  signal: AbortSignal;
  link: KeptLink;
  /** Program and arguments that serve the tools. */
  mcp: { command: string; args: readonly string[] };
  /** Time for the agent's handshake and opening a session, ms; 60 s. */
  patienceMs?: number;
}

const PATIENCE_MS = 60_000;
/** How often in a row messages may start another turn: two agents that answer each other would never end. */
const MOST_TURNS = 50;
/** How long an agent may take to confirm a cancellation. */
const CANCEL_MS = 1000;

/** How a turn ended: as reported by the agent, or with a failure. */
type Ending =
  | { answer: PromptResponse; failure: null }
  | { answer: null; failure: AcpError; isCancelled?: boolean };

/**
 * Runs an agent for one prompt, and for the messages that arrive in the meantime, over the agent client protocol;
 * `stdout` gets the lines of its log.
 */
export async function runAcp(run: AcpRun): Promise<number> {
  const { argv, cwd, env, stdout, link } = run;
  const clean = createSecretRemover(env);
  const printLine = (line: AcpLine): void => void stdout.write(`${JSON.stringify(line)}\n`);
  const ownWords = findOwnWords(argv[0] ?? '');
  const transcript = createTranscript({ print: printLine, cwd, clean, ownWords });
  const { findStopFailure } = await acpHost();

  let agent: AgentProcess | null = null;
  let ending: Ending;
  try {
    const [program = ''] = argv;
    const added = findAgentEnvironment(program, env);
    agent = startAgent({ argv, cwd, env: { ...env, ...added }, stderr: run.stderr });
    ending = await runConversation({ ...run, agent, transcript, print: printLine, clean });
  } catch (error) {
    const text = clipText(clean(asSvcError(error).message));
    ending = { answer: null, failure: { code: 'agent_error', text } };
  }

  transcript.flush();
  const usage = transcript.usage(ending.answer);
  if (usage !== null) printLine(usage);
  const stop = ending.answer?.stopReason ?? null;
  const error = ending.failure ?? findStopFailure(stop ?? '');
  const isCancelled = ending.answer === null && ending.isCancelled === true;
  if (error !== null && stop === null && !isCancelled) printLine({ acp: 'error', ...error });
  printLine({ acp: 'end', stop_reason: isCancelled ? 'cancelled' : stop, error });
  await agent?.end();
  await link.close();
  return error === null ? 0 : 1;
}

type Talk = AcpRun & {
  agent: AgentProcess;
  transcript: ReturnType<typeof createTranscript>;
  print(line: AcpLine): void;
  clean(text: string): string;
};

async function runConversation(talk: Talk): Promise<Ending> {
  const { argv, cwd, env, prompt, resume, signal, link, agent, transcript, print, clean } = talk;
  const program = basename(argv[0] ?? '');
  let agentName = env.SVC_AGENT || program;
  let session: string | null = null;
  const permission = createPermissions({
    link,
    transcript,
    print,
    agent: () => agentName,
    cwd,
    reserved: env.SVC_CONFIG ? [env.SVC_CONFIG] : [],
    signal,
  });

  // Not validated: an agent with a newer version of the protocol, or one that deviates from it, must still be
  // understood. Other requests (files, terminals) are answered as unknown.
  const connection = client({ name: 'svc' })
    .onNotification(methods.client.session.update, keepParams, ({ params }) => {
      // Everything before this is the history of a resumed session.
      if (session !== null) transcript.update(params);
    })
    .onRequest(methods.client.session.requestPermission, keepParams, ({ params, signal: given }) =>
      permission(params as RequestPermissionRequest, given),
    )
    .connect(agent.stream);

  const interruption = followInterruptions(link, env.SVC_SESSION, signal);
  const holdTurn = async (): Promise<Ending> => {
    const { SVC_VKEY: _, ...rest } = env;
    const variables = Object.entries(rest).filter(([name]) => name.startsWith('SVC_'));
    const { command, args } = talk.mcp;
    const mcp: McpServer = {
      name: 'svc',
      command,
      args: [...args],
      env: variables.map(([name, value = '']) => ({ name, value })),
    };
    const patienceMs = talk.patienceMs ?? PATIENCE_MS;
    const opened = await openSession(connection.agent, {
      cwd,
      mcp,
      resume,
      env,
      version,
      program,
      patienceMs,
    });
    // The rest of the history is read before the prompt is sent.
    await turn();
    session = opened.id;
    agentName = env.SVC_AGENT || opened.agent.name;
    const { id, model, lost } = opened;
    print({ acp: 'session', id, agent: opened.agent, model });
    if (lost !== null) {
      const text = clipText(`session ${resume} could not be resumed; this is a new one: ${clean(lost)}`);
      print({ acp: 'error', code: 'agent_error', text });
    }
    const cancelTurn = (): void =>
      void connection.agent.notify(methods.agent.session.cancel, { sessionId: id }).catch(() => undefined);
    for (let text = prompt, turns = 1; ; turns += 1) {
      const answering = connection.agent.request(methods.agent.session.prompt, {
        sessionId: id,
        prompt: [{ type: 'text', text }],
      });
      interruption.beginTurn(cancelTurn);
      const answer = await answering;
      // Updates that arrive before the answer are handled before the end.
      await turn();
      const isOpen = answer?.stopReason === 'end_turn' || interruption.hasCancelled();
      const next = isOpen && !signal.aborted && turns < MOST_TURNS ? await interruption.takeNext() : null;
      if (next === null) return { answer, failure: null };
      transcript.flush();
      transcript.endTurn(answer);
      print({ acp: 'notice', text: clean(`next message: ${next}`) });
      text = next;
    }
  };

  const turnOver = holdTurn()
    .catch((error: unknown) => explainFailure(error, talk))
    .finally(interruption.stop);
  const isOver = Promise.race([
    turnOver,
    agent.ended.then((how) => describeBreak(how, talk)),
    agent.broken.then((why) => describeBreak(why, talk)),
  ]);
  const first = await Promise.race([isOver, waitForAbort(signal)]);
  if (first !== null) {
    connection.close();
    return first;
  }
  if (session !== null) {
    const told = connection.agent.notify(methods.agent.session.cancel, { sessionId: session });
    told.catch(() => undefined);
    await settleWithin(CANCEL_MS, isOver);
  }
  connection.close();
  return { answer: null, failure: { code: 'agent_error', text: 'cancelled' }, isCancelled: true };
}

/**
 * Follows requests that the agent read its messages before its turn is over. Such a turn is cancelled once there is a
 * message. A request before the turn, or while messages are being fetched, is handled afterwards.
 */
function followInterruptions(link: KeptLink, session: string | undefined, signal: AbortSignal) {
  let isAsked = false;
  let looking: Promise<string | null> | null = null;
  /** Cancels the turn that is open. */
  let cancelTurn: (() => void) | null = null;
  let isCancelled = false;

  function lookForMessages(): void {
    if (!isAsked || looking !== null || cancelTurn === null) return;
    isAsked = false;
    looking = takeNewMessages(link, signal);
    void looking.then((text) => {
      if (text === null) {
        looking = null;
        lookForMessages();
      } else {
        isCancelled = true;
        cancelTurn?.();
      }
    });
  }

  const { stop } = link.onEvent((event) => {
    if (event.kind !== 'session_interrupted' || event.session_id !== session) return;
    isAsked = true;
    lookForMessages();
  });
  return {
    beginTurn(cancel: () => void): void {
      cancelTurn = cancel;
      lookForMessages();
    },
    hasCancelled: () => isCancelled,
    /** Ends the turn. Returns the agent's next prompt; null for none. */
    async takeNext(): Promise<string | null> {
      cancelTurn = null;
      const told = (await looking) ?? (await takeNewMessages(link, signal));
      looking = null;
      isAsked = false;
      isCancelled = false;
      return told;
    },
    stop,
  };
}

const keepParams = (params: unknown): unknown => params;

/** Explains why the session ended early. If the connection ended, the reason is how the agent ended. */
async function explainFailure(error: unknown, talk: Talk): Promise<Ending> {
  const { agent, transcript, clean } = talk;
  if (error instanceof AcpSessionError) {
    const words = error.code === 'agent_error' ? formatLastWords(talk) : '';
    return { answer: null, failure: { code: error.code, text: clipText(`${clean(error.message)}${words}`) } };
  }
  if (typeof (error as { code?: unknown }).code === 'number') {
    return { answer: null, failure: describeError(error, clean, transcript.limitedUntil()) };
  }
  const how = await settleWithin(CANCEL_MS, Promise.race([agent.broken, agent.ended]));
  return describeBreak(how ?? 'it closed its output', talk);
}

function describeBreak(how: string, talk: Talk): Ending {
  const text = clipText(`the agent broke off: ${talk.clean(how)}${formatLastWords(talk)}`);
  return { answer: null, failure: { code: 'agent_error', text } };
}

function formatLastWords({ agent, clean }: Talk): string {
  const words = clean(agent.lastWords()).split('\n').slice(-5).join(' | ').slice(-250);
  return words === '' ? '' : `; its last output: ${words}`;
}

function waitForAbort(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
