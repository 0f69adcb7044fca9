import { join } from 'node:path';
import { findPresetOfSession, type StreamFacts } from '../agents/index.ts';
import type { RunLeft } from '../agents/presets/index.ts';
import { realOf } from '../runner/confine/index.ts';
import type { Session } from '../sessions/index.ts';
import { formerOf } from './carry.ts';
import type { DispatchDeps } from './context.ts';
import { agentDir, sessionDir } from './folders.ts';

/** What a run has said, with the id of the agent's own session where the run ended before it could tell. */
export async function withSessionLeft(
  deps: Pick<DispatchDeps, 'agents' | 'approvals' | 'sessions' | 'paths' | 'environment' | 'log'>,
  session: Session,
  facts: StreamFacts,
): Promise<StreamFacts> {
  const { sessionId, cwd, workerId, profile, transport } = session;
  const find = findPresetOfSession(deps, session)?.findSession;
  if (facts.agentSession !== null || find === undefined || cwd === null || transport === 'acp') return facts;
  const isConfined = profile === 'strict';
  const env: RunLeft['env'] = isConfined ? {} : deps.environment({});
  const home = isConfined ? join(agentDir(deps, sessionId), 'home') : env.HOME;
  if (home === undefined) return facts;
  try {
    const agentSession = await find({
      top: isConfined ? sessionDir(deps, sessionId) : home,
      home,
      env,
      cwd: realOf(cwd) ?? cwd,
      name: workerId,
      // Before its first run: what an earlier run of it has begun is as good.
      since: Date.parse(session.createdAt),
      continued: session.agentSession ?? formerOf(deps, session)?.agentSession ?? null,
    });
    return { ...facts, agentSession };
  } catch (error) {
    deps.log.warn({ session: sessionId, error: String(error) }, "the agent's own session was not looked up");
    return facts;
  }
}
