import {
  type ClientContext,
  type InitializeResponse,
  type McpServer,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk';
import { settleWithin } from '../../engine/core/base/settle-within.ts';
import { acpHost, type FoundError } from '../../engine/index.ts';
import { findKeyLogin } from './agent-quirks.ts';
import { describeError } from './failure.ts';

export interface OpenedSession {
  id: string;
  agent: { name: string; version: string | null };
  model: string | null;
  /** Why the requested session was not resumed; null when it was resumed, or none was requested. */
  lost: string | null;
}

export interface SessionWish {
  cwd: string;
  mcp: McpServer;
  resume: string | null;
  env: NodeJS.ProcessEnv;
  version: string;
  program: string;
  /** How long it may take to answer, ms. */
  patienceMs: number;
}

/** A failure found on this side, as opposed to one that the agent reported. */
export class AcpSessionError extends Error {
  readonly code: FoundError['code'];
  constructor(text: string, code: FoundError['code'] = 'agent_error') {
    super(text);
    this.code = code;
  }
}

/** Initializes the connection, then opens a session or resumes one. */
export async function openSession(agent: ClientContext, wish: SessionWish): Promise<OpenedSession> {
  const { env, version, program, patienceMs } = wish;
  const hello = await rejectAfter(
    patienceMs,
    'initialize',
    agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      // The agent works in its own process with its own tools, so svc offers no files and terminals.
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'svc', version },
    }),
  );
  if (hello?.protocolVersion !== PROTOCOL_VERSION) {
    const spoken = JSON.stringify(hello?.protocolVersion ?? null);
    throw new AcpSessionError(
      `it speaks version ${spoken} of the agent client protocol, not ${PROTOCOL_VERSION}`,
    );
  }
  const opened = await requestSession(agent, hello, wish).catch(async (error: unknown) => {
    const failure = await readFailure(error);
    if (failure?.code !== 'auth_failed') throw error;
    const offered = (hello.authMethods ?? []).map(({ id }) => id);
    const methodId = findKeyLogin(offered, env);
    if (methodId === undefined) {
      const ways = offered.length === 0 ? '' : `; it offers ${offered.join(', ')}`;
      throw new AcpSessionError(`${failure.text}${ways}`, failure.code);
    }
    await rejectAfter(patienceMs, 'authenticate', agent.request(methods.agent.authenticate, { methodId }));
    return requestSession(agent, hello, wish);
  });
  const { title, name } = hello.agentInfo ?? {};
  return { ...opened, agent: { name: title || name || program, version: hello.agentInfo?.version ?? null } };
}

/** Reads a failure from an agent's error response; null for an error that is not one. */
async function readFailure(error: unknown) {
  if (!(error instanceof RequestError)) return null;
  const { judgeAcpError } = await acpHost();
  return judgeAcpError(describeError(error, (text) => text));
}

async function requestSession(
  agent: ClientContext,
  { agentCapabilities }: InitializeResponse,
  { cwd, mcp, resume, patienceMs }: SessionWish,
): Promise<Omit<OpenedSession, 'agent'>> {
  const { session } = methods.agent;
  const place = { cwd, mcpServers: [mcp] };
  let lost: string | null = null;
  if (resume !== null) {
    const canResume = agentCapabilities?.sessionCapabilities?.resume;
    const method = canResume ? session.resume : agentCapabilities?.loadSession ? session.load : null;
    try {
      if (method === null) throw new AcpSessionError('it cannot resume a session');
      const asked = agent.request(method, { sessionId: resume, ...place });
      const answer = await rejectAfter(patienceMs, method, asked);
      return { id: resume, model: readModel(answer), lost };
    } catch (error) {
      if (!(error instanceof RequestError || error instanceof AcpSessionError)) throw error;
      if ((await readFailure(error))?.code === 'auth_failed') throw error;
      lost = error.message;
    }
  }
  const answer: unknown = await rejectAfter(patienceMs, session.new, agent.request(session.new, place));
  const { sessionId } = (answer ?? {}) as { sessionId?: unknown };
  if (typeof sessionId !== 'string') throw new AcpSessionError('it opened a session without an id');
  return { id: sessionId, model: readModel(answer), lost };
}

/** Not names of models: the choice is made later. */
const LATER = /^(?:default|auto)$/i;

/** Reads the model from the configuration options, which are the stable way, or from the older field. */
function readModel(answer: unknown): string | null {
  const { configOptions, models } = (answer ?? {}) as {
    configOptions?: { category?: string; currentValue?: unknown }[] | null;
    models?: { currentModelId?: unknown; availableModels?: { modelId: unknown; name?: unknown }[] } | null;
  };
  const id = models?.currentModelId;
  const told =
    models?.availableModels?.find(({ modelId }) => modelId === id)?.name ??
    configOptions?.find(({ category }) => category === 'model')?.currentValue ??
    id;
  return typeof told === 'string' && !LATER.test(told) ? told : null;
}

async function rejectAfter<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  const answer = await settleWithin(
    ms,
    promise.then((value) => ({ value })),
  );
  if (answer === null)
    throw new AcpSessionError(`it did not answer ${what} within ${Math.round(ms / 1000)} s`);
  return answer.value;
}
