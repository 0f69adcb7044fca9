import { join } from 'node:path';
import { findRealPath } from '../../../core/base/real-paths.ts';
import type { RunLeft } from '../../agents/presets/index.ts';
import { findPreset } from '../../agents/presets/index.ts';
import type { LocalPlacement } from '../../sessions/index.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { agentFolder, sessionFolder } from './folders.ts';
import type { CollectOrder } from './runner.ts';

/**
 * Finds the agent's own session of a run that ended before it could report its id, by the agent's files; null if none
 * is certain. Never throws.
 */
export async function findAgentSession(
  deps: Pick<LocalRunnerDeps, 'paths' | 'environment' | 'log'>,
  { run: { sessionId }, placement, worker, profile, format, since, resumed }: CollectOrder<LocalPlacement>,
): Promise<string | null> {
  const find = format.preset === null ? undefined : findPreset(format.preset)?.findSession;
  if (find === undefined || placement === null || format.transport === 'acp') return null;
  const { cwd } = placement;
  const isConfined = profile === 'strict';
  const env: RunLeft['env'] = isConfined ? {} : deps.environment({});
  const home = isConfined ? join(agentFolder(deps, sessionId), 'home') : env.HOME;
  if (home === undefined) return null;
  try {
    return await find({
      top: isConfined ? sessionFolder(deps, sessionId) : home,
      home,
      env,
      cwd: findRealPath(cwd) ?? cwd,
      name: worker,
      since,
      continued: resumed,
    });
  } catch (error) {
    deps.log.warn({ session: sessionId, error: String(error) }, "the agent's session was not looked up");
    return null;
  }
}
