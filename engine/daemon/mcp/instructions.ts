import { randomUUID } from 'node:crypto';
import { renderWords } from '../../core/api/words.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { settleWithin } from '../../core/base/settle-within.ts';
import type { EngineLink } from './link.ts';

/** Time limit for an engine that does not answer, which must not delay a client's start, ms. */
const LONGEST_MS = 5000;

/**
 * Returns the text about svc for the client's model before its first call; for a missing engine, the reason. Since
 * 2026-07-28 a client may read it over another connection, so another session, than the one it then uses.
 */
export async function readInstructions(link: EngineLink, era: 'legacy' | 'modern'): Promise<string> {
  const late = new AbortController();
  const options = { key: randomUUID(), signal: late.signal, onProgress: () => undefined };
  try {
    const answer = await settleWithin(
      LONGEST_MS,
      link.call('seat.instructions', { names_session: era === 'legacy' }, options),
    );
    if (answer !== null) return answer.text;
    throw new SvcError('engine_unreachable', 'the engine does not answer', { hint: 'svc doctor' });
  } catch (thrown) {
    const { message, hint } = asSvcError(thrown);
    const next = hint === undefined ? '' : ` (${renderWords(hint, 'tools')})`;
    return `svc coordinates coding agents in one workspace. Its tools do not work here yet: ${message}${next}.`;
  } finally {
    late.abort();
  }
}
