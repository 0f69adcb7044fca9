import { type EngineClient, isDoNotTrackSet } from '../engine/index.ts';
import type { Context } from './command.ts';

/** Explains, as a clause, why no command of this terminal can agree to anything; null if one can. */
export const findTerminalRefusal = ({ env }: Pick<Context, 'env'>): string | null =>
  isDoNotTrackSet(env) ? 'DO_NOT_TRACK is set in this terminal' : null;

/** Records that the person at this terminal has seen what a schema sends. False if the environment refuses that. */
export async function agreeToTelemetry(
  context: Pick<Context, 'env'>,
  client: EngineClient,
  schema: number,
): Promise<boolean> {
  if (findTerminalRefusal(context) !== null) return false;
  await client.call('telemetry.agree', { schema });
  return true;
}
