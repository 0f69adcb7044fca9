import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { renderWords } from '../../core/api/words.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { EngineLink } from './link.ts';

/** Time limit for an engine that does not answer, which must not delay a client's start, ms. */
const LONGEST_MS = 5000;

/** Returns the text about svc for the client's model before its first call; for a missing engine, the reason. */
export async function readInstructions(link: EngineLink): Promise<string> {
  const late = new AbortController();
  const options = { key: randomUUID(), signal: late.signal, onProgress: () => undefined };
  const patience = delay(LONGEST_MS, undefined, { signal: late.signal }).then(() => {
    throw new SvcError('engine_unreachable', 'the engine does not answer', { hint: 'svc doctor' });
  });
  try {
    return (await Promise.race([link.call('seat.instructions', {}, options), patience])).text;
  } catch (thrown) {
    const { message, hint } = asSvcError(thrown);
    const next = hint === undefined ? '' : ` (${renderWords(hint, 'tools')})`;
    return `svc coordinates coding agents in one workspace. Its tools do not work here yet: ${message}${next}.`;
  } finally {
    patience.catch(() => undefined);
    late.abort();
  }
}
